/* SPDX-License-Identifier: MIT */
/*
 * gone.h - groups that became part of others (shed.h), though samples of this recording carry their
 * names.
 *
 * Readers are told of each once, and its name is given to nobody else until the next recording.
 * Bounded: of more than GONE_MAX it is not known any more which names they were. Zeroed memory is
 * an empty table. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_GONE_H
#define PRELOAD_PROFILE_GONE_H

#include "preload/profile/chunk.h"
#include "preload/profile/lookup.h"
#include "symtab/base.h"

enum { GONE_MAX = 1 << 16 };

struct gone_row {
	uint32_t name, identity, label_text; /* texts, as in struct group */
	uint32_t into;			     /* text: the name of the group that has its counts */
	bool is_told;
};

struct gone {
	struct gone_row *rows;
	size_t count, capacity;
	struct lookup lookup; /* by name */
};

/* Remembers ROW, in place of an earlier one of that name. Without memory it is not told. */
void gone_add(struct gone *gone, const struct gone_row *row);

/* Did samples of this recording carry NAME for another than (IDENTITY, LABEL_TEXT)? */
bool gone_was_anothers(const struct gone *gone, uint32_t name, uint32_t identity,
		       uint32_t label_text);

/*
 * Puts those that were not told into ROWS, which has room for all. Only with texts below KNOWN.
 * Returns how many.
 */
size_t gone_fill(struct gone *gone, size_t known, struct chunk_group *rows);

/* Forgets all: another recording begins. */
void gone_clear(struct gone *gone);
void gone_free(struct gone *gone);

#endif /* PRELOAD_PROFILE_GONE_H */
