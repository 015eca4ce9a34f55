/* SPDX-License-Identifier: MIT */
/*
 * units.h - the compilation units of a core module, and the functions in those that are asked for.
 *
 * At first only the units' own entries are read; a unit's functions are listed when an address in
 * the unit is asked for.
 */
#ifndef PRELOAD_LINES_UNITS_H
#define PRELOAD_LINES_UNITS_H

#include "symtab/base.h"

#include <elfutils/libdw.h>

struct linetable;
struct unit_function;

struct unit {
	Dwarf_Off entry; /* of the unit's own entry in .debug_info */
	bool is_listed, is_damaged;
	struct unit_function *functions; /* owned; by low */
	size_t function_count, function_room;
	/* Owned: of lines.c, who makes it when it is needed. */
	struct linetable *table;
	bool has_no_table; /* it was tried */
};

struct units;

/*
 * Reads the units' entries. INFO_SIZE: of .debug_info. CODE_SIZE: no address of live code is above.
 * NULL without memory.
 */
struct units *units_new(Dwarf *dwarf, uint64_t info_size, uint64_t code_size);
void units_free(struct units *units);

/*
 * The function with ADDRESS, which is in the wasm function whose body begins at LOW: an entry that
 * begins before it is of another one, whatever it claims to cover. 0 with *UNIT and *ENTRY set;
 * -ENOENT: no unit has such a function, but *UNIT, unless it is NULL, has the code (lines without
 * functions: -gline-tables-only, -gsplit-dwarf); -EBADMSG: a unit that may hold it is damaged;
 * -ENOMEM.
 */
int units_find(struct units *units, uint64_t address, uint64_t low, struct unit **unit,
	       Dwarf_Die *entry);

#endif /* PRELOAD_LINES_UNITS_H */
