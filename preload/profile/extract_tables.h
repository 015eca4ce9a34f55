/* SPDX-License-Identifier: MIT */
/*
 * extract_tables.h - the tables of an extract: what is needed of the profile's, numbered anew.
 */
#ifndef PRELOAD_PROFILE_EXTRACT_TABLES_H
#define PRELOAD_PROFILE_EXTRACT_TABLES_H

#include "preload/profile/extract.h"
#include "preload/profile/labels.h"
#include "preload/profile/tables.h"

struct group_sum {
	struct chunk_group row; /* of the extract, its strings still those of the profile */
	struct chunk_label labels[LABELS_MAX];
	bool is_needed;
};

struct extract_memory {
	uint32_t *texts, *functions, *locations, *mappings; /* maps; ids from 1, texts from 0 */
	struct group_sum *groups;			    /* by number */
	const char **strings;
	struct chunk_mapping *mapping_rows;
	struct chunk_function *function_rows;
	struct chunk_location *location_rows;
	struct chunk_sample *samples;
	uint64_t *stacks;
	struct chunk_group *group_rows;
	struct chunk_life *lives;
	struct chunk_hostcall *hostcalls;
	struct chunk_interval *intervals; /* names borrowed */
};

/*
 * The maps go from an id of the profile to one of the extract; while marking, any number but 0
 * means "needed".
 */
enum { EXTRACT_NEEDED = 1 };

/* From marked locations to functions and mappings, and from all of them to texts. */
void extract_mark_tables(const struct tables *tables, struct extract_memory *memory);

/*
 * Numbers from 1 on for what is marked among COUNT entries, in their order; entry 0 is none.
 * Returns the next free one.
 */
uint32_t extract_number(uint32_t *map, size_t count);

/* Copies what has a number into EXTRACT's chunk. IS_LEAN: as in the wish. 0 or -ENOMEM. */
int extract_copy_tables(const struct tables *tables, bool is_lean, struct extract *extract);

#endif /* PRELOAD_PROFILE_EXTRACT_TABLES_H */
