/* SPDX-License-Identifier: MIT */
/*
 * header.c - the look back for an image's header.
 *
 * What an engine hands out may be the whole image or only its .text (wasmtime 40.x), and a frame
 * registration points behind the text, which can be 144 MB long: tens of thousands of pages, of
 * each of which the first bytes are read, once.
 */
#include "preload/load/header.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "preload/base/guarded.h"

enum {
	PAGE = 4096,
	FARTHEST = 512 << 20,
	ENGINE_OSABI = 200, /* wasmtime's ELFOSABI_WASMTIME, crates/environ/src/obj.rs, all versions
			       seen */
};

static bool is_header(const unsigned char *ident)
{
	return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_OSABI] == ENGINE_OSABI;
}

int header_find(uintptr_t address, struct image_layout *layout)
{
	uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
	unsigned char ident[EI_NIDENT];

	for (size_t back = 0; back < FARTHEST && back <= page; back += PAGE) {
		if (guarded_read(page - back, ident, sizeof(ident)) != 0)
			break;
		if (is_header(ident))
			return image_probe(&guarded_memory, page - back, layout);
	}
	return -ENOENT;
}
