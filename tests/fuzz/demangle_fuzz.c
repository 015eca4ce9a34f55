/* SPDX-License-Identifier: MIT */
/*
 * demangle_fuzz.c - any bytes as a name: what comes out can be shown, and is bounded.
 */
#include "symtab/symtab.h"
#include "symtab/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const char *text, size_t length, size_t size)
{
	size_t at, step;

	require(length < size && text[length] == '\0' && strlen(text) == length);
	for (at = 0; at < length; at += step) {
		step = utf8_printable(text + at, length - at);
		require(step > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *name = (const char *)bytes;
	char out[8192], small[64];
	struct timespec begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	check(out, demangle(name, size, out, sizeof(out)), sizeof(out));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	/* 10 ms is the bound; the sanitizers take their share */
	require((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 < 200);
	check(small, demangle(name, size, small, sizeof(small)), sizeof(small));
	check(out, demangle_not(name, size, out, sizeof(out)), sizeof(out));
	return 0;
}
