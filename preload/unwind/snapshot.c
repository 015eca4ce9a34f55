/* SPDX-License-Identifier: MIT */
/* snapshot.c - copies what dl_iterate_phdr shows. Threads: ours only. */
#include "preload/unwind/snapshot.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OBJECTS = 65536, MAX_NAME = 4096, ATTEMPTS = 4 };

struct copying {
	struct snapshot *snapshot;
	size_t count, names_size; /* needed; copied as far as there was room */
	bool unchanged;
};

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t start, uintptr_t end)
{
	if (*high == 0 || start < *low)
		*low = start;
	if (end > *high)
		*high = end;
}

/* The end of the segment that holds .eh_frame_hdr. */
static void find_header_end(struct object_place *place, const struct dl_phdr_info *info)
{
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && place->header - start < header->p_memsz)
			place->header_end = start + header->p_memsz;
	}
}

static void copy_place(struct object_place *place, const struct dl_phdr_info *info)
{
	size_t i;

	*place = (struct object_place){ .base = info->dlpi_addr };
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;
		uintptr_t end = start + header->p_memsz;

		if (end < start)
			continue;
		if (header->p_type == PT_LOAD)
			widen(&place->low, &place->high, start, end);
		if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0)
			widen(&place->code_low, &place->code_high, start, end);
		if (header->p_type == PT_GNU_EH_FRAME) {
			place->header = start;
			place->header_size = header->p_memsz;
		}
	}
	find_header_end(place, info);
}

static int copy_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct copying *copying = context;
	struct snapshot *snapshot = copying->snapshot;
	const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
	size_t length = strnlen(name, MAX_NAME - 1);

	(void)size;
	if (copying->count == 0) {
		copying->unchanged = snapshot->count != 0 && snapshot->added == info->dlpi_adds &&
				     snapshot->removed == info->dlpi_subs;
		if (copying->unchanged)
			return 1;
		snapshot->added = info->dlpi_adds;
		snapshot->removed = info->dlpi_subs;
	}
	if (copying->count < snapshot->capacity &&
	    copying->names_size + length < snapshot->names_capacity) {
		struct snapshot_entry *entry = &snapshot->entries[copying->count];

		copy_place(&entry->place, info);
		entry->name = copying->names_size;
		memcpy(snapshot->names + entry->name, name, length);
		snapshot->names[entry->name + length] = '\0';
	}
	copying->count++;
	copying->names_size += length + 1;
	return copying->count == MAX_OBJECTS;
}

/* Room for COUNT objects and NAMES_SIZE bytes of names, and some to come. */
static int grow(struct snapshot *snapshot, size_t count, size_t names_size)
{
	struct snapshot_entry *entries;
	char *names;

	entries = realloc(snapshot->entries, (count + 64) * sizeof(*entries));
	if (entries == NULL)
		return -ENOMEM;
	snapshot->entries = entries;
	snapshot->capacity = count + 64;
	names = realloc(snapshot->names, names_size + 4096);
	if (names == NULL)
		return -ENOMEM;
	snapshot->names = names;
	snapshot->names_capacity = names_size + 4096;
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	const struct snapshot_entry *a = left, *b = right;

	return (a->place.low > b->place.low) - (a->place.low < b->place.low);
}

int snapshot_take(struct snapshot *snapshot)
{
	int attempt;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct copying copying = { .snapshot = snapshot };

		dl_iterate_phdr(copy_object, &copying);
		if (copying.unchanged)
			return 0;
		/* until this attempt is known to be whole, the old counters must not match */
		snapshot->count = 0;
		if (copying.count <= snapshot->capacity &&
		    copying.names_size <= snapshot->names_capacity) {
			snapshot->count = copying.count;
			qsort(snapshot->entries, snapshot->count, sizeof(*snapshot->entries),
			      compare_places);
			return 1;
		}
		if (grow(snapshot, copying.count, copying.names_size) != 0)
			break;
	}
	return -ENOMEM;
}

static int copy_removed(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *removed = context;

	(void)size;
	*removed = info->dlpi_subs;
	return 1;
}

unsigned long long snapshot_removed(void)
{
	unsigned long long removed = 0;

	dl_iterate_phdr(copy_removed, &removed);
	return removed;
}
