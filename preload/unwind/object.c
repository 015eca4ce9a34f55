/* SPDX-License-Identifier: MIT */
/* object.c - finds FDEs through an object's .eh_frame_hdr (LSB 5.0 core, 10.6.2). */
#include "preload/unwind/object.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/cursor.h"

enum {
	HEADER_SIZE = 12, /* version, three encodings, int32 eh_frame, uint32 count */
	ENCODING_UDATA4 = 0x03,
	ENCODING_DATAREL_SDATA4 = 0x3b,
	MAX_UNINDEXED = 16 << 20,
	STEP = 4096,
};

struct object *object_new(const struct object_place *place, const char *name)
{
	struct object *object = calloc(1, sizeof(*object));

	if (object == NULL)
		return NULL;
	object->place = *place;
	object->name = strdup(name);
	pages_init(&object->pages, place->low, place->high);
	if (object->name == NULL) {
		object_free(object);
		return NULL;
	}
	return object;
}

void object_free(struct object *object)
{
	if (object == NULL)
		return;
	pages_drop(&object->pages);
	fdetable_free(&object->index);
	free(object->name);
	free(object);
}

void object_distrust(struct object *object)
{
	pages_drop(&object->pages);
	fdetable_free(&object->index);
	object->header_read = false;
	object->table_count = 0;
}

/* No search table (an old linker, or one told not to): read all of .eh_frame and make our own. */
static void index_object(struct object *object, uintptr_t eh_frame)
{
	const struct object_place *place = &object->place;
	struct fdetable_source source = {
		.address = eh_frame,
		.text = place->code_low,
		.text_size = place->code_high - place->code_low,
	};
	size_t limit, step;
	uint8_t *bytes;

	if (eh_frame < place->low || eh_frame >= place->high)
		return;
	limit = place->high - eh_frame;
	if (limit > MAX_UNINDEXED)
		limit = MAX_UNINDEXED;
	bytes = malloc(limit);
	if (bytes == NULL)
		return;
	/* where it ends is not said: its terminator ends it, or the end of what can be read */
	for (; source.size < limit; source.size += step) {
		step = STEP - (eh_frame + source.size) % STEP;
		if (step > limit - source.size)
			step = limit - source.size;
		if (pages_read(&object->pages, eh_frame + source.size, bytes + source.size, step))
			break;
	}
	source.bytes = bytes;
	(void)fdetable_index(&object->index, &source);
	free(bytes);
}

static void read_header(struct object *object)
{
	const struct object_place *place = &object->place;
	uint8_t bytes[HEADER_SIZE];
	struct cursor cursor = cursor_of(bytes, sizeof(bytes));
	uint64_t eh_frame, room;
	uint32_t count;

	if (place->header_size < HEADER_SIZE ||
	    pages_read(&object->pages, place->header, bytes, sizeof(bytes)) != 0)
		return;
	object->header_read = true;
	if (bytes[0] != 1)
		return;
	cursor.at = 4;
	if (!fdetable_pointer(&cursor, bytes[1], place->header + 4, &eh_frame))
		return;
	if (bytes[2] != ENCODING_UDATA4 || bytes[3] != ENCODING_DATAREL_SDATA4 || cursor.at != 8) {
		index_object(object, (uintptr_t)eh_frame);
		return;
	}
	count = cursor_u32le(&cursor);
	room = (place->header_size - HEADER_SIZE) / sizeof(struct fdetable_entry);
	object->table = place->header + HEADER_SIZE;
	object->table_count = count < room ? count : (size_t)room;
}

/* Entry INDEX of the object's own table. */
static bool read_entry(struct object *object, size_t index, struct fdetable_entry *entry)
{
	return pages_read(&object->pages, object->table + index * sizeof(*entry), entry,
			  sizeof(*entry)) == 0;
}

static bool search_table(struct object *object, uintptr_t pc, uintptr_t *fde)
{
	int64_t key = (int64_t)(pc - object->place.header);
	struct fdetable_entry entry = { 0 };
	size_t low = 0, high;

	for (high = object->table_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (!read_entry(object, middle, &entry))
			return false;
		if (entry.start <= key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !read_entry(object, low - 1, &entry))
		return false;
	*fde = object->place.header + (uintptr_t)(intptr_t)entry.fde;
	return true;
}

bool object_find_fde(struct object *object, uintptr_t pc, uintptr_t *fde)
{
	if (!object->header_read)
		read_header(object);
	if (object->table_count == 0)
		return fdetable_find(&object->index, pc, fde);
	return search_table(object, pc, fde);
}

void object_fetch_tables(struct object *object)
{
	pages_prefetch(&object->pages, object->place.header, object->place.header_end);
}
