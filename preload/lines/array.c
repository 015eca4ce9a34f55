/* SPDX-License-Identifier: MIT */
/* array.c - makes room in an array. Threads: any. */
#include "preload/lines/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

int array_reserve(void *array, size_t *room, size_t index, size_t size)
{
	size_t more = *room == 0 ? FIRST_ROOM : *room;
	size_t total;
	void *bytes;

	if (index < *room)
		return 0;
	if (index > SIZE_MAX / 4)
		return -ENOMEM;
	while (more <= index)
		more *= 2;
	if (__builtin_mul_overflow(more, size, &total))
		return -ENOMEM;
	memcpy(&bytes, array, sizeof(bytes));
	bytes = realloc(bytes, total);
	if (bytes == NULL)
		return -ENOMEM;
	memcpy(array, &bytes, sizeof(bytes));
	*room = more;
	return 0;
}
