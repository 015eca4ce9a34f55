/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - inputs for the tests of this room: the files of tests/data/lines, and bytes to build
 * others from.
 */
#ifndef TESTS_UNIT_LINES_FIXTURE_H
#define TESTS_UNIT_LINES_FIXTURE_H

#include "symtab/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	uint8_t *bytes; /* free() */
	size_t size;
};

#define UNUSED __attribute__((unused))

static UNUSED void bytes_add(struct bytes *to, const void *more, size_t size)
{
	to->bytes = realloc(to->bytes, to->size + size + 1);
	if (to->bytes == NULL)
		abort();
	if (size != 0)
		memcpy(to->bytes + to->size, more, size);
	to->size += size;
}

static UNUSED void bytes_byte(struct bytes *to, unsigned int byte)
{
	uint8_t value = (uint8_t)byte;

	bytes_add(to, &value, 1);
}

static UNUSED void bytes_u32(struct bytes *to, uint32_t value)
{
	bytes_add(to, &value, sizeof(value));
}

static UNUSED void bytes_text(struct bytes *to, const char *text)
{
	bytes_add(to, text, strlen(text) + 1);
}

static UNUSED void bytes_uleb(struct bytes *to, uint64_t value)
{
	do {
		bytes_byte(to, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value > 0);
}

/* A section of a module, or of a component. */
static UNUSED void bytes_section(struct bytes *to, unsigned int id, const struct bytes *content)
{
	bytes_byte(to, id);
	bytes_uleb(to, content->size);
	bytes_add(to, content->bytes, content->size);
}

static UNUSED void bytes_custom(struct bytes *to, const char *name, const void *content,
				size_t size)
{
	struct bytes section = { 0 };

	bytes_uleb(&section, strlen(name));
	bytes_add(&section, name, strlen(name));
	bytes_add(&section, content, size);
	bytes_section(to, 0, &section);
	free(section.bytes);
}

/* A file of tests/data/lines; tests run in the root of the project. */
static UNUSED struct bytes fixture_read(const char *name)
{
	struct bytes file = { 0 };
	char path[256], buffer[4096];
	size_t size;
	FILE *stream;

	snprintf(path, sizeof(path), "tests/data/lines/%s", name);
	stream = fopen(path, "r");
	if (stream == NULL) {
		perror(path);
		abort();
	}
	while ((size = fread(buffer, 1, sizeof(buffer), stream)) != 0)
		bytes_add(&file, buffer, size);
	fclose(stream);
	return file;
}

/* Where the content of the first section ID of the module begins, and its size. */
static UNUSED size_t fixture_section(const struct bytes *file, unsigned int id, const char *name,
				     size_t *size)
{
	size_t at = 8;

	while (at < file->size) {
		unsigned int found = file->bytes[at++], shift = 0;
		size_t length = 0;

		do {
			length |= (size_t)(file->bytes[at] & 0x7f) << shift;
			shift += 7;
		} while ((file->bytes[at++] & 0x80) != 0);
		if (found == id &&
		    (id != 0 || (file->bytes[at] == strlen(name) &&
				 memcmp(file->bytes + at + 1, name, strlen(name)) == 0))) {
			size_t skip = id != 0 ? 0 : 1 + strlen(name);

			*size = length - skip;
			return at + skip;
		}
		at += length;
	}
	abort();
}

#endif /* TESTS_UNIT_LINES_FIXTURE_H */
