/* SPDX-License-Identifier: MIT */
/*
 * members.h - which instances of a group have rows of their own, under a name.
 *
 * A platform starts thousands of instances a second, each with a tenth of a sample: one gets a name
 * (`resize.wasm#3`) from its 10th sample on, while there are names to give; the others share
 * `resize.wasm#*`. A second loading's instances are `resize.wasm#2.3`. Bounded: instances that are
 * gone are forgotten, then the longest known; the group's counters keep what they did.
 */
#ifndef PRELOAD_PROFILE_MEMBERS_H
#define PRELOAD_PROFILE_MEMBERS_H

#include "preload/base/config.h"
#include "preload/load/instance.h"
#include "preload/profile/groups.h"
#include "preload/profile/lives.h"
#include "preload/profile/lookup.h"
#include "symtab/base.h"

enum { MEMBER_NAMED_AT = 10, MEMBERS_NAMED_MAX = 512 };

struct member {
	uint64_t samples;
	uint32_t id, group; /* of the instance */
	uint32_t name;	    /* text; 0: it has none */
	uint32_t recording; /* in which it was counted as sampled last */
};

struct members {
	struct groups *groups;
	struct lives lives; /* of those that got a name */
	enum instances mode;
	struct member *rows;
	size_t count, capacity, limit;
	size_t named_count; /* with a name, but in mode INSTANCES_ALL */
	uint32_t recording; /* number of the current one, from 1 */
	struct lookup lookup;
};

/* MEMORY bounds the table, in bytes, about. GROUPS must live on. */
void members_init(struct members *members, struct groups *groups, enum instances mode,
		  uint64_t memory);
void members_fini(struct members *members);

/*
 * Counts a sample of instance INFO of LOADING. Returns the text of its label, 0 for none.
 */
uint32_t members_count(struct members *members, const struct instance_info *info,
		       const struct group_loading *loading);

/* Takes the names from all instances of GROUP, which is about to go. */
void members_unname(struct members *members, struct group *group);

/* Another recording begins: its instances are counted anew, names stay. */
void members_restart(struct members *members);

#endif /* PRELOAD_PROFILE_MEMBERS_H */
