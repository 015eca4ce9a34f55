/* SPDX-License-Identifier: MIT */
/*
 * header.c - the look back for an image's header.
 *
 * What an engine hands out may be the whole image or only its .text (wasmtime 40.x), and a frame
 * registration points behind the text, which can be 144 MB long: so pages are looked at many at
 * a time.
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

static bool is_header(uintptr_t page)
{
	unsigned char ident[EI_NIDENT];

	return guarded_read(page, ident, sizeof(ident)) == 0 &&
	       memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_OSABI] == ENGINE_OSABI;
}

int header_find(uintptr_t address, struct image_layout *layout)
{
	uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
	char byte;

	for (size_t back = 0; back < FARTHEST && back <= page; back += PAGE) {
		if (is_header(page - back))
			return image_probe(&guarded_memory, page - back, layout);
		if (guarded_read(page - back, &byte, 1) != 0)
			break;
	}
	return -ENOENT;
}
