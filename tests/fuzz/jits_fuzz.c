/* SPDX-License-Identifier: MIT */
/*
 * jits_fuzz.c - any bytes as what hosts write for other tools: by the first one, lines of a perf
 * map, records of a jitdump, or an object file for debuggers.
 */
#include "symtab/jitdump.h"
#include "symtab/jitelf.h"
#include "symtab/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_within(const char *name, size_t length, const uint8_t *bytes, size_t size)
{
	require((const uint8_t *)name >= bytes && (const uint8_t *)name + length <= bytes + size);
}

static void read_perf_map(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *line = bytes;

	while (line < end) {
		const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline != NULL ? newline : end) - line);
		struct perfmap_entry entry;

		if (perfmap_line((const char *)line, length, &entry)) {
			require(entry.start != 0 && entry.size != 0 && entry.name_length != 0);
			require(entry.start + entry.size >= entry.start);
			require_within(entry.name, entry.name_length, line, length);
		}
		line += length + 1;
	}
}

static void read_jitdump(const uint8_t *bytes, size_t size)
{
	struct jitdump_header header;
	struct jitdump_record record;
	uint64_t at;

	if (size < JITDUMP_HEADER || jitdump_header(bytes, &header) != 0)
		return;
	for (at = header.size; at < size; at += record.size) {
		size_t part = size - at < JITDUMP_WINDOW ? (size_t)(size - at) : JITDUMP_WINDOW;

		if (jitdump_record(bytes + at, part, size - at, &record) != 0)
			return;
		require(record.size != 0 && record.size <= size - at);
		if (record.kind == JITDUMP_LOAD)
			require_within(record.name, record.name_length, bytes + at, part);
	}
}

struct input {
	const uint8_t *bytes;
	size_t size;
};

static void check_function(void *context, const struct jitelf_function *function)
{
	const struct input *input = context;

	require(function->start != 0 && function->size != 0 && function->name_length != 0);
	require(function->start + function->size >= function->start);
	require_within(function->name, function->name_length, input->bytes, input->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes + 1, size - 1 };

	if (size == 0)
		return 0;
	if (bytes[0] % 3 == 0)
		read_perf_map(input.bytes, input.size);
	else if (bytes[0] % 3 == 1)
		read_jitdump(input.bytes, input.size);
	else
		jitelf_functions(input.bytes, input.size, check_function, &input);
	return 0;
}
