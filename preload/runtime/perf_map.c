/* SPDX-License-Identifier: MIT */
/*
 * perf_map.c - the lines of /tmp/perf-PID.map: functions by name.
 *
 * Written by JVMs, .NET, Python 3.12, wasmtime, WAMR and others. It never says when code goes:
 * whatever comes to be at its place ends it.
 */
#include "preload/runtime/perf_map.h"

#include <string.h>

#include "preload/load/jitspace.h"
#include "symtab/perfmap.h"

static void take_line(const char *line, size_t length)
{
	struct perfmap_entry entry;

	if (perfmap_line(line, length, &entry))
		jitspace_add(&(struct jit_function){
			.start = entry.start,
			.size = entry.size,
			.name = entry.name,
			.name_length = entry.name_length,
		});
}

static int64_t take(const struct followed_part *part, uint32_t *state)
{
	const char *line = (const char *)part->bytes, *end = line + part->size, *newline;

	(void)state;
	while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		take_line(line, (size_t)(newline - line));
		line = newline + 1;
	}
	/* nobody's name is that long */
	if (line == (const char *)part->bytes && part->size == FOLLOWED_WINDOW)
		line = end;
	return line - (const char *)part->bytes;
}

const struct followed_format runtime_perf_map = { "perf-", ".map", take };
