/* SPDX-License-Identifier: MIT */
/* interpreted.c - a few ranges, searched one after another: mostly there are none. */
#include "preload/sig/interpreted.h"

#include "preload/sig/cpu.h"
#include "preload/sig/reach.h"
#include "preload/sig/sample.h"
#include "preload/sig/thread.h"

struct interpreter {
	_Atomic(uintptr_t) start, end; /* end 0: being replaced */
	atomic_uint below_fp;
};

static struct {
	struct interpreter ranges[INTERPRETED_MAX];
	atomic_uint count; /* in use */
	unsigned int next; /* the oldest, once all are in use; the writer's */
} self;

void interpreted_add(uintptr_t start, uintptr_t end, uint32_t below_fp)
{
	unsigned int count = atomic_load_explicit(&self.count, memory_order_relaxed);
	struct interpreter *range;

	for (unsigned int i = 0; i < count; i++)
		if (self.ranges[i].start == start && self.ranges[i].end == end)
			return;
	range = &self.ranges[self.next++ % INTERPRETED_MAX];
	range->end = 0;
	range->start = start;
	range->below_fp = below_fp;
	range->end = end;
	if (count < INTERPRETED_MAX)
		/* release: pairs with interpreted_word() */
		atomic_store_explicit(&self.count, count + 1, memory_order_release);
}

SIGNAL_SAFE bool interpreted_are_there(void)
{
	return atomic_load_explicit(&self.count, memory_order_relaxed) != 0;
}

SIGNAL_SAFE uint64_t interpreted_word(const struct reach *reach, uintptr_t pc, uintptr_t fp)
{
	unsigned int count = atomic_load_explicit(&self.count, memory_order_acquire);
	uintptr_t at;

	for (unsigned int i = 0; i < count; i++) {
		struct interpreter *range = &self.ranges[i];

		if (pc < atomic_load_explicit(&range->start, memory_order_relaxed) ||
		    pc >= atomic_load_explicit(&range->end, memory_order_relaxed))
			continue;
		at = fp - atomic_load_explicit(&range->below_fp, memory_order_relaxed);
		/* on a stack of unknown bounds a frame may begin on a page that nobody asked for */
		if (at > fp || !reach_knows_word(reach, at))
			return 0;
		return SAMPLE_MARK | (cpu_word(at) & (SAMPLE_MARK - 1));
	}
	return 0;
}
