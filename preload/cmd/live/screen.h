/* SPDX-License-Identifier: MIT */
/*
 * screen.h - a page on the terminal at standard output, drawn again in its place.
 *
 * What is wider or higher than the terminal is cut at its edge, whatever its size has become
 * meanwhile; escape sequences: ECMA-48, and DECAWM (?7) as every terminal has it.
 */
#ifndef PRELOAD_CMD_LIVE_SCREEN_H
#define PRELOAD_CMD_LIVE_SCREEN_H

#include <stdio.h>

#include "symtab/base.h"

/*
 * From here on SIGINT and SIGTERM end the command at once, with status 0: to be told to end is how
 * a page that is drawn for ever ends. IS_TERMINAL: standard output is one, whose lines are not
 * wrapped until screen_close(), or that end.
 */
void screen_open(bool is_terminal);
void screen_close(void);

/* Its lines; 40 where nobody knows. */
size_t screen_lines(void);

/* At most LINES of TEXT, whose lines end in newlines, to PAGE; the last one says if there are more.
 */
void screen_add(FILE *page, const char *text, size_t lines);

/* PAGE, lines as above, takes the place of the one before. Negative errno: nobody reads. */
int screen_draw(const char *page);

#endif /* PRELOAD_CMD_LIVE_SCREEN_H */
