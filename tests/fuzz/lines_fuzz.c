/* SPDX-License-Identifier: MIT */
/*
 * lines_fuzz.c - libFuzzer entry: any bytes as a wasm file, every position of its code asked for.
 *
 *	make fuzz && build/fuzz/lines_fuzz -max_total_time=600 CORPUS tests/data/lines
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/lines/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { POSITIONS_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct lines_place place;
	struct lines *lines = lines_copy(bytes, size);
	char text[LINES_REFERENCE_MAX];
	size_t step = size / POSITIONS_MAX + 1;

	if (lines == NULL)
		return 0;
	for (uint64_t at = 0; at < size; at += step) {
		if (lines_find(lines, at, &place) != 0)
			continue;
		for (size_t i = 0; i < place.frame_count; i++) {
			if (place.frames[i].name != NULL && place.frames[i].name[0] == '\0')
				abort();
		}
	}
	lines_reference(lines, LINES_SOURCE_MAP, text);
	lines_reference(lines, LINES_EXTERNAL_DEBUG_INFO, text);
	lines_close(lines);
	return 0;
}
