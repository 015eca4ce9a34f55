/* SPDX-License-Identifier: MIT */
/* units.c - finds units and functions by address, through libdw. Threads: one at a time. */
#include "preload/lines/units.h"

#include "preload/lines/array.h"
#include "preload/lines/linetable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

enum {
	DEPTH_MAX = 64, /* of entries in entries, where functions are looked for */
	UNITS_MAX = 1 << 20,
	ENTRIES_MAX = 20000000, /* looked at in one unit */
	SIZE_FIELD_MAX =
		5, /* bytes of a body's size before it: some tools let a function begin there */
};

struct unit_function {
	uint64_t low, high;
	Dwarf_Off entry;
};

/* Code that a unit claims. */
struct range {
	uint64_t low, high;
	uint32_t unit;
};

struct units {
	Dwarf *dwarf;
	uint64_t code_size, info_size;
	struct unit *list;
	struct range *ranges; /* by low */
	size_t count, room, range_count, range_room;
	bool is_damaged; /* not all units could be read */
};

/* Dropped code is at 0, where no code is, or beyond all code (lld: -1 and -2). */
static bool is_live(const struct units *units, uint64_t low, uint64_t high)
{
	return low != 0 && low < high && high <= units->code_size;
}

/* ---- units ------------------------------------------------------------------------------------
 */

static int add_range(struct units *units, uint64_t low, uint64_t high, uint32_t unit)
{
	int error = array_reserve(&units->ranges, &units->range_room, units->range_count,
				  sizeof(*units->ranges));

	if (error == 0)
		units->ranges[units->range_count++] = (struct range){ low, high, unit };
	return error;
}

static int add_ranges(struct units *units, Dwarf_Die *entry, uint32_t unit)
{
	Dwarf_Addr base, low, high;
	size_t before = units->range_count;
	ptrdiff_t at = 0;
	int error = 0;

	while (error == 0 && (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0) {
		if (is_live(units, low, high))
			error = add_range(units, low, high, unit);
	}
	/* A unit that does not say where it is may be anywhere. */
	if (error == 0 && units->range_count == before && !dwarf_hasattr(entry, DW_AT_low_pc) &&
	    !dwarf_hasattr(entry, DW_AT_ranges))
		error = add_range(units, 1, units->code_size, unit);
	return error;
}

static int add_unit(struct units *units, Dwarf_Die *entry)
{
	int tag = dwarf_tag(entry);
	int error;

	if (tag == DW_TAG_invalid)
		units->is_damaged = true;
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	if (units->count == UNITS_MAX)
		return -EBADMSG;
	error = array_reserve(&units->list, &units->room, units->count, sizeof(*units->list));
	if (error != 0)
		return error;
	units->list[units->count] = (struct unit){ .entry = dwarf_dieoffset(entry) };
	return add_ranges(units, entry, (uint32_t)units->count++);
}

static int read_units(struct units *units)
{
	Dwarf_Off at = 0, next;
	size_t header_size;
	int result = 0, error = 0;

	while (error == 0 && (result = dwarf_nextcu(units->dwarf, at, &next, &header_size, NULL,
						    NULL, NULL)) == 0) {
		Dwarf_Die entry;

		if (dwarf_offdie(units->dwarf, at + header_size, &entry) != NULL)
			error = add_unit(units, &entry);
		else
			units->is_damaged = true;
		at = next;
	}
	/* a length that cannot be is the end to libdw; after the last unit it gives -1 or the end
	 */
	if (result < 0 || (error == 0 && at < units->info_size))
		units->is_damaged = true;
	return error;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return left->unit < right->unit ? -1 : left->unit > right->unit;
}

struct units *units_new(Dwarf *dwarf, uint64_t info_size, uint64_t code_size)
{
	struct units *units = calloc(1, sizeof(*units));
	int error;

	if (units == NULL)
		return NULL;
	units->dwarf = dwarf;
	units->info_size = info_size;
	units->code_size = code_size;
	error = read_units(units);
	if (error == -EBADMSG)
		units->is_damaged = true;
	if (error == -ENOMEM) {
		units_free(units);
		errno = ENOMEM;
		return NULL;
	}
	if (units->range_count != 0)
		qsort(units->ranges, units->range_count, sizeof(*units->ranges), compare_ranges);
	return units;
}

void units_free(struct units *units)
{
	if (units == NULL)
		return;
	for (size_t i = 0; i < units->count; i++) {
		free(units->list[i].functions);
		linetable_free(units->list[i].table);
	}
	free(units->list);
	free(units->ranges);
	free(units);
}

/* ---- functions of a unit ----------------------------------------------------------------------
 */

struct listing {
	const struct units *units;
	struct unit *unit;
	uint32_t left; /* entries that may still be looked at */
};

static int add_function(struct listing *listing, Dwarf_Die *entry)
{
	struct unit *unit = listing->unit;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	int error = 0;

	while (error == 0 && (at = dwarf_ranges(entry, at, &base, &low, &high)) > 0) {
		if (!is_live(listing->units, low, high))
			continue;
		error = array_reserve(&unit->functions, &unit->function_room, unit->function_count,
				      sizeof(*unit->functions));
		if (error == 0)
			unit->functions[unit->function_count++] =
				(struct unit_function){ low, high, dwarf_dieoffset(entry) };
	}
	return error;
}

/* Whether functions may be defined inside an entry of TAG. */
static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	}
	return false;
}

static int list_inside(struct listing *listing, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die entry;
	int result = dwarf_child(parent, &entry), error = 0;

	while (result == 0 && error == 0) {
		int tag = dwarf_tag(&entry);

		if (listing->left-- == 0)
			return -EBADMSG;
		if (tag == DW_TAG_subprogram)
			error = add_function(listing, &entry);
		if (error == 0 && depth < DEPTH_MAX && may_hold_functions(tag))
			error = list_inside(listing, &entry, depth + 1);
		if (error == 0)
			result = dwarf_siblingof(&entry, &entry);
	}
	return error != 0 ? error : result < 0 ? -EBADMSG : 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct unit_function *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return left->entry < right->entry ? -1 : left->entry > right->entry;
}

/* What is damaged ends the list; what was listed before it stays. */
static int list_functions(const struct units *units, struct unit *unit)
{
	struct listing listing = { .units = units, .unit = unit, .left = ENTRIES_MAX };
	Dwarf_Die entry;
	int error;

	if (unit->is_listed)
		return 0;
	unit->is_listed = true;
	if (dwarf_offdie(units->dwarf, unit->entry, &entry) == NULL)
		error = -EBADMSG;
	else
		error = list_inside(&listing, &entry, 0);
	unit->is_damaged = error == -EBADMSG;
	if (unit->function_count != 0)
		qsort(unit->functions, unit->function_count, sizeof(*unit->functions),
		      compare_functions);
	return error == -ENOMEM ? error : 0;
}

/* ---- finding ----------------------------------------------------------------------------------
 */

/* The function of UNIT that begins in [LOW, ADDRESS] and reaches beyond ADDRESS: the last. */
static const struct unit_function *find_function(const struct unit *unit, uint64_t address,
						 uint64_t low)
{
	size_t from = 0, to = unit->function_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (unit->functions[middle].low <= address)
			from = middle + 1;
		else
			to = middle;
	}
	while (from-- > 0 && unit->functions[from].low + SIZE_FIELD_MAX >= low) {
		if (address < unit->functions[from].high)
			return &unit->functions[from];
	}
	return NULL;
}

static int find_in_unit(struct units *units, struct unit *unit, uint64_t address, uint64_t low,
			Dwarf_Die *entry)
{
	int error = list_functions(units, unit);
	const struct unit_function *function;

	if (error != 0)
		return error;
	function = find_function(unit, address, low);
	if (function == NULL)
		return unit->is_damaged ? -EBADMSG : -ENOENT;
	return dwarf_offdie(units->dwarf, function->entry, entry) != NULL ? 0 : -EBADMSG;
}

/* How many ranges begin at or before ADDRESS. */
static size_t count_before(const struct units *units, uint64_t address)
{
	size_t low = 0, high = units->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int units_find(struct units *units, uint64_t address, uint64_t low, struct unit **unit,
	       Dwarf_Die *entry)
{
	int result = units->is_damaged ? -EBADMSG : -ENOENT;

	*unit = NULL;
	/* from the nearest: the units that may be anywhere come last */
	for (size_t i = count_before(units, address); i-- > 0;) {
		struct unit *candidate = &units->list[units->ranges[i].unit];
		int error;

		if (address >= units->ranges[i].high)
			continue;
		error = find_in_unit(units, candidate, address, low, entry);
		if (error == 0 || *unit == NULL)
			*unit = candidate;
		if (error == 0 || error == -ENOMEM)
			return error;
		if (error == -EBADMSG)
			result = error;
	}
	return result;
}
