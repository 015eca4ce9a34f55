/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - makes any bytes safe to print: valid UTF-8 without control characters.
 *
 * This happens once, where a text from outside comes in: a recording is read by tools that show
 * what they read as it is. Nothing is lost by it: \xNN is the byte, and a backslash in a name is
 * doubled, so that a name that spells an escape is another one. Sinks of ours (encode/escape.h) add
 * \u{N} for what is valid and yet hides or reorders, and leave backslashes alone.
 */
#ifndef SYMTAB_UTF8_H
#define SYMTAB_UTF8_H

#include "symtab/base.h"

/*
 * Length of the well-formed character at TEXT (at most LENGTH bytes, at least one) that may be
 * shown as it is, else 0: malformed (Unicode 15, table 3-7), a control character (C0, DEL, C1), a
 * line or paragraph separator, or one that reorders text (U+202A to U+202E, U+2066 to U+2069: they
 * make one name look like another).
 */
size_t utf8_printable(const char *text, size_t length);

/*
 * Writes TEXT to OUT (SIZE bytes, terminated), every byte that may not be shown as \xNN, and each
 * backslash twice. Cuts only between characters. Sets *WHOLE (may be NULL) to whether all of it
 * fitted. Returns the length written.
 */
size_t utf8_escape(const char *text, size_t length, char *out, size_t size, bool *whole);

/* The same with backslashes as they are: for paths, and for what has been escaped before. */
size_t utf8_clean(const char *text, size_t length, char *out, size_t size);

/*
 * The same, but a text that does not fit is cut and ends in `~` and a hash of KEY, so that texts of
 * different keys stay different (a SIZE below 14 has no room for that).
 */
size_t utf8_fit(const char *text, size_t length, const char *key, size_t key_length, char *out,
		size_t size);

/* The same with backslashes as they are. */
size_t utf8_fit_path(const char *path, size_t length, const char *key, size_t key_length, char *out,
		     size_t size);

/* utf8_escape() and utf8_clean() into memory that the caller frees; NULL when there is none. */
char *utf8_escape_new(const char *text, size_t length);
char *utf8_clean_new(const char *text, size_t length);

#endif /* SYMTAB_UTF8_H */
