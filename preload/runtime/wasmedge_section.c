/* SPDX-License-Identifier: MIT */
/* wasmedge_section.c - a walk over sections, in a file or in memory. */
#include "preload/runtime/wasmedge_section.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "symtab/cursor.h"

enum {
	PREAMBLE = 8,
	MAX_SECTIONS = 4096,
	LEB_MAX = 5,
	NAME_LENGTH = 8, /* of `wasmedge` */
	HEAD = 1 + LEB_MAX + LEB_MAX + NAME_LENGTH,
};

struct source {
	int descriptor; /* -1: bytes */
	const uint8_t *bytes;
	size_t size;
};

/* Up to SIZE bytes at OFFSET; how many there were. */
static size_t read_at(const struct source *source, uint64_t offset, uint8_t *out, size_t size)
{
	ssize_t got;

	if (source->descriptor >= 0) {
		got = pread(source->descriptor, out, size, (off_t)offset);
		return got > 0 ? (size_t)got : 0;
	}
	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = source->size - offset;
	memcpy(out, source->bytes + offset, size);
	return size;
}

static bool is_it(struct cursor name)
{
	uint32_t length = cursor_uleb32(&name);
	const uint8_t *text = length == NAME_LENGTH ? cursor_bytes(&name, NAME_LENGTH) : NULL;

	return text != NULL && memcmp(text, "wasmedge", NAME_LENGTH) == 0;
}

static bool has_section(const struct source *source)
{
	uint64_t at = PREAMBLE;
	uint8_t head[HEAD];

	for (int i = 0; i < MAX_SECTIONS; i++) {
		struct cursor cursor = cursor_of(head, read_at(source, at, head, HEAD));
		uint8_t id = cursor_u8(&cursor);
		uint32_t size = cursor_uleb32(&cursor);

		if (cursor.failed)
			return false;
		if (id == 0 && is_it(cursor))
			return true;
		at += cursor_offset(&cursor) + (uint64_t)size;
	}
	return false;
}

static bool has_code(const struct source *source)
{
	uint8_t magic[4];

	if (read_at(source, 0, magic, sizeof(magic)) != sizeof(magic))
		return false;
	if (memcmp(magic, "\177ELF", sizeof(magic)) == 0)
		return true;
	return memcmp(magic, "\0asm", sizeof(magic)) == 0 && has_section(source);
}

bool wasmedge_section_in_bytes(const uint8_t *bytes, size_t size)
{
	const struct source source = { -1, bytes, size };

	return bytes != NULL && has_code(&source);
}

bool wasmedge_section_in_file(const char *path)
{
	struct source source = { .descriptor = -1 };
	bool found;

	if (path != NULL)
		source.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (source.descriptor < 0)
		return false;
	found = has_code(&source);
	close(source.descriptor);
	return found;
}
