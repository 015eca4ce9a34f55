/* SPDX-License-Identifier: MIT */
/*
 * say.h - what the command tells its user besides its output: one line on standard error.
 */
#ifndef PRELOAD_CMD_SAY_H
#define PRELOAD_CMD_SAY_H

#include "symtab/base.h"

/* `guestprof: ...` and a newline, in one write; what must not reach a terminal is escaped. */
void say_line(const char *format, ...) PRINTF_LIKE(1, 2);

enum { SAY_COUNT_SIZE = 32 };

/* 4210 as 4,210, in TEXT. */
const char *say_count(char text[SAY_COUNT_SIZE], uint64_t count);

#endif /* PRELOAD_CMD_SAY_H */
