/* SPDX-License-Identifier: MIT */
/* blocks.c - one reserved table of thread blocks. */
#include "preload/sampler/blocks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/sampler/pool.h"

/* A wrapper on the ending thread may still hold its block; a signal may still carry it. */
enum { GRACE_NS = 1000000000 };

int blocks_start(void)
{
	size_t size = BLOCKS_MAX * sizeof(struct thread);
	void *table;

	if (thread_table.blocks != NULL)
		return 0;
	table = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		return -ENOMEM;
	/* A huge page would cost 2 MiB for the first block. */
	madvise(table, size, MADV_NOHUGEPAGE);
	thread_table.blocks = table;
	thread_table.capacity = BLOCKS_MAX;
	return 0;
}

static struct thread *free_block(void)
{
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_relaxed);

	for (uint32_t i = 0; i < count; i++) {
		struct thread *thread = &thread_table.blocks[i];

		if (atomic_load_explicit(&thread->state, memory_order_relaxed) == THREAD_FREE)
			return thread;
	}
	if (count == thread_table.capacity)
		return NULL;
	/* release: pairs with the handler and the readers of the table; a new block is all zero */
	atomic_store_explicit(&thread_table.count, count + 1, memory_order_release);
	return &thread_table.blocks[count];
}

struct thread *blocks_take(pid_t tid)
{
	struct thread *thread = free_block();

	if (thread == NULL)
		return NULL;
	/* Nobody reads a free block but thread_oldest_generation(), and it shows none already. */
	thread->tid = tid;
	thread->start_time = 0;
	memset(thread->name, 0, sizeof(thread->name));
	thread->blocks_signal = false;
	thread->mask_check_ns = 0;
	atomic_store_explicit(&thread->stack_start, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->stack_end, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->resumer_sp, 0, memory_order_relaxed);
	thread->busy = 0;
	thread->had_guest = thread->is_guessed = false;
	thread->handler_runs = 0;
	thread->resumer_wakes = 0;
	thread->code_page = 0;
	thread->code_generation = 0;
	thread->depth = 0;
	thread->clock_failed = false;
	thread->keeps_timer = false;
	thread->blocking_was_told = false;
	thread->was_counted = false;
	thread->was_born_blocked = false;
	thread->mask_seen = 0;
	atomic_store_explicit(&thread->mask_calls, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->wants_clock, false, memory_order_relaxed);
	atomic_store_explicit(&thread->leaves_perf, 0, memory_order_relaxed);
	thread->ended_ns = 0;
	atomic_store_explicit(&thread->perf_fd, -1, memory_order_relaxed);
	/* release: pairs with blocks_is_live() */
	atomic_store_explicit(&thread->state, THREAD_LIVE, memory_order_release);
	return thread;
}

struct thread *blocks_find(pid_t tid)
{
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_relaxed);

	for (uint32_t i = 0; i < count; i++) {
		struct thread *thread = &thread_table.blocks[i];

		if (thread->tid == tid && blocks_is_live(thread))
			return thread;
	}
	return NULL;
}

void blocks_end(struct thread *thread)
{
	/* release: pairs with blocks_recycle() */
	atomic_store_explicit(&thread->state, THREAD_ENDED, memory_order_release);
}

static void recycle(void *context, struct thread *thread)
{
	uint64_t now_ns = *(const uint64_t *)context;
	struct ring *ring;

	/* acquire: pairs with blocks_end() */
	if (atomic_load_explicit(&thread->state, memory_order_acquire) != THREAD_ENDED)
		return;
	if (thread->ended_ns == 0)
		thread->ended_ns = now_ns;
	ring = atomic_load_explicit(&thread->ring, memory_order_acquire);
	if (now_ns - thread->ended_ns < GRACE_NS || (ring != NULL && !ring_is_empty(ring)))
		return;
	atomic_store_explicit(&thread->ring, NULL, memory_order_relaxed);
	if (ring != NULL)
		pool_put_back(ring);
	atomic_store_explicit(&thread->state, THREAD_FREE, memory_order_relaxed);
}

void blocks_recycle(uint64_t now_ns)
{
	blocks_each(recycle, &now_ns);
}

void blocks_each(void (*visit)(void *context, struct thread *thread), void *context)
{
	/* acquire: pairs with free_block() */
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++)
		visit(context, &thread_table.blocks[i]);
}
