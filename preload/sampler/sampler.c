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
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/clock_perf.h"
#include "preload/sampler/clock_timer.h"
#include "preload/sampler/pool.h"
#include "preload/sampler/scan.h"
#include "preload/sampler/signal.h"
#include "preload/sampler/tasks.h"
#include "preload/sig/handler.h"

enum {
	KERNEL_TICK_HZ = 250, /* above, CPU timers lose ticks: CONFIG_HZ of the usual kernels */
	SCAN_NS = 500000000,
	SIGNAL_CHECK_NS = 1000000000,
	MASK_CHECK_NS = 100000000,
};

static struct {
	pthread_mutex_t lock;
	atomic_bool started;
	uint32_t hz;
	int signo;
	atomic_int clock; /* enum clock_kind; falls back once, on our thread */
	const char *_Atomic why;
	pid_t our_tid; /* of the thread that calls sampler_work() */
	uint64_t next_scan_ns, next_signal_check_ns;
	int waiting_for_ring; /* counted in a turn */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * A signal that is blocked waits, and a thread that then calls sigwait() gets it instead of what it
 * waits for: threads that block ours get no clock while they do.
 */
static void note_mask(struct thread *thread, bool blocks)
{
	if (blocks && !thread->blocks_signal) {
		stat_count(STAT_THREADS_BLOCKING);
		log_line(LOG_INFO,
			 "thread %d (%s) blocks signal %d: it is not sampled while it does",
			 thread->tid, thread->name, self.signo);
	}
	thread->blocks_signal = blocks;
}

static bool own_mask_blocks(void)
{
	sigset_t mask;

	return pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, self.signo) == 1;
}

/* Our thread: THREAD's mask, looked at anew now and then. */
static bool mask_blocks(struct thread *thread, uint64_t now_ns)
{
	if (now_ns >= thread->mask_check_ns) {
		note_mask(thread, tasks_blocks(thread->tid, self.signo));
		thread->mask_check_ns = now_ns + MASK_CHECK_NS;
	}
	return thread->blocks_signal;
}

static bool is_stopped(void)
{
	return atomic_load_explicit(&handler_setup.stopped, memory_order_seq_cst);
}

/* The clock of a thread that has none, as a timer; on any thread, under the lock. */
static void arm_timer(struct thread *thread)
{
	int err = clock_timer_arm(thread, self.signo, self.hz);

	if (err != 0) {
		thread->clock_failed = true;
		stat_count(STAT_CLOCK_FAILED);
		log_line(LOG_DEBUG, "no clock for thread %d: %s", thread->tid, strerror(-err));
		return;
	}
	stat_count(STAT_THREADS);
	/* sampler_stop() sets the flag before it looks for timers: one of us deletes this. */
	if (is_stopped())
		clock_timer_disarm(thread);
}

static void fall_back(int err)
{
	atomic_store_explicit(&self.why,
			      err == -EPERM || err == -EACCES ? "perf_event_open is not permitted"
							      : "perf_event_open is not available",
			      memory_order_relaxed);
	atomic_store_explicit(&self.clock, CLOCK_TIMER_FALLBACK, memory_order_relaxed);
	log_line(LOG_INFO,
		 "perf_event_open: %s; sampling with CPU timers, which tick %d times a second at "
		 "most",
		 strerror(-err), KERNEL_TICK_HZ);
}

/* Our thread only, under the lock. */
static void arm_perf(struct thread *thread)
{
	int err = clock_perf_arm(thread, self.signo, self.hz);

	switch (err) {
	case 0:
		stat_count(STAT_THREADS);
		return;
	case -ESRCH: /* ended meanwhile; the next scan will see it */
		return;
	case -EMFILE: /* this one thread; others keep theirs */
	case -ENFILE:
	case -ENOMEM:
		arm_timer(thread);
		return;
	default:
		fall_back(err);
		arm_timer(thread);
	}
}

static bool has_clock(struct thread *thread)
{
	return atomic_load_explicit(&thread->has_timer, memory_order_relaxed) ||
	       atomic_load_explicit(&thread->perf_fd, memory_order_relaxed) >= 0;
}

static bool uses_perf(void)
{
	return atomic_load_explicit(&self.clock, memory_order_relaxed) == CLOCK_PERF_EVENT;
}

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
	note_mask(thread, own_mask_blocks());
	if (!thread->blocks_signal && !uses_perf() && !has_clock(thread) && !thread->clock_failed &&
	    !is_stopped())
		arm_timer(thread);
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

	if (thread != NULL || !atomic_load_explicit(&self.started, memory_order_acquire))
		return thread;
	pthread_mutex_lock(&self.lock);
	thread = adopt_under_lock((pid_t)syscall(SYS_gettid));
	pthread_mutex_unlock(&self.lock);
	sig_self = thread;
	if (thread != NULL && uses_perf() && !has_clock(thread))
		wake_our_thread();
	errno = saved_errno;
	return thread;
}

int sampler_start(uint32_t hz, uint64_t ring_memory)
{
	bool fast = hz > KERNEL_TICK_HZ;
	int err = blocks_start();

	if (err == 0 && fast)
		err = clock_perf_start();
	if (err == 0)
		err = pool_start((size_t)(fast ? POOL_FAST_RING_SIZE : POOL_RING_SIZE)
					 << handler_setup.whole_stacks,
				 ring_memory);
	if (err != 0)
		return err;
	self.hz = hz;
	atomic_store_explicit(&self.clock, fast ? CLOCK_PERF_EVENT : CLOCK_CPU_TIMER,
			      memory_order_relaxed);
	handler_setup.pid = getpid();
	self.signo = signal_take();
	if (self.signo < 0)
		return self.signo;
	state.adopt_thread = adopt;
	/* release: pairs with adopt() */
	atomic_store_explicit(&self.started, true, memory_order_release);
	return 0;
}

static void serve(void *context, struct thread *thread)
{
	uint64_t now_ns = *(const uint64_t *)context;

	if (!blocks_is_live(thread)) {
		/* The thread that ended could not close what is in our table. */
		clock_perf_disarm(thread);
		return;
	}
	if (atomic_load_explicit(&thread->ring, memory_order_relaxed) == NULL)
		self.waiting_for_ring++;
	/* Masks of threads that have a clock are looked at by the scan, a few at a time. */
	if (has_clock(thread) || thread->clock_failed || mask_blocks(thread, now_ns))
		return;
	if (uses_perf())
		arm_perf(thread);
	else
		arm_timer(thread);
}

static void stop_perf(void *context, struct thread *thread)
{
	(void)context;
	clock_perf_disarm(thread);
}

uint64_t sampler_work(uint64_t now_ns)
{
	if (!atomic_load_explicit(&self.started, memory_order_acquire))
		return now_ns + SCAN_NS;
	self.our_tid = (pid_t)syscall(SYS_gettid);
	if (is_stopped()) {
		blocks_each(stop_perf, NULL);
		return now_ns + SCAN_NS;
	}
	if (now_ns >= self.next_signal_check_ns) {
		signal_check();
		self.next_signal_check_ns = now_ns + SIGNAL_CHECK_NS;
	}
	pthread_mutex_lock(&self.lock);
	if (now_ns >= self.next_scan_ns) {
		scan_threads(self.our_tid, self.signo);
		self.next_scan_ns = now_ns + SCAN_NS;
	}
	self.waiting_for_ring = 0;
	blocks_each(serve, &now_ns);
	blocks_recycle(now_ns);
	pthread_mutex_unlock(&self.lock);
	pool_fill((unsigned int)self.waiting_for_ring);
	return self.next_scan_ns;
}

static void stop_clock(void *context, struct thread *thread)
{
	(void)context;
	clock_timer_disarm(thread);
	if (self.our_tid == (pid_t)syscall(SYS_gettid))
		clock_perf_disarm(thread);
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
	atomic_store_explicit(&thread->has_timer, false, memory_order_relaxed);
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

	if (!atomic_load_explicit(&self.started, memory_order_acquire))
		return;
	self.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	self.our_tid = 0;
	self.next_scan_ns = 0;
	handler_setup.pid = getpid();
	blocks_each(forget, mine);
	/* The fork may have come from inside a guest: wrappers below us hold this block. */
	if (mine != NULL) {
		mine->tid = (pid_t)syscall(SYS_gettid);
		mine->start_time = 0;
		mine->clock_failed = false;
		if (!uses_perf() && !is_stopped())
			arm_timer(mine);
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
	clock_timer_disarm(thread);
	blocks_end(thread);
	errno = saved_errno;
}

struct sampler_info sampler_info(void)
{
	static const char *const names[] = {
		[CLOCK_CPU_TIMER] = "cpu timer",
		[CLOCK_PERF_EVENT] = "perf_event",
		[CLOCK_TIMER_FALLBACK] = "cpu timer (fallback)",
	};
	enum clock_kind clock =
		(enum clock_kind)atomic_load_explicit(&self.clock, memory_order_relaxed);

	return (struct sampler_info){
		.clock = clock,
		.clock_name = names[clock],
		.why = atomic_load_explicit(&self.why, memory_order_relaxed),
		.signal = self.signo,
		.requested_hz = self.hz,
	};
}
