/* SPDX-License-Identifier: MIT */
/*
 * frameimage.c - code of which only the unwind tables are known, as LLVM's JITs register it.
 *
 * The tables are the host's: they are copied record by record, guarded, before they are read.
 */
#include "symtab/ehframe.h"
#include "symtab/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 64 << 20, MAX_CODE = 1 << 30, MAX_RECORD = 1 << 20 };

struct extent {
	uint64_t low, high;
};

static bool widen(void *context, const struct ehframe_range *range)
{
	struct extent *extent = context;

	if (range->size == 0 || range->start + range->size < range->start)
		return true;
	if (extent->high == 0 || range->start < extent->low)
		extent->low = range->start;
	if (range->start + range->size > extent->high)
		extent->high = range->start + range->size;
	return true;
}

/* The bytes that the record at ADDRESS takes with its length; 0: the terminator, or damage. */
static size_t record_size(const struct memory *memory, uintptr_t address, uint32_t *id)
{
	uint32_t head[2];

	if (memory_read(memory, address, head, sizeof(head)) != 0 || head[0] > MAX_RECORD)
		return 0;
	*id = head[1];
	return head[0] == 0 ? 0 : head[0] + sizeof(head[0]);
}

/* Where the tables that BEGIN belongs to start, and their SIZE without the terminator. */
static int find_tables(const struct memory *memory, uintptr_t begin, uintptr_t *start, size_t *size)
{
	size_t step;
	uint32_t id;

	*start = begin;
	*size = 0;
	step = record_size(memory, begin, &id);
	if (step == 0)
		return -EINVAL;
	if (id != 0) { /* one FDE; its CIE lies before it */
		*start = begin + sizeof(uint32_t) - id;
		*size = begin + step - *start;
		return id < MAX_TABLES && *start < begin ? 0 : -EINVAL;
	}
	while ((step = record_size(memory, begin + *size, &id)) != 0 && *size < MAX_TABLES)
		*size += step;
	return *size < MAX_TABLES ? 0 : -EINVAL;
}

int image_probe_frames(const struct memory *memory, uintptr_t begin, struct image_layout *layout)
{
	struct extent extent = { 0 };
	uintptr_t start;
	uint8_t *bytes;
	size_t size;
	int error = find_tables(memory, begin, &start, &size);

	if (error != 0)
		return error;
	bytes = malloc(size);
	if (bytes == NULL)
		return -ENOMEM;
	error = memory_read(memory, start, bytes, size);
	if (error == 0)
		ehframe_each(bytes, size, start, widen, &extent);
	free(bytes);
	if (error != 0)
		return error;
	if (extent.high <= extent.low || extent.high - extent.low > MAX_CODE)
		return -EINVAL;
	*layout = (struct image_layout){
		.base = start,
		.size = size,
		.text = extent.low,
		.text_size = extent.high - extent.low,
		.eh_frame = start,
		.eh_frame_size = size,
		.is_bare = true,
	};
	return 0;
}
