/* SPDX-License-Identifier: MIT */
/*
 * audit_profile.h - inside of audit.h: a profile's tables, as far as its checks need them.
 *
 * audit_pprof.c walks every field and knows of form only: is it on the list, has it the right type,
 * is each row used, each number in sequence. audit_profile.c knows what rows mean.
 */
#ifndef PRELOAD_SHARE_AUDIT_PROFILE_H
#define PRELOAD_SHARE_AUDIT_PROFILE_H

#include "preload/encode/pb.h"
#include "preload/profile/chunk.h"
#include "preload/read/arena.h"
#include "preload/share/audit.h"

enum profile_table { TABLE_NONE, TABLE_MAPPING, TABLE_LOCATION, TABLE_FUNCTION, TABLE_COUNT };

struct profile_rows {
	struct pb_field *list; /* messages, in the order of the file */
	size_t count;
	uint8_t *is_used; /* by id - 1 */
};

struct profile {
	struct audit *audit;
	struct arena arena;
	const char **strings;
	size_t string_count;
	uint8_t *is_string_used;
	uint64_t next_string; /* the first one that was not used so far */
	bool is_export;	      /* for other tools (pprof.h): without what only recordings have */
	bool is_disordered;   /* strings are not in the order of their use, which was told */
	struct profile_rows tables[TABLE_COUNT];
	struct pb_field *samples, *groups;
	size_t sample_count, group_count;
	struct pb_field info, stats;
	uint64_t duration_ns;
};

/* The single value of field NUMBER of MESSAGE; 0 when it is not there. */
uint64_t profile_number(const struct pb_field *message, uint32_t number);
/* The string whose index that is; "" when there is none. */
const char *profile_string(const struct profile *profile, const struct pb_field *message,
			   uint32_t number);
/* The parts of MESSAGE; none of one that is not in the file. */
static inline struct pb_reader profile_parts(const struct pb_field *message)
{
	struct pb_reader parts = { 0 };

	if (message->bytes != NULL) {
		parts.at = message->bytes;
		parts.end = message->bytes + message->size;
	}
	return parts;
}

/* Whose row ID of TABLE is; NULL: there is none. */
const struct pb_field *profile_row(const struct profile *profile, enum profile_table table,
				   uint64_t id);

/* What rows mean. 0 or -ENOMEM. */
int audit_profile(struct profile *profile);
int audit_profile_samples(struct profile *profile);

#endif /* PRELOAD_SHARE_AUDIT_PROFILE_H */
