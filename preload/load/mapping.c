/* SPDX-License-Identifier: MIT */
/* mapping.c - /proc/self/maps, read in pieces and line by line. Threads: ours. */
#include "preload/load/mapping.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 * 1024, FIELDS_BEFORE_PATH = 4 /* rights, offset, device, inode */ };

/* "START-END PERMS OFFSET DEVICE INODE   PATH", proc(5). */
static bool read_line(const char *line, struct mapping *mapping)
{
	char *rest;

	mapping->start = strtoul(line, &rest, 16);
	if (*rest != '-')
		return false;
	mapping->end = strtoul(rest + 1, &rest, 16);
	if (*rest != ' ')
		return false;
	mapping->rights = mapping->path = rest + 1;
	for (int field = 0; field < FIELDS_BEFORE_PATH; field++) {
		mapping->path += strcspn(mapping->path, " ");
		mapping->path += strspn(mapping->path, " ");
	}
	return strlen(mapping->rights) >= 4;
}

/* Returns the length of the whole lines; clears *GOES_ON when VISIT has had enough. */
static size_t visit_lines(char *buffer, size_t length, bool *goes_on,
			  bool (*visit)(void *context, const struct mapping *mapping),
			  void *context)
{
	char *line = buffer, *newline;
	struct mapping mapping;

	while (*goes_on &&
	       (newline = memchr(line, '\n', length - (size_t)(line - buffer))) != NULL) {
		*newline = '\0';
		if (read_line(line, &mapping))
			*goes_on = visit(context, &mapping);
		line = newline + 1;
	}
	return (size_t)(line - buffer);
}

void mapping_each(bool (*visit)(void *context, const struct mapping *mapping), void *context)
{
	char *buffer = malloc(PIECE);
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool goes_on = true;
	size_t length = 0;
	ssize_t got;

	while (goes_on && buffer != NULL && maps >= 0 &&
	       (got = read(maps, buffer + length, PIECE - length)) > 0) {
		size_t used;

		length += (size_t)got;
		used = visit_lines(buffer, length, &goes_on, visit, context);
		if (used == 0 && length == PIECE)
			used = length; /* no line is that long; do not stand still */
		memmove(buffer, buffer + used, length - used);
		length -= used;
	}
	if (maps >= 0)
		close(maps);
	free(buffer);
}

struct search {
	uintptr_t address, start, end;
	bool is_found;
};

static bool look_at(void *context, const struct mapping *mapping)
{
	struct search *search = context;

	if (mapping->end <= search->address)
		return true;
	search->is_found = mapping->start <= search->address && mapping->rights[2] == 'x';
	search->start = mapping->start;
	search->end = mapping->end;
	return false;
}

bool mapping_around(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	struct search search = { .address = address };

	mapping_each(look_at, &search);
	*start = search.start;
	*end = search.end;
	return search.is_found;
}
