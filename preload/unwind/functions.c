/* SPDX-License-Identifier: MIT */
/* functions.c - a table of homes by loading and symbol: what it has is dropped where it is full. */
#include "preload/unwind/functions.h"

#include <stdlib.h>

#include "preload/base/guarded.h"

enum { ROWS = 4096 /* some 1.5 MiB, as far as used */ };

struct row {
	uint32_t loading, symbol;
	bool is_known; /* homes could be found */
	struct homes homes;
};

static struct row *rows; /* by hash; a newer one takes the place of an older */

static int read_homes(const struct symtab_entry *entry, const struct symbol *symbol,
		      struct homes *homes)
{
	size_t size = symbol->end - symbol->start;
	uint8_t *code;
	int error;

	if (symbol->end <= symbol->start || symbol->end > entry->text_size || size > HOMES_CODE_MAX)
		return -1;
	code = malloc(size);
	if (code == NULL)
		return -1;
	error = guarded_read(entry->text + symbol->start, code, size);
	if (error == 0)
		error = homes_find(code, size, homes);
	free(code);
	return error;
}

const struct homes *functions_homes(const struct symtab_entry *entry, const struct symbol *symbol)
{
	uint64_t hash = ((uint64_t)entry->id << 32 | symbol->id) * UINT64_C(0x9e3779b97f4a7c15);
	struct row *row;
	bool is_cached;

	if (rows == NULL)
		rows = calloc(ROWS, sizeof(*rows));
	if (rows == NULL)
		return NULL;
	row = &rows[hash >> 32 & (ROWS - 1)];
	is_cached = row->loading == entry->id && row->symbol == symbol->id;
	/* an address that was used again: what is in memory now is another's */
	if (entry->died != UINT64_MAX && !is_cached)
		return NULL;
	if (!is_cached) {
		row->loading = entry->id;
		row->symbol = symbol->id;
		row->is_known = read_homes(entry, symbol, &row->homes) == 0;
	}
	return row->is_known ? &row->homes : NULL;
}
