/* SPDX-License-Identifier: MIT */
/*
 * layout_fuzz.c - any bytes as a recording's layout of a module.
 */
#include "symtab/layout.h"
#include "symtab/match.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* An import, and two functions. */
static const uint8_t wasm[] = { 0, 'a', 's', 'm', 1, 0,	  0, 0,	  1, 4, 1, 0x60, 0,
				0, 2,	7,   1,	  1, 'e', 1, 'f', 0, 0, 3, 3,	 2,
				0, 0,	10,  7,	  2, 2,	  0, 11,  2, 0, 11 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct wasmbin *file = wasmbin_parse_bodies(wasm, sizeof(wasm));
	struct match_place place = { .function = 1, .name = "f", .position = 35 };
	struct match_recorded recorded = {
		.layout = bytes, .layout_size = size, .places = &place, .place_count = 1
	};
	struct layout layout = layout_of(bytes, size);
	struct layout_entry entry;
	struct match match;
	size_t count = 0;

	while (layout_next(&layout, &entry))
		count++;
	if (count > size) /* an entry takes a byte at least */
		abort();
	if (file != NULL)
		match_recorded(file, &recorded, &match);
	wasmbin_unref(file);
	return 0;
}
