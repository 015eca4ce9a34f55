/* SPDX-License-Identifier: MIT */
/*
 * escape.h - guest text made safe to show. Every sink that shows a name uses it.
 *
 * Names come from guests and their tenants. Shown as they are, they could move the cursor, hide or
 * reorder what is printed beside them, or fake a line. So everything that does not print, one
 * column after the other from left to right, is shown as its number: control characters and bytes
 * that are no UTF-8 as \xNN, characters without a glyph, marks that pile up, and letters and marks
 * that run from right to left as \u{N}. Backslashes stay: in a recording of ours those of names are
 * doubled already (symtab/utf8.h), and escaping twice would show what nobody wrote.
 */
#ifndef PRELOAD_READ_ESCAPE_H
#define PRELOAD_READ_ESCAPE_H

#include "symtab/base.h"

enum escape_style {
	ESCAPE_VISIBLE,
	ESCAPE_SPACES, /* control characters become spaces: folded stacks */
};

/* The longest escape of one byte of text. */
enum { ESCAPE_GROWTH = 4 };

/*
 * Writes TEXT, escaped and terminated, to OUT of SIZE bytes, whole escapes only. Returns the length
 * written; with SIZE over ESCAPE_GROWTH times the length of TEXT that is all of it.
 */
size_t escape_text(char *out, size_t size, const char *text, enum escape_style style);

/* The same in memory of its own (caller frees); NULL without memory. */
char *escape_new(const char *text, enum escape_style style);

/* Columns that ESCAPED text takes on a terminal. */
size_t escape_columns(const char *escaped);

/*
 * Cuts ESCAPED text in place to COLUMNS, by "..." in its middle: of a long name both ends tell.
 */
void escape_cut(char *escaped, size_t columns);

#endif /* PRELOAD_READ_ESCAPE_H */
