/* SPDX-License-Identifier: MIT */
/* gone.c - groups that became part of others, by the names that samples carry. Threads: ours. */
#include "preload/profile/gone.h"

#include <stdlib.h>

#include "preload/profile/array.h"

static bool row_is(const void *table, uint32_t number, const void *key)
{
	const struct gone *gone = table;

	return gone->rows[number].name == *(const uint32_t *)key;
}

static uint32_t find(const struct gone *gone, uint32_t name)
{
	return lookup_find(&gone->lookup, lookup_hash(&name, sizeof(name)), row_is, gone, &name);
}

bool gone_was_anothers(const struct gone *gone, uint32_t name, uint32_t identity,
		       uint32_t label_text)
{
	uint32_t number = find(gone, name);
	const struct gone_row *row;

	if (number == LOOKUP_NONE)
		return false;
	row = &gone->rows[number];
	return row->identity != identity || row->label_text != label_text;
}

void gone_add(struct gone *gone, const struct gone_row *row)
{
	uint32_t number = find(gone, row->name);
	struct gone_row *rows;

	if (number != LOOKUP_NONE) {
		gone->rows[number] = *row;
		return;
	}
	if (gone->count >= GONE_MAX)
		return;
	rows = array_room(gone->rows, &gone->capacity, gone->count, sizeof(*rows));
	if (rows == NULL)
		return;
	gone->rows = rows;
	if (lookup_add(&gone->lookup, lookup_hash(&row->name, sizeof(row->name)),
		       (uint32_t)gone->count) == 0)
		rows[gone->count++] = *row;
}

size_t gone_fill(struct gone *gone, size_t known, struct chunk_group *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < gone->count; i++) {
		struct gone_row *row = &gone->rows[i];

		if (row->is_told || row->name >= known || row->identity >= known ||
		    row->into >= known)
			continue;
		row->is_told = true;
		rows[count++] = (struct chunk_group){
			.module = row->name,
			.identity = row->identity,
			.into = row->into,
		};
	}
	return count;
}

void gone_clear(struct gone *gone)
{
	gone->count = 0;
	lookup_clear(&gone->lookup);
}

void gone_free(struct gone *gone)
{
	free(gone->rows);
	lookup_free(&gone->lookup);
	*gone = (struct gone){ 0 };
}
