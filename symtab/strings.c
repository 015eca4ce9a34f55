/* SPDX-License-Identifier: MIT */
/*
 * strings.c - many small texts in one growing block.
 */
#include "symtab/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct strings *strings, size_t length)
{
	size_t room = strings->room == 0 ? 256 : strings->room;
	char *bytes;

	if (length > UINT32_MAX - strings->used)
		return -E2BIG;
	while (room - strings->used < length)
		room *= 2;
	if (room == strings->room)
		return 0;
	bytes = realloc(strings->bytes, room);
	if (bytes == NULL)
		return -ENOMEM;
	strings->bytes = bytes;
	strings->room = room;
	return 0;
}

int strings_add(struct strings *strings, const void *bytes, size_t length, struct span *span)
{
	struct span start = { .offset = (uint32_t)strings->used };
	int error = strings_extend(strings, bytes, length, &start);

	if (error == 0)
		*span = start;
	return error;
}

int strings_extend(struct strings *strings, const void *bytes, size_t length, struct span *span)
{
	int error = reserve(strings, length);

	if (error < 0)
		return error;
	if (length > 0)
		memcpy(strings->bytes + strings->used, bytes, length);
	strings->used += length;
	span->length += (uint32_t)length;
	return 0;
}

void strings_trim(struct strings *strings)
{
	char *bytes = strings->used > 0 ? realloc(strings->bytes, strings->used) : NULL;

	if (bytes == NULL)
		return;
	strings->bytes = bytes;
	strings->room = strings->used;
}

void strings_fini(struct strings *strings)
{
	free(strings->bytes);
	*strings = (struct strings){ 0 };
}
