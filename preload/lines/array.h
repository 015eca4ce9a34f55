/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays that grow by doubling.
 */
#ifndef PRELOAD_LINES_ARRAY_H
#define PRELOAD_LINES_ARRAY_H

#include "symtab/base.h"

/*
 * ARRAY is the address of a pointer to elements of SIZE bytes, ROOM how many there is memory for.
 * Makes room for element INDEX. 0 or -ENOMEM (the array is as it was).
 */
int array_reserve(void *array, size_t *room, size_t index, size_t size);

#endif /* PRELOAD_LINES_ARRAY_H */
