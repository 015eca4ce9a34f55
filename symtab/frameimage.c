/* SPDX-License-Identifier: MIT */
/*
 * frameimage.c - code of which only the unwind tables are known, as JITs register it.
 *
 * The tables are the host's: they are copied, guarded, before they are read, and in large pieces:
 * 50,000 functions have two megabytes of them, and this is the host's thread.
 */
#include "symtab/ehframe.h"
#include "symtab/prologue.h"
#include "symtab/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_TABLES = 64 << 20,
	MAX_CODE = 1 << 30,
	MAX_RECORD = 1 << 20,
	FIRST_PIECE = 4 << 10, /* doubles up to the largest */
	MAX_PIECE = 256 << 10,
	PAGE = 4096,
};

/* A copy of the tables from START on, as far as they were read. */
struct copied {
	const struct memory *memory;
	uintptr_t start;
	uint8_t *bytes;
	size_t size, room;
};

static int make_room(struct copied *copied, size_t piece)
{
	uint8_t *bytes;

	if (copied->room - copied->size >= piece)
		return 0;
	bytes = realloc(copied->bytes, copied->size + piece);
	if (bytes == NULL)
		return -ENOMEM;
	copied->bytes = bytes;
	copied->room = copied->size + piece;
	return 0;
}

/* Reads NEEDED bytes or more. What follows the tables may not be there: to the end of the page
 * then.
 */
static int read_piece(struct copied *copied, size_t needed)
{
	uintptr_t at = copied->start + copied->size;
	size_t usual = copied->size < FIRST_PIECE ? FIRST_PIECE : copied->size;
	const size_t pieces[] = { usual < MAX_PIECE ? usual : MAX_PIECE, PAGE - at % PAGE, needed };
	int error = -EFAULT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		error = make_room(copied, pieces[i]);
		if (error == 0)
			error = memory_read(copied->memory, at, copied->bytes + copied->size,
					    pieces[i]);
		if (error != -EFAULT)
			break;
	}
	if (error == 0)
		copied->size += pieces[i];
	return error;
}

/* Reads until SIZE bytes are there. */
static int read_up_to(struct copied *copied, size_t size)
{
	int error = 0;

	while (error == 0 && copied->size < size)
		error = read_piece(copied, size - copied->size);
	return error;
}

/* The bytes that the record at offset AT takes with its length, its id; 0: the terminator. */
static int read_record(struct copied *copied, size_t at, size_t *size, uint32_t *id)
{
	uint32_t length;
	int error = read_up_to(copied, at + sizeof(length));

	if (error != 0)
		return error;
	memcpy(&length, copied->bytes + at, sizeof(length));
	*size = 0;
	if (length == 0)
		return 0;
	if (length < sizeof(*id) || length > MAX_RECORD)
		return -EINVAL;
	*size = sizeof(length) + length;
	error = read_up_to(copied, at + *size);
	if (error == 0)
		memcpy(id, copied->bytes + at + sizeof(length), sizeof(*id));
	return error;
}

/* Copies the tables that BEGIN belongs to; *SIZE is without the terminator. */
static int copy_tables(struct copied *copied, uintptr_t begin, size_t *size)
{
	size_t step = 0;
	uint32_t id = 0;
	int error;

	copied->start = begin;
	error = read_record(copied, 0, &step, &id);
	if (error != 0 || step == 0)
		return error != 0 ? error : -EINVAL;
	*size = step;
	if (id != 0) { /* one FDE; its CIE lies before it */
		copied->start = begin + sizeof(uint32_t) - id;
		copied->size = 0;
		*size = begin + step - copied->start;
		if (id >= MAX_TABLES || copied->start >= begin)
			return -EINVAL;
		return read_up_to(copied, *size);
	}
	while (error == 0 && step != 0 && *size < MAX_TABLES) {
		error = read_record(copied, *size, &step, &id);
		*size += error == 0 ? step : 0;
	}
	/* as far as it makes sense: LLVM's tables of one section end with the section */
	return *size < MAX_TABLES ? 0 : -EINVAL;
}

struct extent {
	uint64_t low, high;
	uint32_t count;
};

/* Linkers leave a start of 0 to what they threw away. */
static bool is_function(const struct ehframe_range *range)
{
	return range->start != 0 && range->size != 0 && range->start + range->size >= range->start;
}

static bool widen(void *context, const struct ehframe_range *range)
{
	struct extent *extent = context;

	if (!is_function(range))
		return true;
	if (extent->count == 0 || range->start < extent->low)
		extent->low = range->start;
	if (range->start + range->size > extent->high)
		extent->high = range->start + range->size;
	extent->count++;
	return true;
}

/* Which of the functions are looked at, from the second walk over the FDEs. */
struct prologues {
	const struct memory *memory;
	uint32_t at, step;
	bool all_have;
};

static bool look_at_prologue(void *context, const struct ehframe_range *range)
{
	struct prologues *prologues = context;

	if (!is_function(range) || prologues->at++ % prologues->step != 0)
		return true;
	prologues->all_have = prologue_is_at(prologues->memory, range->start);
	return prologues->all_have;
}

static bool have_frame_pointers(const struct copied *copied, size_t size, uint32_t count)
{
	struct prologues prologues = {
		.memory = copied->memory,
		.step = count / PROLOGUES + 1,
	};

	ehframe_each(copied->bytes, size, copied->start, look_at_prologue, &prologues);
	return prologues.all_have;
}

int image_probe_frames(const struct memory *memory, uintptr_t begin, struct image_layout *layout)
{
	struct copied copied = { .memory = memory };
	struct extent extent = { 0 };
	size_t size = 0;
	int error = copy_tables(&copied, begin, &size);

	if (error == 0)
		ehframe_each(copied.bytes, size, copied.start, widen, &extent);
	if (error == 0 && (extent.high <= extent.low || extent.high - extent.low > MAX_CODE))
		error = -EINVAL;
	if (error == 0)
		*layout = (struct image_layout){
			.base = copied.start,
			.size = size,
			.text = extent.low,
			.text_size = extent.high - extent.low,
			.eh_frame = copied.start,
			.eh_frame_size = size,
			.is_bare = true,
			.has_frame_pointers = have_frame_pointers(&copied, size, extent.count),
			.frame_count = extent.count,
		};
	free(copied.bytes);
	return error;
}
