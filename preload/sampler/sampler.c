/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - gives every thread of the host a block and a clock, and takes them away again.
 *
 * Threads: `lock` guards the taking of blocks and the arming of clocks. A host thread takes it once
 * in its life (adopt), ours at each turn. sampler_stop() does without it, for it also runs in exit.
 */
#include "preload/sampler/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/clock_perf.h"
#include "preload/sampler/clocks.h"
#include "preload/sampler/mask.h"
#include "preload/sampler/pool.h"
#include "preload/sampler/scan.h"
#include "preload/sampler/signal.h"
#include "preload/sampler/tasks.h"
#include "preload/sig/handler.h"

enum {
	SCAN_NS = 500000000,
	SIGNAL_CHECK_NS = 1000000000,
	/* While nothing is sampled our thread sleeps, but for so many blocks to be recycled. */
	ENDS_BEFORE_WAKE = BLOCKS_MAX / 8,
};

static struct {
	pthread_mutex_t lock;
	atomic_bool prepared;
	uint64_t next_scan_ns, next_signal_check_ns;
	int waiting_for_ring; /* counted in a turn */
	atomic_uint ends;     /* of threads that said so */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Before the clock, so that the handler has them from the first tick on. */
static void describe_own(struct thread *thread)
{
	uintptr_t start, end;

	/* Once known, the name is our thread's to write: it also reads it. */
	if (thread->name[0] == '\0')
		prctl(PR_GET_NAME, thread->name);
	if (!tasks_own_stack(&start, &end))
		return;
	atomic_store_explicit(&thread->stack_start, start, memory_order_relaxed);
	/* release: pairs with reach_init() */
	atomic_store_explicit(&thread->stack_end, end, memory_order_release);
}

static struct thread *adopt_under_lock(pid_t tid)
{
	struct thread *thread = blocks_find(tid);

	if (thread == NULL)
		thread = blocks_take(tid);
	if (thread == NULL) {
		stat_count(STAT_CLOCK_FAILED);
		return NULL;
	}
	describe_own(thread);
	clocks_arm_own(thread);
	return thread;
}

static void wake_our_thread(void)
{
	if (state.wake != NULL)
		state.wake();
}

/* state.adopt_thread */
static struct thread *adopt(void)
{
	int saved_errno = errno;
	struct thread *thread = sig_self;

	if ((thread != NULL && (!thread->was_born_blocked || !clocks_may_arm_now(thread))) ||
	    !atomic_load_explicit(&self.prepared, memory_order_acquire))
		return thread;
	pthread_mutex_lock(&self.lock);
	thread = adopt_under_lock((pid_t)syscall(SYS_gettid));
	pthread_mutex_unlock(&self.lock);
	sig_self = thread;
	if (thread != NULL && clocks_need_our_thread() && !clocks_are_stopped() &&
	    !clocks_has(thread))
		wake_our_thread();
	errno = saved_errno;
	return thread;
}

/* ---- start and stop -------------------------------------------------------------------------- */

int sampler_prepare(void)
{
	int err = blocks_start();

	/* Whatever the rate: a later session may have another, with handlers under way. */
	if (err == 0)
		err = clock_perf_start();
	if (err != 0 || atomic_load_explicit(&self.prepared, memory_order_acquire))
		return err;
	atomic_store_explicit(&handler_setup.stopped, true, memory_order_seq_cst);
	handler_setup.pid = getpid();
	state.adopt_thread = adopt;
	/* release: pairs with adopt() */
	atomic_store_explicit(&self.prepared, true, memory_order_release);
	return 0;
}

static size_t ring_size_for(uint32_t hz)
{
	return (size_t)(hz > CLOCKS_TICK_HZ ? POOL_FAST_RING_SIZE : POOL_RING_SIZE)
	       << handler_setup.whole_stacks;
}

/*
 * A ring of an earlier session that is too small for this one. Nothing is sampled: a handler that
 * shows a generation is the last of that session and keeps its ring; one that shows none finds no
 * ring here. seq_cst: pairs with thread_ranges_begin().
 */
static void replace_ring(struct thread *thread)
{
	struct ring *ring = atomic_load_explicit(&thread->ring, memory_order_acquire);

	if (ring == NULL || !pool_is_outgrown(ring) || !ring_is_empty(ring))
		return;
	atomic_store_explicit(&thread->ring, NULL, memory_order_seq_cst);
	if (atomic_load_explicit(&thread->generation, memory_order_seq_cst) == 0)
		pool_put_back(ring);
	else
		atomic_store_explicit(&thread->ring, ring, memory_order_release);
}

static void begin_session(void *context, struct thread *thread)
{
	(void)context;
	clocks_forget_failure(thread);
	replace_ring(thread);
}

int sampler_start(uint32_t hz, uint64_t ring_memory)
{
	int err = sampler_prepare();

	if (err == 0)
		err = pool_start(ring_size_for(hz), ring_memory);
	if (err == 0)
		err = clocks_start(hz);
	if (err != 0)
		return err;
	pthread_mutex_lock(&self.lock);
	blocks_each(begin_session, NULL);
	/* Threads may have come and gone, and the host may have taken the signal. */
	self.next_scan_ns = self.next_signal_check_ns = 0;
	atomic_store_explicit(&handler_setup.stopped, false, memory_order_seq_cst);
	pthread_mutex_unlock(&self.lock);
	return 0;
}

static void serve(void *context, struct thread *thread)
{
	uint64_t now_ns = *(const uint64_t *)context;

	if (!blocks_is_live(thread)) {
		/* The thread that ended could not close what is in our table, and may have got a
		 * timer just then. */
		clocks_disarm(thread);
		return;
	}
	mask_serve(thread);
	if (atomic_load_explicit(&thread->ring, memory_order_relaxed) == NULL)
		self.waiting_for_ring++;
	clocks_arm(thread, now_ns);
}

static void stop_clock(void *context, struct thread *thread)
{
	(void)context;
	clocks_disarm(thread);
}

static uint64_t work_stopped(uint64_t now_ns)
{
	blocks_each(stop_clock, NULL);
	pthread_mutex_lock(&self.lock);
	blocks_recycle(now_ns);
	pthread_mutex_unlock(&self.lock);
	return UINT64_MAX;
}

uint64_t sampler_work(uint64_t now_ns)
{
	if (!atomic_load_explicit(&self.prepared, memory_order_acquire))
		return now_ns + SCAN_NS;
	clocks_set_our_thread();
	if (clocks_are_stopped())
		return work_stopped(now_ns);
	if (now_ns >= self.next_signal_check_ns) {
		signal_check();
		self.next_signal_check_ns = now_ns + SIGNAL_CHECK_NS;
	}
	pthread_mutex_lock(&self.lock);
	if (now_ns >= self.next_scan_ns) {
		scan_threads((pid_t)syscall(SYS_gettid), clocks_signal());
		self.next_scan_ns = now_ns + SCAN_NS;
	}
	self.waiting_for_ring = 0;
	blocks_each(serve, &now_ns);
	blocks_recycle(now_ns);
	pthread_mutex_unlock(&self.lock);
	pool_fill((unsigned int)self.waiting_for_ring);
	return self.next_scan_ns;
}

static void count_busy(void *context, struct thread *thread)
{
	/* seq_cst: pairs with thread_ranges_begin() */
	if (atomic_load_explicit(&thread->generation, memory_order_seq_cst) != 0)
		++*(int *)context;
}

void sampler_stop(void)
{
	enum { TRIES = 50, PAUSE_NS = 100000 };
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int saved_errno = errno;
	int busy = 1;

	atomic_store_explicit(&handler_setup.stopped, true, memory_order_seq_cst);
	blocks_each(stop_clock, NULL);
	/* Running handlers finish their sample; one that is not scheduled is not waited for. */
	for (int i = 0; i < TRIES && busy > 0; i++) {
		busy = 0;
		blocks_each(count_busy, &busy);
		if (busy > 0)
			nanosleep(&pause, NULL);
	}
	errno = saved_errno;
}

bool sampler_runs(void)
{
	return atomic_load_explicit(&self.prepared, memory_order_acquire) && !clocks_are_stopped();
}

struct ring_visit {
	void (*visit)(void *context, struct thread *thread, struct ring *ring);
	void *context;
};

static void visit_ring(void *context, struct thread *thread)
{
	const struct ring_visit *visit = context;
	/* acquire: pairs with the handler that put it there */
	struct ring *ring = atomic_load_explicit(&thread->ring, memory_order_acquire);

	if (ring != NULL)
		visit->visit(visit->context, thread, ring);
}

void sampler_each_ring(void (*visit)(void *context, struct thread *thread, struct ring *ring),
		       void *context)
{
	struct ring_visit all = { visit, context };

	blocks_each(visit_ring, &all);
}

/* Clocks are not inherited: neither timers nor the table in which perf_event's descriptors were. */
static void forget(void *context, struct thread *thread)
{
	struct ring *ring = atomic_exchange_explicit(&thread->ring, NULL, memory_order_relaxed);

	if (ring != NULL)
		pool_put_back(ring);
	atomic_store_explicit(&thread->timer_mark, 0, memory_order_relaxed);
	mask_forget(thread);
	atomic_store_explicit(&thread->perf_fd, -1, memory_order_relaxed);
	atomic_store_explicit(&thread->generation, 0, memory_order_relaxed);
	thread->busy = 0;
	if (thread != context)
		atomic_store_explicit(&thread->state, THREAD_FREE, memory_order_relaxed);
}

void sampler_after_fork(void)
{
	struct thread *mine = sig_self;
	int saved_errno = errno;

	if (!atomic_load_explicit(&self.prepared, memory_order_acquire))
		return;
	self.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	self.next_scan_ns = 0;
	handler_setup.pid = getpid();
	blocks_each(forget, mine);
	/* The fork may have come from inside a guest: wrappers below us hold this block. */
	if (mine != NULL) {
		mine->tid = (pid_t)syscall(SYS_gettid);
		mine->start_time = 0;
		mine->clock_failed = false;
		clocks_arm_own(mine);
	} else {
		adopt();
	}
	errno = saved_errno;
}

void sampler_thread_started(void)
{
	adopt();
}

void sampler_thread_ends(void)
{
	struct thread *thread = sig_self;
	int saved_errno = errno;

	if (thread == NULL)
		return;
	sig_self = NULL;
	clocks_disarm(thread);
	blocks_end(thread);
	if (clocks_are_stopped() &&
	    atomic_fetch_add_explicit(&self.ends, 1, memory_order_relaxed) % ENDS_BEFORE_WAKE ==
		    ENDS_BEFORE_WAKE - 1)
		wake_our_thread();
	errno = saved_errno;
}

void sampler_set_periods(uint32_t periods)
{
	clocks_set_periods(periods);
}

struct sampler_info sampler_info(void)
{
	return clocks_info();
}
