/* SPDX-License-Identifier: MIT */
/*
 * profile_private.h - what profile.c and waits.c share. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_PROFILE_PRIVATE_H
#define PRELOAD_PROFILE_PROFILE_PRIVATE_H

#include "preload/profile/bygone.h"
#include "preload/profile/calls.h"
#include "preload/profile/groups.h"
#include "preload/profile/history.h"
#include "preload/profile/keep.h"
#include "preload/profile/members.h"
#include "preload/profile/profile.h"
#include "preload/profile/resolve.h"
#include "preload/profile/rows.h"
#include "preload/profile/stacks.h"
#include "preload/profile/tables.h"
#include "preload/profile/waits.h"

/* How many rows of each table earlier chunks have carried. */
struct reported {
	size_t strings, mappings, functions, locations;
};

struct profile {
	struct profile_options options;
	struct tables tables;
	struct stack_tree stacks;
	struct groups groups;
	struct members members;
	struct rows rows;
	struct resolved resolved;
	struct kept kept; /* of the sample at hand, as resolved */
	struct waits waits;
	struct calls calls;
	struct history history;
	struct bygone bygone; /* empty where there is no history */
	struct reported reported;
	struct profile_totals totals; /* lost is counted elsewhere */

	/* The chunk that was handed out last, and its memory. */
	struct chunk chunk;
	struct chunk_sample *samples;
	struct chunk_group *chunk_groups;
	uint64_t *sample_locations;
	size_t sample_capacity, group_capacity, location_capacity;
};

/* Resolves SAMPLE into resolved and kept. False, and counted, when there is nothing to count. */
bool profile_understand(struct profile *self, const struct sample *sample);

/* The row of what was understood last; *GROUP: for which it counts. */
struct row_key profile_row_key(struct profile *self, const struct sample *sample, uint64_t tid,
			       const char *thread_name, uint32_t *group);

/* Adds WEIGHT to KEY's row, before it is counted for GROUP. 0 or -ENOMEM. */
int profile_add_row(struct profile *self, const struct row_key *key, uint32_t group,
		    struct row_weight weight, uint64_t time_ns);

/* Counts N: for the process, or for the profile where it has counters of its own. */
void profile_count(const struct profile *self, enum stat_id which, uint64_t n);

/* Says once when the bounds are reached. */
void profile_warn_of_bounds(const struct profile *self);

#endif /* PRELOAD_PROFILE_PROFILE_PRIVATE_H */
