/* SPDX-License-Identifier: MIT */
/*
 * scan.c - finding threads that did not announce themselves, and the end of those that did not say
 * so.
 *
 * A host's threads may be made by clone, or before we were on, or end by a system call.
 */
#include "preload/sampler/scan.h"

#include <stdlib.h>
#include <unistd.h>

#include "preload/base/stats.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/clock_perf.h"
#include "preload/sampler/clock_timer.h"
#include "preload/sampler/tasks.h"

/* Blocks whose thread's name and identity are looked up again: two files each, a few us. */
enum { CHECKS_A_SCAN = 16 };

static struct {
	pid_t our_tid;
	int signo;	     /* of the clocks */
	uint32_t next_check; /* index of the block to look at again */
	int known_count;
	pid_t known[BLOCKS_MAX]; /* tids with a live block, sorted, during a scan */
} self;

static int compare_tids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Ends blocks of threads that are gone without saying so, and lists the others. */
static void list_or_end(void *context, struct thread *thread)
{
	(void)context;
	if (!blocks_is_live(thread))
		return;
	if (tasks_is_alive(thread->tid)) {
		self.known[self.known_count++] = thread->tid;
		return;
	}
	clock_timer_disarm(thread);
	blocks_end(thread);
}

/* The first thread's stack can be told from here. Its handler is not yet armed. */
static void set_main_stack(struct thread *thread)
{
	uintptr_t start, end;

	if (!tasks_main_stack(&start, &end))
		return;
	atomic_store_explicit(&thread->stack_start, start, memory_order_relaxed);
	/* release: pairs with reach_init() */
	atomic_store_explicit(&thread->stack_end, end, memory_order_release);
}

static void meet(void *context, pid_t tid)
{
	struct thread *thread;
	struct task task;

	(void)context;
	if (tid == self.our_tid ||
	    bsearch(&tid, self.known, (size_t)self.known_count, sizeof(tid), compare_tids) != NULL)
		return;
	/* A zombie leader stays in the list until the whole process ends. */
	if (tasks_read(tid, &task) != 0 || task.state == 'Z' || task.state == 'X')
		return;
	/* It may have been adopted since the list was made. */
	if (blocks_find(tid) != NULL)
		return;
	thread = blocks_take(tid);
	if (thread != NULL && tid == getpid())
		set_main_stack(thread);
	if (thread == NULL) {
		stat_count(STAT_CLOCK_FAILED);
		return;
	}
	thread->start_time = task.start_time;
	tasks_read_name(tid, thread->name, sizeof(thread->name));
}

/* A thread renames itself; and its tid may by now be another thread's. */
static void look_again(struct thread *thread)
{
	struct task task;

	if (!blocks_is_live(thread) || tasks_read(thread->tid, &task) != 0)
		return;
	if (thread->start_time != 0 && thread->start_time != task.start_time) {
		clock_timer_disarm(thread);
		blocks_end(thread);
		return;
	}
	thread->start_time = task.start_time;
	tasks_read_name(thread->tid, thread->name, sizeof(thread->name));
	if (tasks_has(tasks_blocked(thread->tid), self.signo)) {
		clock_timer_disarm(thread);
		clock_perf_disarm(thread);
	}
}

static void look_at_some_again(void)
{
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_relaxed);

	for (uint32_t i = 0; i < CHECKS_A_SCAN && i < count; i++)
		look_again(&thread_table.blocks[self.next_check++ % count]);
}

void scan_threads(pid_t our_tid, int signo)
{
	self.known_count = 0;
	self.our_tid = our_tid;
	self.signo = signo;
	blocks_each(list_or_end, NULL);
	qsort(self.known, (size_t)self.known_count, sizeof(self.known[0]), compare_tids);
	tasks_each(meet, NULL);
	look_at_some_again();
}
