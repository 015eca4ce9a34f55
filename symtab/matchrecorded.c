/* SPDX-License-Identifier: MIT */
/*
 * matchrecorded.c - is this wasm file what a recording was made of?
 *
 * A recording knows the functions and positions that were sampled, and where no wasm bytes were
 * seen the extents of all functions (layout.h). Both become one list of functions.
 */
#include "symtab/layout.h"
#include "symtab/matchpair.h"

#include <stdlib.h>

struct place {
	uint32_t core, function;
	const char *name;
	bool has_extent;
	uint64_t low, high;
};

/* Sorted by core and function. */
struct places {
	struct place *rows;
	size_t count;
	bool is_whole;		    /* all functions are there */
	uint32_t defined_functions; /* of the only core module; UINT32_MAX: unknown, or several */
};

static void identify_recorded(const void *what, uint32_t core, struct identity *identity)
{
	(void)what, (void)core;
	*identity = (struct identity){ 0 };
}

/* Adds PLACE to what is known of its function. */
static void add_place(struct match_fact *fact, const struct place *place)
{
	if (place->name != NULL && *place->name != '\0') {
		fact->form = FORM_SHOWN;
		fact->name = place->name;
		fact->name_length = strlen(place->name);
	}
	if (!place->has_extent)
		return;
	if (!fact->has_extent || place->low < fact->low)
		fact->low = place->low;
	if (!fact->has_extent || place->high > fact->high)
		fact->high = place->high;
	fact->has_extent = true;
}

/* Number of the first place in CORE or behind it. */
static size_t first_of(const struct places *places, uint32_t core)
{
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->rows[middle].core < core)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t compare_recorded(const void *what, uint32_t core, struct matchcore *match)
{
	const struct places *places = what;
	size_t i = first_of(places, core);
	uint32_t count = 0;

	for (; i < places->count && places->rows[i].core == core; count++) {
		struct match_fact fact = { .function = places->rows[i].function };

		for (; i < places->count && places->rows[i].core == core &&
		       places->rows[i].function == fact.function;
		     i++)
			add_place(&fact, &places->rows[i]);
		matchcore_add(match, &fact);
	}
	return places->is_whole ? count : places->defined_functions;
}

static int by_function(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static size_t count_layout(const struct match_recorded *recorded)
{
	struct layout layout = layout_of(recorded->layout, recorded->layout_size);
	struct layout_entry entry;
	size_t count = 0;

	while (layout_next(&layout, &entry))
		count++;
	return count;
}

static void add_layout(struct places *places, const struct match_recorded *recorded)
{
	struct layout layout = layout_of(recorded->layout, recorded->layout_size);
	struct layout_entry entry;

	for (; layout_next(&layout, &entry); places->is_whole = true)
		places->rows[places->count++] = (struct place){ .core = entry.core,
								.function = entry.function,
								.has_extent = entry.has_extent,
								.low = entry.low,
								.high = entry.high };
}

static int collect(struct places *places, const struct match_recorded *recorded)
{
	size_t i;

	places->rows =
		calloc(recorded->place_count + count_layout(recorded) + 1, sizeof(*places->rows));
	if (places->rows == NULL)
		return -1;
	add_layout(places, recorded);
	for (i = 0; i < recorded->place_count; i++) {
		const struct match_place *place = &recorded->places[i];

		places->rows[places->count++] =
			(struct place){ .core = place->core,
					.function = place->function,
					.name = place->name,
					.has_extent = place->position != UINT64_MAX,
					.low = place->position,
					.high = place->position };
	}
	qsort(places->rows, places->count, sizeof(*places->rows), by_function);
	return 0;
}

/* How many core modules what ran has, as far as its places tell. */
static uint32_t core_count(const struct wasmbin *file, const struct places *places)
{
	uint32_t count = places->count > 0 ? places->rows[places->count - 1].core : 0;

	count += count < UINT32_MAX;
	/* core modules that were never sampled are not known of */
	return !places->is_whole && count < file->core_count ? file->core_count : count;
}

void match_recorded(const struct wasmbin *file, const struct match_recorded *recorded,
		    struct match *match)
{
	struct places places = { .defined_functions = recorded->identity.defined_functions };
	struct match_other what = { .what = &places,
				    .identity = recorded->identity,
				    .identify = identify_recorded,
				    .compare = compare_recorded };

	if (collect(&places, recorded) < 0) {
		*match = (struct match){ .why = "out of memory" };
		return;
	}
	what.core_count = core_count(file, &places);
	what.is_whole = places.is_whole;
	if (places.defined_functions == 0 || what.core_count > 1)
		places.defined_functions = UINT32_MAX;
	matchpair_run(file, &what, match);
	free(places.rows);
}
