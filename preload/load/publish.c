/* SPDX-License-Identifier: MIT */
/*
 * publish.c - code ranges, published whole.
 *
 * A retired array is freed when no handler runs with its generation or an older one. Reading the
 * blocks after the swap is enough: a handler that noted an old generation before our swap shows it
 * until it leaves; one that starts afterwards re-reads the current array (sig/handler.c).
 */
#include "preload/load/publish.h"

#include <stdlib.h>
#include <string.h>

#include "preload/sig/thread.h"

struct retired {
	struct retired *next;
	const struct ranges *ranges;
};

static struct {
	struct retired *retired;
	uint64_t generation;
} self;

static bool overlaps(const struct range *a, const struct range *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Copies the current ranges but REMOVED's, with ADDED (or NULL) put where it belongs. */
static uint64_t publish(const struct range *added, uint32_t removed)
{
	const struct ranges *old = ranges_current();
	const struct range *waiting = added;
	size_t old_count = old != NULL ? old->count : 0, count = 0;
	struct retired *retired = malloc(sizeof(*retired));
	struct ranges *next;

	next = malloc(sizeof(*next) + (old_count + 1) * sizeof(next->range[0]));
	if (retired == NULL || next == NULL) {
		free(retired);
		free(next);
		return 0;
	}
	for (size_t i = 0; i < old_count; i++) {
		const struct range *range = &old->range[i];

		if (range->id == removed || (added != NULL && overlaps(range, added)))
			continue;
		if (waiting != NULL && waiting->start < range->start) {
			next->range[count++] = *waiting;
			waiting = NULL;
		}
		next->range[count++] = *range;
	}
	if (waiting != NULL)
		next->range[count++] = *waiting;
	next->count = count;
	next->generation = ++self.generation;
	*retired = (struct retired){ .next = self.retired, .ranges = ranges_publish(next) };
	self.retired = retired;
	return next->generation;
}

uint64_t publish_add(const struct range *range)
{
	return publish(range, 0);
}

uint64_t publish_remove(uint32_t id)
{
	return publish(NULL, id);
}

uint64_t publish_generation(void)
{
	return self.generation;
}

void publish_reclaim(void)
{
	uint64_t oldest = thread_oldest_generation();
	struct retired **link = &self.retired;

	while (*link != NULL) {
		struct retired *retired = *link;

		if (retired->ranges != NULL && retired->ranges->generation >= oldest) {
			link = &retired->next;
			continue;
		}
		*link = retired->next;
		free((void *)retired->ranges);
		free(retired);
	}
}
