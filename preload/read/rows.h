/* SPDX-License-Identifier: MIT */
/*
 * rows.h - arrays of rows that grow by doubling.
 */
#ifndef PRELOAD_READ_ROWS_H
#define PRELOAD_READ_ROWS_H

#include "symtab/base.h"

/*
 * ARRAY is the address of a pointer to rows of SIZE bytes, ROOM how many there is memory for. Makes
 * room for row INDEX; new rows are zero. 0 or -ENOMEM (the array is as it was).
 */
int rows_reserve(void *array, size_t *room, size_t index, size_t size);

#endif /* PRELOAD_READ_ROWS_H */
