/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the sample rows of the next chunk: one per stack, label and thread, with summed weights.
 */
#ifndef PRELOAD_PROFILE_ROWS_H
#define PRELOAD_PROFILE_ROWS_H

#include "preload/profile/lookup.h"
#include "symtab/base.h"

struct row_key {
	uint64_t thread_id;
	uint32_t stack, module, instance, thread_name; /* a node; texts */
	uint32_t state;				       /* enum wasm_state */
	uint32_t is_truncated;			       /* bool */
	uint32_t descriptor;			       /* what a wait is for, and 1; 0: none */
	uint32_t group;				       /* number; two may have one name */
};

struct row_weight {
	uint64_t count, cpu_ns, wall_ns; /* samples and their CPU time; or time of a wait */
};

struct row {
	struct row_key key;
	struct row_weight weight;
	uint64_t first_ns; /* time of the first sample */
};

struct rows {
	struct row *rows;
	size_t count, capacity, limit;
	struct lookup lookup;
};

/* MEMORY bounds the rows, in bytes, about. */
void rows_init(struct rows *rows, uint64_t memory);
void rows_fini(struct rows *rows);

/* Adds WEIGHT to KEY's row. -ENOMEM beyond the bound. */
int rows_add(struct rows *rows, const struct row_key *key, struct row_weight weight,
	     uint64_t time_ns);

void rows_clear(struct rows *rows);

#endif /* PRELOAD_PROFILE_ROWS_H */
