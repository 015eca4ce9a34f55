/* SPDX-License-Identifier: MIT */
/*
 * addrmap_fuzz.c - any bytes as an address map of either format; the first one is the version.
 */
#include "symtab/addrmap.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The searches rely on ascending offsets, which an engine writes; without them any answer will do.
 */
static void ask(const struct addrmap *map, uint64_t start, uint64_t end)
{
	uint32_t low, high, position;

	if (addrmap_extent(map, start, end, &low, &high))
		require(map->count > 0 && low <= high && high < UINT32_MAX);
	if (addrmap_first(map, start, end, &position))
		require(map->count > 0 && position < UINT32_MAX);
	if (addrmap_find(map, start, end - 1, &position))
		require(map->count > 0 && position < UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct addrmap map;
	uint64_t start;

	if (size == 0)
		return 0;
	map = addrmap_of(bytes + 1, size - 1, bytes[0]);
	for (start = 0; start < 256; start += 37) {
		ask(&map, start, start + 16);
		ask(&map, start, start + 5000);
	}
	ask(&map, 0, UINT64_MAX);
	ask(&map, UINT64_MAX - 1, UINT64_MAX);
	return 0;
}
