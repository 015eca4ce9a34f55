/* SPDX-License-Identifier: MIT */
/*
 * handled.h - one thread on synthetic code and a synthetic stack (synthetic.h), and a handler that
 * has a ring for it: for tests that take samples. Each test program has its own.
 */
#ifndef TESTS_UNIT_SIG_HANDLED_H
#define TESTS_UNIT_SIG_HANDLED_H

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "tests/unit/sig/synthetic.h"

enum { RING_SIZE = 1 << 19 };
#define PC(name) synthetic_pc(&s, CODE_##name)

static struct synthetic s;
static struct thread blocks[1];
static _Atomic(struct ring *) pool[1];
static atomic_int wake_word;

static void on_foreign(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
}

static void handled_setup(bool whole_stacks)
{
	struct ring *ring = calloc(1, sizeof(*ring) + RING_SIZE);

	assert_non_null(ring);
	ring->size = RING_SIZE;
	synthetic_init(&s);
	memset(blocks, 0, sizeof(blocks));
	blocks[0].tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&blocks[0].state, THREAD_LIVE);
	atomic_store(&blocks[0].stack_start, (uintptr_t)s.stack);
	atomic_store(&blocks[0].stack_end, (uintptr_t)(s.stack + STACK_WORDS));
	thread_table = (struct thread_table){ .blocks = blocks, .capacity = 1 };
	atomic_store(&thread_table.count, 1);
	atomic_store(&pool[0], ring);
	handler_setup = (struct handler_setup){
		.ring_pool = pool,
		.ring_pool_size = 1,
		.wake_word = &wake_word,
		.foreign = on_foreign,
		.copy_slices = true,
		.whole_stacks = whole_stacks,
	};
	ranges_publish(s.ranges);
}

static void handled_teardown(void)
{
	ranges_publish(NULL);
	free(atomic_load(&blocks[0].ring));
	free(atomic_exchange(&pool[0], NULL));
}

#endif /* TESTS_UNIT_SIG_HANDLED_H */
