/* SPDX-License-Identifier: MIT */
/* say.c - lines on standard error, and numbers as people read them. Threads: any. */
#include "preload/cmd/say.h"

#include "preload/cmd/progress.h"
#include "preload/read/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say_line(const char *format, ...)
{
	char *text = NULL, *escaped = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text != NULL)
		escaped = escape_new(text, ESCAPE_VISIBLE);
	fflush(stdout);
	progress_pause();
	fprintf(stderr, "guestprof: %s\n", escaped != NULL ? escaped : "out of memory");
	progress_resume();
	free(escaped);
	free(text);
}

const char *say_count(char text[SAY_COUNT_SIZE], uint64_t count)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i != 0 && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}
