/* SPDX-License-Identifier: MIT */
/* wasmedge_object.c - finds code, tables and bytes of a shared object, and notices its end. */
#include "preload/runtime/wasmedge_object.h"

#include <link.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/hook/hook.h"

enum { OBJECTS = 256 };

/* loading: 0 a free place, UINT32_MAX being written. */
static struct {
	atomic_uint loading;
	atomic_uintptr_t start, end;
} objects[OBJECTS];

/* ---- the end --------------------------------------------------------------------------------- */

static void on_unload(void)
{
	for (size_t i = 0; i < OBJECTS; i++) {
		/* acquire: pairs with keep() */
		uint32_t loading = atomic_load_explicit(&objects[i].loading, memory_order_acquire);
		uintptr_t start, end, now_start, now_end;

		if (loading == 0 || loading == UINT32_MAX)
			continue;
		start = atomic_load_explicit(&objects[i].start, memory_order_relaxed);
		end = atomic_load_explicit(&objects[i].end, memory_order_relaxed);
		if (hook_object_range((void *)start, &now_start, &now_end) && now_start == start &&
		    now_end == end)
			continue;
		if (atomic_compare_exchange_strong(&objects[i].loading, &loading, 0))
			load_retire(loading);
	}
}

/* Without a place it ends when other code comes to where it was. */
static void keep(uint32_t loading, uintptr_t start, uintptr_t end)
{
	hook_on_unload(on_unload);
	for (size_t i = 0; i < OBJECTS; i++) {
		uint32_t expected = 0;

		if (!atomic_compare_exchange_strong(&objects[i].loading, &expected, UINT32_MAX))
			continue;
		atomic_store_explicit(&objects[i].start, start, memory_order_relaxed);
		atomic_store_explicit(&objects[i].end, end, memory_order_relaxed);
		/* release: pairs with on_unload() */
		atomic_store_explicit(&objects[i].loading, loading, memory_order_release);
		return;
	}
}

/* ---- what is in it --------------------------------------------------------------------------- */

struct found {
	uintptr_t address; /* of the bytes in it */
	uintptr_t frame_header;
	uint64_t offset; /* of the bytes in the file */
};

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct found *found = context;
	bool is_it = false;

	(void)size;
	found->frame_header = 0;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			found->frame_header = start;
		if (segment->p_type != PT_LOAD || found->address - start >= segment->p_filesz)
			continue;
		found->offset = segment->p_offset + (found->address - start);
		is_it = true;
	}
	return is_it;
}

/* Where the tables begin that the header is about: LSB Core, section 10.6.2. 0: not told. */
static uintptr_t frames_of(uintptr_t header)
{
	enum { VERSION = 1, PCREL_SDATA4 = 0x1b };
	uint8_t head[8];
	int32_t delta;

	if (header == 0 || guarded_read(header, head, sizeof(head)) != 0 || head[0] != VERSION ||
	    head[1] != PCREL_SDATA4)
		return 0;
	memcpy(&delta, head + 4, sizeof(delta));
	return header + 4 + (uintptr_t)(intptr_t)delta;
}

bool wasmedge_object_asked(const char *name)
{
	return strcmp(name, "intrinsics") == 0;
}

uint32_t wasmedge_object_load(void *handle, struct load_event *event)
{
	const uint8_t *code = hook_symbol(handle, "wasm.code");
	const void *size_at = hook_symbol(handle, "wasm.size");
	const struct link_map *object = handle; /* glibc's handle of dlopen, dlinfo(3) */
	struct found found = { .address = (uintptr_t)code };
	uintptr_t start, end, frames;
	uint32_t size, loading;

	load_bytes_free(event->bytes);
	event->bytes = NULL;
	if (code == NULL || size_at == NULL ||
	    guarded_read((uintptr_t)size_at, &size, sizeof(size)) != 0 ||
	    dl_iterate_phdr(visit, &found) == 0 || !hook_object_range(code, &start, &end))
		return 0;
	frames = frames_of(found.frame_header);
	if (frames == 0)
		return 0;
	event->path = object->l_name;
	event->bytes = load_bytes_in_file(object->l_name, found.offset, size);
	event->glue_comes_first = true;
	loading = load_object((const void *)frames, event);
	if (loading != 0)
		keep(loading, start, end);
	return loading;
}
