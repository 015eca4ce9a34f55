/* SPDX-License-Identifier: MIT */
/* pages.c - copies of memory pages, made at the first look at each. */
#include "preload/unwind/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"

enum { PAGE = 4096, MAX_PAGES = (1 << 30) / PAGE, MAX_PREFETCH = 64 };

static struct {
	size_t total;
	uint64_t copied;
} self;

void pages_init(struct pages *pages, uintptr_t low, uintptr_t high)
{
	size_t count;

	*pages = (struct pages){ .low = low & ~(uintptr_t)(PAGE - 1) };
	count = high > low ? (high - pages->low + PAGE - 1) / PAGE : 0;
	pages->count = count <= MAX_PAGES ? count : 0;
}

static void keep(struct pages *pages, size_t index, uint8_t *copy)
{
	pages->copies[index] = copy;
	pages->fresh = true;
	self.total++;
	self.copied++;
}

static bool reserve(struct pages *pages)
{
	if (pages->copies == NULL)
		pages->copies = calloc(pages->count, sizeof(*pages->copies));
	return pages->copies != NULL;
}

/* The copy of page INDEX, made if need be; NULL when it cannot be had. */
static const uint8_t *page_copy(struct pages *pages, size_t index)
{
	uint8_t *copy;

	if (index >= pages->count || !reserve(pages))
		return NULL;
	if (pages->copies[index] != NULL)
		return pages->copies[index];
	copy = pages->frozen ? NULL : malloc(PAGE);
	if (copy != NULL && guarded_read(pages->low + index * PAGE, copy, PAGE) == 0) {
		keep(pages, index, copy);
		return copy;
	}
	pages->missed = true;
	free(copy);
	return NULL;
}

void pages_prefetch(struct pages *pages, uintptr_t low, uintptr_t high)
{
	size_t first, count, i;
	uint8_t *all;

	if (low < pages->low || high <= low || pages->frozen || !reserve(pages))
		return;
	first = (low - pages->low) / PAGE;
	count = (high - pages->low + PAGE - 1) / PAGE - first;
	if (count > MAX_PREFETCH)
		count = MAX_PREFETCH;
	if (first >= pages->count || count > pages->count - first)
		return;
	all = malloc(count * PAGE);
	if (all != NULL && guarded_read(pages->low + first * PAGE, all, count * PAGE) == 0) {
		for (i = 0; i < count; i++) {
			uint8_t *copy = pages->copies[first + i] == NULL ? malloc(PAGE) : NULL;

			if (copy != NULL)
				keep(pages, first + i, memcpy(copy, all + i * PAGE, PAGE));
		}
	}
	free(all);
}

int pages_read(struct pages *pages, uintptr_t address, void *out, size_t size)
{
	uint8_t *to = out;

	while (size > 0) {
		size_t offset = address % PAGE;
		size_t step = size < PAGE - offset ? size : PAGE - offset;
		const uint8_t *copy;

		if (address < pages->low)
			return -EFAULT;
		copy = page_copy(pages, (address - pages->low) / PAGE);
		if (copy == NULL)
			return -EFAULT;
		memcpy(to, copy + offset, step);
		address += step;
		to += step;
		size -= step;
	}
	return 0;
}

bool pages_revive(struct pages *pages)
{
	uint8_t now[PAGE];
	size_t i;

	pages->frozen = false;
	for (i = 0; pages->copies != NULL && i < pages->count; i++) {
		if (pages->copies[i] == NULL)
			continue;
		/* gone again already: nothing speaks against the copy */
		if (guarded_read(pages->low + i * PAGE, now, PAGE) == 0 &&
		    memcmp(pages->copies[i], now, PAGE) != 0)
			return false;
	}
	return true;
}

void pages_drop(struct pages *pages)
{
	size_t i;

	for (i = 0; pages->copies != NULL && i < pages->count; i++) {
		if (pages->copies[i] == NULL)
			continue;
		free(pages->copies[i]);
		self.total--;
	}
	free(pages->copies);
	pages->copies = NULL;
	pages->fresh = false;
}

size_t pages_total(void)
{
	return self.total;
}

uint64_t pages_copied(void)
{
	return self.copied;
}
