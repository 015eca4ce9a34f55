/* SPDX-License-Identifier: MIT */
/* mapping.c - /proc/self/maps, read in pieces up to the line that is asked for. Threads: ours. */
#include "preload/load/mapping.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 16 * 1024 };

enum answer { NOT_YET, FOUND, ABSENT };

/* "START-END PERMS ...", proc(5); lines ascend. */
static enum answer look_at(const char *line, uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	char *rest;

	*start = strtoul(line, &rest, 16);
	if (*rest != '-' || *start > address)
		return ABSENT;
	*end = strtoul(rest + 1, &rest, 16);
	if (*end <= address)
		return NOT_YET;
	return strlen(rest) > 3 && rest[3] == 'x' ? FOUND : ABSENT;
}

static size_t look_at_lines(char *buffer, size_t length, uintptr_t address, uintptr_t *start,
			    uintptr_t *end, enum answer *answer)
{
	char *line = buffer, *newline;

	while (*answer == NOT_YET &&
	       (newline = memchr(line, '\n', length - (size_t)(line - buffer))) != NULL) {
		*newline = '\0';
		*answer = look_at(line, address, start, end);
		line = newline + 1;
	}
	return (size_t)(line - buffer);
}

bool mapping_around(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	char *buffer = malloc(PIECE);
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	enum answer answer = NOT_YET;
	size_t length = 0;
	ssize_t got;

	while (answer == NOT_YET && buffer != NULL && maps >= 0 &&
	       (got = read(maps, buffer + length, PIECE - length)) > 0) {
		size_t used;

		length += (size_t)got;
		used = look_at_lines(buffer, length, address, start, end, &answer);
		if (used == 0 && length == PIECE)
			break; /* no line is that long */
		memmove(buffer, buffer + used, length - used);
		length -= used;
	}
	if (maps >= 0)
		close(maps);
	free(buffer);
	return answer == FOUND;
}
