/* SPDX-License-Identifier: MIT */
/* rows.c - doubles an array of any row type. Threads: one at a time. */
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

int rows_reserve(void *array, size_t *room, size_t index, size_t size)
{
	size_t wanted = *room == 0 ? FIRST_ROOM : *room;
	char *rows;

	if (index > SIZE_MAX / 4 / size)
		return -ENOMEM;
	while (wanted <= index)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	/* memcpy: ARRAY points at a pointer of another type. */
	memcpy(&rows, array, sizeof(rows));
	rows = realloc(rows, wanted * size);
	if (rows == NULL)
		return -ENOMEM;
	memset(rows + *room * size, 0, (wanted - *room) * size);
	memcpy(array, &rows, sizeof(rows));
	*room = wanted;
	return 0;
}
