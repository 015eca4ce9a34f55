/* SPDX-License-Identifier: MIT */
/*
 * linetable.h - a unit's part of .debug_line: address -> file, line, column (DWARF 5, section 6.2).
 *
 * Read here and not by libdw, which sorts the rows of all sequences into one table: the sequence of
 * a function that the linker dropped, which older tools leave at address 0, then lies between the
 * rows of live code, and nothing tells them apart.
 */
#ifndef PRELOAD_LINES_LINETABLE_H
#define PRELOAD_LINES_LINETABLE_H

#include "symtab/cursor.h"

/* Sections, and what the unit says. Borrowed while the table lives. */
struct linetable_source {
	struct cursor line, line_str, str; /* the whole sections */
	uint64_t offset;		   /* of the unit's table: DW_AT_stmt_list */
	const char *directory;		   /* DW_AT_comp_dir; NULL */
	uint64_t code_size;		   /* rows beyond it are of dropped code */
};

struct linetable_row {
	uint32_t address, file, line, column;
};

struct linetable;

/* NULL with errno: EBADMSG (damaged), ENOMEM. */
struct linetable *linetable_new(const struct linetable_source *source);
void linetable_free(struct linetable *table);

/*
 * The row that ADDRESS is in, of a sequence of live code. NULL: there is none. Code that the linker
 * dropped has its sequences at 0, or beyond all code (lld: -1), where none is.
 */
const struct linetable_row *linetable_find(const struct linetable *table, uint64_t address);

/* The row before ROW, of the same sequence; NULL: ROW is its first. */
const struct linetable_row *linetable_before(const struct linetable *table,
					     const struct linetable_row *row);

/*
 * Path of file INDEX as rows and DW_AT_call_file number them: absolute if the unit says where it
 * was compiled. NULL: there is no such file, or no memory. Lives as long as the table.
 */
const char *linetable_file(struct linetable *table, uint64_t index);

#endif /* PRELOAD_LINES_LINETABLE_H */
