/* SPDX-License-Identifier: MIT */
/* rows.c - the sample rows of the next chunk. Threads: ours. */
#include "preload/profile/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/array.h"

enum { ROW_COST = 160 }; /* a row and its slot, and its sample in the chunk */

static bool row_is(const void *table, uint32_t number, const void *key)
{
	const struct rows *rows = table;

	return memcmp(&rows->rows[number].key, key, sizeof(struct row_key)) == 0;
}

static int append(struct rows *rows, const struct row *row, uint64_t hash)
{
	struct row *more;

	if (rows->count >= rows->limit)
		return -ENOMEM;
	more = array_room(rows->rows, &rows->capacity, rows->count, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	rows->rows = more;
	if (lookup_add(&rows->lookup, hash, (uint32_t)rows->count) != 0)
		return -ENOMEM;
	more[rows->count++] = *row;
	return 0;
}

int rows_add(struct rows *rows, const struct row_key *key, struct row_weight weight,
	     uint64_t time_ns)
{
	uint64_t hash = lookup_hash(key, sizeof(*key));
	uint32_t number = lookup_find(&rows->lookup, hash, row_is, rows, key);
	struct row row = { .key = *key, .weight = weight, .first_ns = time_ns };

	if (number == LOOKUP_NONE)
		return append(rows, &row, hash);
	rows->rows[number].weight.count += weight.count;
	rows->rows[number].weight.cpu_ns += weight.cpu_ns;
	rows->rows[number].weight.wall_ns += weight.wall_ns;
	/* Rings are drained one after another, so a later sample may be an earlier one. */
	if (time_ns < rows->rows[number].first_ns)
		rows->rows[number].first_ns = time_ns;
	return 0;
}

void rows_init(struct rows *rows, uint64_t memory)
{
	*rows = (struct rows){ .limit = memory / ROW_COST + 1 };
}

void rows_clear(struct rows *rows)
{
	rows->count = 0;
	lookup_clear(&rows->lookup);
}

void rows_fini(struct rows *rows)
{
	free(rows->rows);
	lookup_free(&rows->lookup);
	*rows = (struct rows){ 0 };
}
