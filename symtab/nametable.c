/* SPDX-License-Identifier: MIT */
/*
 * nametable.c - full function names of an image, found without knowing the engine's version.
 *
 * Small or repeated numbers look like a table now and then, so the search goes back to an earlier
 * choice when a chain of tables comes to a dead end. Its work is bounded by a budget.
 */
#include "symtab/nametable.h"

#include "symtab/cursor.h"

#include <errno.h>
#include <stdlib.h>

enum {
	MAX_TABLES = 4096,
	WORK_PER_BYTE = 24, /* of .wasmtime.info; about 2 is what good images need */
	FREE_WORK = 100000,
};

/* The symbols of one core module: known[first .. first + count), ascending by function. */
struct core {
	uint32_t number, first, count;
	bool has_names;
};

/* A table taken for good until the search has to go back behind it. */
struct choice {
	size_t at;     /* in .wasmtime.info */
	uint32_t slot; /* in cores */
	uint32_t base; /* where its names begin */
};

struct search {
	struct cursor info;
	struct blob names;
	const char *strings;  /* .strtab */
	bool names_are_known; /* symbols carry names: tables must agree with them */
	bool is_component;
	const struct symbol_record **known;
	struct core *cores;
	uint32_t core_count;
	/*
	 * Where only the shape tells: dead[base] is one more than the lowest place from which no
	 * chain was found for names from base on; 0 where none was tried. NULL with symbols.
	 */
	uint32_t *dead;
	uint64_t work; /* left */
	struct choice choices[MAX_TABLES];
	uint32_t depth;
};

/* Counts one step of work; false when the budget is used up. */
static bool work(struct search *search)
{
	if (search->work == 0)
		return false;
	search->work--;
	return true;
}

struct entry {
	uint32_t function, offset, length;
};

static struct entry read_entry(struct cursor *cursor)
{
	struct entry entry;

	entry.function = cursor_uleb32(cursor);
	entry.offset = cursor_uleb32(cursor);
	entry.length = cursor_uleb32(cursor);
	return entry;
}

/*
 * Reads the table at AT, whose names must begin at BASE. Returns the number of its entries, 0 when
 * there is no table, and sets *END (in .wasmtime.info) and *RUN (in .name.wasm) behind it.
 */
static uint32_t read_table(struct search *search, size_t at, uint32_t base, size_t *end,
			   uint32_t *run)
{
	struct cursor cursor = search->info;
	uint32_t count, i, before = 0;

	cursor.at = at;
	count = cursor_uleb32(&cursor);
	if (count == 0 || count > cursor_left(&cursor) / 3)
		return 0;
	*run = base;
	for (i = 0; i < count && work(search); i++) {
		struct entry entry = read_entry(&cursor);

		if (cursor.failed || entry.offset != *run || (i > 0 && entry.function <= before) ||
		    entry.length > search->names.size - *run)
			return 0;
		before = entry.function;
		*run += entry.length;
	}
	*end = cursor.at;
	return i == count ? count : 0;
}

/* Whether SYMBOL of the image and its table agree: NAME is NULL when the table has none for it. */
static bool agrees(const struct search *search, const struct symbol_record *known,
		   const struct entry *name)
{
	if (known->name.offset == SYMBOLS_NO_NAME)
		return name == NULL;
	return name != NULL &&
	       symbols_cleaned(search->names.bytes + name->offset, name->length,
			       search->strings + known->name.offset, known->name.length);
}

/* Whether the table of COUNT entries at AT names the functions of CORE. */
static bool table_is_of(struct search *search, size_t at, const struct core *core)
{
	const struct symbol_record **known = search->known + core->first;
	const struct symbol_record **end = known + core->count;
	struct cursor cursor = search->info;
	uint32_t count;

	cursor.at = at;
	for (count = cursor_uleb32(&cursor); count > 0 && work(search); count--) {
		struct entry entry = read_entry(&cursor);

		for (; known < end && (*known)->symbol.function < entry.function; known++)
			if (!work(search) || !agrees(search, *known, NULL))
				return false;
		if (known < end && (*known)->symbol.function == entry.function &&
		    !agrees(search, *known++, &entry))
			return false;
	}
	for (; known < end; known++)
		if (!work(search) || !agrees(search, *known, NULL))
			return false;
	return count == 0;
}

/*
 * The slot, from FROM on, of the core module that the table at AT names; core_count when none. A
 * core module whose symbols have names cannot be passed over: they come from a table.
 */
static uint32_t find_slot(struct search *search, size_t at, uint32_t from)
{
	uint32_t slot;

	if (!search->names_are_known)
		return from;
	for (slot = from; slot < search->core_count; slot++) {
		if (!search->cores[slot].has_names)
			continue;
		if (table_is_of(search, at, &search->cores[slot]))
			return slot;
		break;
	}
	return search->core_count;
}

/* Whether no core module from slot FROM on still misses a table. */
static bool is_complete(const struct search *search, uint32_t from)
{
	uint32_t slot;

	for (slot = from; slot < search->core_count; slot++)
		if (search->cores[slot].has_names)
			return false;
	return true;
}

/* Finds the first table from AT on that begins at BASE and names a core module from SLOT on. */
static bool next_table(struct search *search, struct choice *choice, size_t *end, uint32_t *run)
{
	uint32_t from = choice->slot;

	if (from >= search->core_count)
		return false;
	for (; choice->at < search->info.size && work(search); choice->at++) {
		if (read_table(search, choice->at, choice->base, end, run) == 0)
			continue;
		/* a core module's names are all of them, or it is one of a component's */
		if (!search->is_component && *run != search->names.size)
			continue;
		if (search->dead != NULL && search->dead[*run] != 0 &&
		    *end + 1 >= search->dead[*run])
			continue;
		choice->slot = find_slot(search, choice->at, from);
		if (choice->slot < search->core_count)
			return true;
	}
	choice->slot = from;
	return false;
}

/* Goes back to the last choice, to look on behind it. */
static bool go_back(struct search *search, struct choice *next, size_t tried_from)
{
	if (search->dead != NULL)
		search->dead[next->base] = (uint32_t)tried_from + 1;
	if (search->depth == 0)
		return false;
	*next = search->choices[--search->depth];
	next->slot = search->depth > 0 ? search->choices[search->depth - 1].slot + 1 : 0;
	next->at++;
	return true;
}

/* Fills search->choices with a chain that takes all of .name.wasm. Returns whether there is one. */
static bool find_chain(struct search *search)
{
	struct choice next = { 0 };

	for (;;) {
		uint32_t run = 0;
		size_t end = 0, from = next.at;

		if (search->depth == MAX_TABLES || !next_table(search, &next, &end, &run)) {
			if (!go_back(search, &next, from))
				return false;
			continue;
		}
		search->choices[search->depth++] = next;
		if (run == search->names.size && is_complete(search, next.slot + 1))
			return true;
		next = (struct choice){ .at = end, .slot = next.slot + 1, .base = run };
	}
}

static int by_function(const void *left, const void *right)
{
	const struct symbol *a = &(*(const struct symbol_record *const *)left)->symbol;
	const struct symbol *b = &(*(const struct symbol_record *const *)right)->symbol;

	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* Lists the guest functions by core module and function. */
static int list_known(struct search *search, const struct symbols *symbols, uint32_t *count)
{
	bool sorted = true;
	uint32_t i;

	*count = 0;
	search->known = calloc(symbols->count + 1, sizeof(*search->known));
	if (search->known == NULL)
		return -ENOMEM;
	for (i = 0; i < symbols->count; i++) {
		if (symbols->records[i].symbol.kind != SYMBOL_GUEST)
			continue;
		search->known[*count] = &symbols->records[i];
		sorted = sorted && (*count == 0 || by_function(&search->known[*count - 1],
							       &search->known[*count]) <= 0);
		++*count;
	}
	if (!sorted)
		qsort(search->known, *count, sizeof(*search->known), by_function);
	return 0;
}

/* Without symbols nothing says which core modules there are: numbers from 0. */
static int list_unknown_cores(struct search *search)
{
	uint32_t i;

	search->core_count = search->is_component ? MAX_TABLES : 1;
	search->cores = calloc(search->core_count, sizeof(*search->cores));
	search->dead = calloc(search->names.size + 1, sizeof(*search->dead));
	if (search->cores == NULL || search->dead == NULL)
		return -ENOMEM;
	for (i = 0; i < search->core_count; i++)
		search->cores[i].number = i;
	return 0;
}

static int list_cores(struct search *search, const struct symbols *symbols)
{
	uint32_t count, i;
	int error = list_known(search, symbols, &count);

	if (error < 0 || count == 0)
		return error < 0 ? error : list_unknown_cores(search);
	search->cores = calloc(count, sizeof(*search->cores));
	if (search->cores == NULL)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct symbol_record *known = search->known[i];
		struct core *core = search->cores + search->core_count;

		if (i == 0 || known->symbol.core != search->known[i - 1]->symbol.core) {
			*core = (struct core){ .number = known->symbol.core, .first = i };
			search->core_count++;
		}
		core = search->cores + search->core_count - 1;
		core->count++;
		core->has_names |= search->names_are_known && known->name.length > 0;
	}
	return 0;
}

static int take_chain(struct search *search, struct nametable *table)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < search->depth; i++) {
		struct cursor cursor = search->info;

		cursor.at = search->choices[i].at;
		count += cursor_uleb32(&cursor);
	}
	table->entries = calloc(count, sizeof(*table->entries));
	if (table->entries == NULL)
		return -ENOMEM;
	for (i = 0; i < search->depth; i++) {
		struct cursor cursor = search->info;
		uint32_t left;

		cursor.at = search->choices[i].at;
		for (left = cursor_uleb32(&cursor); left > 0; left--) {
			struct entry entry = read_entry(&cursor);

			table->entries[table->count++] = (struct nametable_entry){
				.core = search->cores[search->choices[i].slot].number,
				.function = entry.function,
				.name = { .offset = entry.offset, .length = entry.length },
			};
		}
	}
	return 0;
}

int nametable_read(const struct image_tables *tables, const struct symbols *symbols,
		   bool is_component, struct nametable *table)
{
	struct search *search;
	int error;

	*table = (struct nametable){ 0 };
	if (tables->names.size == 0 || tables->info.size == 0 || tables->names.size >= UINT32_MAX ||
	    tables->info.size >= UINT32_MAX)
		return 0;
	search = calloc(1, sizeof(*search));
	if (search == NULL)
		return -ENOMEM;
	search->info = cursor_of(tables->info.bytes, tables->info.size);
	search->names = tables->names;
	search->strings = (const char *)tables->strtab.bytes;
	search->names_are_known = symbols->have_names;
	search->is_component = is_component;
	search->work = FREE_WORK + WORK_PER_BYTE * (uint64_t)tables->info.size;
	error = list_cores(search, symbols);
	if (error == 0 && find_chain(search))
		error = take_chain(search, table);
	free(search->known);
	free(search->cores);
	free(search->dead);
	free(search);
	return error;
}

void nametable_free(struct nametable *table)
{
	free(table->entries);
	*table = (struct nametable){ 0 };
}

const struct nametable_entry *nametable_find(const struct nametable *table, uint32_t core,
					     uint32_t function)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct nametable_entry *entry = &table->entries[middle];

		if (entry->core == core && entry->function == function)
			return entry;
		if (entry->core < core || (entry->core == core && entry->function < function))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
