/* SPDX-License-Identifier: MIT */
/* wasmedge_section.c - a walk over sections, in a file or in memory. */
#include "preload/runtime/wasmedge_section.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

/* Up to SIZE bytes at OFFSET, the rest zeros; how many there were. */
static size_t read_at(const struct source *source, uint64_t offset, uint8_t *out, size_t size)
{
	ssize_t got;

	memset(out, 0, size);
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

/* An unsigned LEB128 of at most 32 bits; its length, 0: it is none. */
static size_t read_leb(const uint8_t *bytes, uint32_t *value)
{
	*value = 0;
	for (size_t i = 0; i < LEB_MAX; i++) {
		*value |= (uint32_t)(bytes[i] & 0x7f) << 7 * i;
		if ((bytes[i] & 0x80) == 0)
			return i + 1;
	}
	return 0;
}

static bool is_it(const uint8_t *name)
{
	uint32_t length;
	size_t width = read_leb(name, &length);

	return width != 0 && length == NAME_LENGTH &&
	       memcmp(name + width, "wasmedge", NAME_LENGTH) == 0;
}

static bool has_section(const struct source *source)
{
	uint64_t at = PREAMBLE;
	uint8_t head[HEAD + 1];

	for (int i = 0; i < MAX_SECTIONS && read_at(source, at, head, HEAD) > 1; i++) {
		uint32_t size;
		size_t width = read_leb(head + 1, &size);

		if (width == 0)
			return false;
		if (head[0] == 0 && is_it(head + 1 + width))
			return true;
		at += 1 + width + (uint64_t)size;
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
