/* SPDX-License-Identifier: MIT */
/*
 * scan.c - images that nobody announced, found in /proc/self/maps.
 *
 * Some static hosts register no frames and map with raw system calls; their images still begin, in
 * memory, with an ELF header. Only private mappings that are readable and not writable can be one:
 * with a pooling allocator maps has tens of thousands of lines, nearly all of them something else.
 * Our thread only.
 */
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/load/header.h"
#include "preload/load/load.h"
#include "preload/load/mapping.h"
#include "preload/load/registry.h"

/* Puts the image at START into the registry if there is one and it is new. */
static bool look_at(uintptr_t start)
{
	enum load_verdict verdict;
	struct image_layout layout;
	struct loading *loading;
	bool is_new;

	if (image_probe(&guarded_memory, start, &layout) != 0)
		return false;
	/* Whose time an interpreter's is only calls can tell; who shows them announces too. */
	if (layout.is_bytecode) {
		log_line(LOG_INFO,
			 "interpreted code at %#lx: seen only where the host calls a C API",
			 (unsigned long)start);
		return false;
	}
	registry_lock();
	is_new = registry_at(&layout) == NULL;
	loading = is_new ? registry_add(&layout, "wasmtime", &verdict) : NULL;
	if (loading != NULL)
		loading->was_scanned = true;
	registry_unlock();
	return loading != NULL;
}

static bool look_at_mapping(void *context, const struct mapping *mapping)
{
	bool *found = context;

	if (strncmp(mapping->rights, "r--p", 4) == 0 && look_at(mapping->start))
		*found = true;
	return true;
}

static bool scan_maps(void)
{
	bool found = false;

	mapping_each(look_at_mapping, &found);
	return found;
}

/* Nobody tells when a scanned image goes: its header is gone, then. */
static void retire_vanished(void)
{
	registry_lock();
	for (struct loading *loading = registry_first(); loading != NULL; loading = loading->next) {
		struct image_layout layout;

		if (!loading->was_scanned || loading->died != UINT64_MAX ||
		    atomic_load(&loading->tables_state) != TABLES_TAKEN)
			continue;
		if (image_probe(&guarded_memory, loading->layout.base, &layout) != 0 ||
		    layout.text_size != loading->layout.text_size)
			registry_retire(loading);
	}
	registry_unlock();
}

bool load_scan(uintptr_t unknown_pc)
{
	struct image_layout layout;
	bool found;

	retire_vanished();
	if (unknown_pc != 0)
		found = header_find(unknown_pc, &layout) == 0 && look_at(layout.base);
	else
		found = scan_maps();
	if (found && state.on_first_guest != NULL)
		state.on_first_guest();
	return found;
}
