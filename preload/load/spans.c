/* SPDX-License-Identifier: MIT */
/*
 * spans.c - a small bounded queue for each class of durations.
 *
 * A writer claims a cell by counting `taken` up, fills it and marks it with the round; our thread
 * begins a new round by setting `taken` back. A cell that was claimed and not yet filled at that
 * moment carries the old round's mark and is dropped.
 */
#include "preload/load/spans.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum {
	CLASSES = 160, /* four for each doubling, from 1 ns to 2^40 ns, which is 18 minutes */
	CELLS = 128,
};

/* Atomic, for who was late may still write when the cell is in use again. */
struct cell {
	atomic_ullong start_ns, duration_ns;
	atomic_uint name, thread_id;
	atomic_uint round; /* in which it was filled, from 1; release, pairs with visit_class() */
};

static struct queue {
	atomic_ullong taken; /* the round in the upper half, cells claimed in it in the lower */
	struct cell cells[CELLS];
} queues[CLASSES];

static atomic_ullong unvisited; /* found no cell */
static atomic_uint forks;	/* so many processes up: threads have other numbers in each */

static uint32_t class_of(uint64_t duration_ns)
{
	uint32_t log2, quarter, class;

	if (duration_ns < 4)
		return 0;
	log2 = 63 - (uint32_t)__builtin_clzll(duration_ns);
	quarter = (uint32_t)(duration_ns >> (log2 - 2)) & 3;
	class = 4 * log2 + quarter;
	return class < CLASSES ? class : CLASSES - 1;
}

static uint32_t thread_number(void)
{
	static __thread __attribute__((tls_model("initial-exec"))) struct {
		pid_t thread; /* 0: not asked for yet */
		uint32_t forks;
	} known;
	uint32_t now = atomic_load_explicit(&forks, memory_order_relaxed);

	if (known.thread == 0 || known.forks != now) {
		known.forks = now;
		known.thread = (pid_t)syscall(SYS_gettid);
	}
	return (uint32_t)known.thread;
}

static void fill(struct cell *cell, uint32_t name, uint64_t start_ns, uint64_t duration_ns)
{
	atomic_store_explicit(&cell->start_ns, start_ns, memory_order_relaxed);
	atomic_store_explicit(&cell->duration_ns, duration_ns, memory_order_relaxed);
	atomic_store_explicit(&cell->name, name, memory_order_relaxed);
	atomic_store_explicit(&cell->thread_id, thread_number(), memory_order_relaxed);
}

void spans_add(uint32_t name, uint64_t start_ns, uint64_t duration_ns)
{
	struct queue *queue = &queues[class_of(duration_ns)];
	uint64_t taken = atomic_load_explicit(&queue->taken, memory_order_relaxed);
	struct cell *cell;

	/* Once it is full nobody claims any more, so that the lower half never runs over. */
	if ((uint32_t)taken < CELLS)
		taken = atomic_fetch_add_explicit(&queue->taken, 1, memory_order_acquire);
	if ((uint32_t)taken >= CELLS) {
		atomic_fetch_add_explicit(&unvisited, 1, memory_order_relaxed);
		return;
	}
	cell = &queue->cells[(uint32_t)taken];
	fill(cell, name, start_ns, duration_ns);
	atomic_store_explicit(&cell->round, (uint32_t)(taken >> 32) + 1, memory_order_release);
}

/* False when it was claimed and not filled in ROUND. */
static bool read_cell(const struct cell *cell, uint32_t round, struct span *span)
{
	if (atomic_load_explicit(&cell->round, memory_order_acquire) != round)
		return false;
	*span = (struct span){
		.start_ns = atomic_load_explicit(&cell->start_ns, memory_order_relaxed),
		.duration_ns = atomic_load_explicit(&cell->duration_ns, memory_order_relaxed),
		.name = atomic_load_explicit(&cell->name, memory_order_relaxed),
		.thread_id = atomic_load_explicit(&cell->thread_id, memory_order_relaxed),
	};
	return true;
}

/* VISIT is set to NULL once it answered false. The number of calls that were not visited. */
static uint64_t visit_class(struct queue *queue,
			    bool (**visit)(void *context, const struct span *span), void *context)
{
	uint64_t taken = atomic_load_explicit(&queue->taken, memory_order_relaxed), left = 0;
	uint32_t round = (uint32_t)(taken >> 32), count;
	struct span span;

	if ((uint32_t)taken == 0)
		return 0;
	taken = atomic_exchange_explicit(&queue->taken, ((uint64_t)round + 1) << 32,
					 memory_order_acq_rel);
	count = (uint32_t)taken < CELLS ? (uint32_t)taken : CELLS;
	for (uint32_t i = 0; i < count; i++) {
		bool is_whole = *visit != NULL && read_cell(&queue->cells[i], round + 1, &span);

		if (is_whole && !(*visit)(context, &span))
			*visit = NULL;
		left += *visit == NULL || !is_whole;
	}
	return left;
}

uint64_t spans_collect(bool (*visit)(void *context, const struct span *span), void *context)
{
	uint64_t left = 0;

	for (uint32_t i = CLASSES; i-- > 0;)
		left += visit_class(&queues[i], &visit, context);
	return left + atomic_exchange_explicit(&unvisited, 0, memory_order_relaxed);
}

void spans_fork_child(void)
{
	atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
	spans_collect(NULL, NULL);
}
