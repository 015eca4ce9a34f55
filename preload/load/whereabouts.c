/* SPDX-License-Identifier: MIT */
/* whereabouts.c - a count of loadings for each megabyte, by a hash of its number. */
#include "preload/load/whereabouts.h"

enum {
	MEGABYTE_BITS = 20,
	PLACES = 4096, /* a power of two; what falls together is asked for in vain */
};

static atomic_uint counts[PLACES];

/* Neighbours go to neighbouring places: a large image takes as many as it has megabytes. */
static atomic_uint *count_at(uintptr_t megabyte)
{
	return &counts[(megabyte ^ (megabyte >> 12)) % PLACES];
}

/* An image of more megabytes than there are places counts once in each. */
static uintptr_t last_of(uintptr_t base, size_t size)
{
	uintptr_t first = base >> MEGABYTE_BITS;
	uintptr_t last = (base + (size != 0 ? size - 1 : 0)) >> MEGABYTE_BITS;

	return last < first || last - first >= PLACES ? first + PLACES - 1 : last;
}

void whereabouts_add(uintptr_t base, size_t size)
{
	uintptr_t last = last_of(base, size);

	for (uintptr_t megabyte = base >> MEGABYTE_BITS; megabyte <= last; megabyte++)
		atomic_fetch_add_explicit(count_at(megabyte), 1, memory_order_relaxed);
}

void whereabouts_remove(uintptr_t base, size_t size)
{
	uintptr_t last = last_of(base, size);

	for (uintptr_t megabyte = base >> MEGABYTE_BITS; megabyte <= last; megabyte++)
		atomic_fetch_sub_explicit(count_at(megabyte), 1, memory_order_relaxed);
}

bool whereabouts_may_hold(uintptr_t address)
{
	return atomic_load_explicit(count_at(address >> MEGABYTE_BITS), memory_order_relaxed) != 0;
}
