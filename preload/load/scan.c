/* SPDX-License-Identifier: MIT */
/*
 * scan.c - images that nobody announced, found in /proc/self/maps.
 *
 * Some static hosts register no frames and map with raw system calls; their images still begin, in
 * memory, with an ELF header. Only private mappings that are readable and not writable can be one:
 * with a pooling allocator maps has tens of thousands of lines, nearly all of them something else.
 * Our thread only; reads maps in pieces into a fixed buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/load/header.h"
#include "preload/load/load.h"
#include "preload/load/registry.h"

enum { PIECE = 64 * 1024 };

/* Puts the image at START into the registry if there is one and it is new. */
static bool look_at(uintptr_t start)
{
	enum load_verdict verdict;
	struct image_layout layout;
	struct loading *loading;
	bool is_new;

	if (image_probe(&guarded_memory, start, &layout) != 0)
		return false;
	registry_lock();
	is_new = registry_at(&layout) == NULL;
	loading = is_new ? registry_add(&layout, "wasmtime", &verdict) : NULL;
	if (loading != NULL)
		loading->was_scanned = true;
	registry_unlock();
	return loading != NULL;
}

/* "START-END PERMS ..." of /proc/PID/maps, proc(5). */
static bool line_is_candidate(const char *line, uintptr_t *start)
{
	char *end;

	*start = strtoul(line, &end, 16);
	if (*end != '-')
		return false;
	strtoul(end + 1, &end, 16);
	return strncmp(end, " r--p", 5) == 0;
}

static size_t scan_lines(char *buffer, size_t length, bool *found)
{
	char *line = buffer, *newline;
	uintptr_t start;

	while ((newline = memchr(line, '\n', length - (size_t)(line - buffer))) != NULL) {
		*newline = '\0';
		if (line_is_candidate(line, &start) && look_at(start))
			*found = true;
		line = newline + 1;
	}
	return (size_t)(line - buffer);
}

static bool scan_maps(void)
{
	char *buffer = malloc(PIECE);
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;
	bool found = false;

	while (buffer != NULL && maps >= 0 &&
	       (got = read(maps, buffer + length, PIECE - length)) > 0) {
		size_t used;

		length += (size_t)got;
		used = scan_lines(buffer, length, &found);
		if (used == 0 && length == PIECE)
			used = length; /* no line is that long; do not stand still */
		memmove(buffer, buffer + used, length - used);
		length -= used;
	}
	if (maps >= 0)
		close(maps);
	free(buffer);
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
