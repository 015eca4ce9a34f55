/* SPDX-License-Identifier: MIT */
/* clocks.c - gives threads their clocks, and takes them away. Threads: as clocks.h says. */
#include "preload/sampler/clocks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/clock_perf.h"
#include "preload/sampler/clock_timer.h"
#include "preload/sampler/signal.h"
#include "preload/sampler/tasks.h"
#include "preload/sig/handler.h"

enum { MASK_CHECK_NS = 100000000 };

#define SECOND_NS UINT64_C(1000000000)

static struct {
	atomic_uint hz;
	atomic_uint periods; /* of that rate, between two ticks */
	atomic_int clock;    /* enum clock_kind; falls back once a session, on our thread */
	const char *_Atomic why;
	atomic_int our_tid; /* of the thread that calls sampler_work() */
} self;

int clocks_signal(void)
{
	return signal_number();
}

bool clocks_are_stopped(void)
{
	return atomic_load_explicit(&handler_setup.stopped, memory_order_seq_cst);
}

bool clocks_need_our_thread(void)
{
	return atomic_load_explicit(&self.clock, memory_order_relaxed) == CLOCK_PERF_EVENT;
}

bool clocks_has(struct thread *thread)
{
	return atomic_load_explicit(&thread->timer_mark, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&thread->perf_fd, memory_order_relaxed) >= 0;
}

void clocks_set_our_thread(void)
{
	atomic_store_explicit(&self.our_tid, (int)syscall(SYS_gettid), memory_order_relaxed);
}

int clocks_start(uint32_t hz)
{
	bool is_fast = hz > CLOCKS_TICK_HZ;
	int signo = signal_take(is_fast);

	if (signo < 0)
		return signo;
	atomic_store_explicit(&self.hz, hz, memory_order_relaxed);
	clocks_set_periods(1);
	atomic_store_explicit(&self.why, NULL, memory_order_relaxed);
	atomic_store_explicit(&self.clock, is_fast ? CLOCK_PERF_EVENT : CLOCK_CPU_TIMER,
			      memory_order_relaxed);
	return 0;
}

/* ---- who may have one ------------------------------------------------------------------------ */

/*
 * A signal that is blocked waits, and a thread that then calls sigwait() gets it instead of what it
 * waits for: threads that block ours get no clock while they do.
 */
static void note_mask(struct thread *thread, bool blocks)
{
	if (blocks && !thread->blocking_was_told) {
		thread->blocking_was_told = true;
		stat_count(STAT_THREADS_BLOCKING);
		log_line(LOG_INFO,
			 "thread %d (%s) blocks signal %d: it is not sampled while it does",
			 thread->tid, thread->name, clocks_signal());
	}
	thread->blocks_signal = blocks;
}

/* It does not keep signals off: it, or another thread, waits for this one. */
static void leave_if_waited_for(bool blocks_urgent, bool blocks_profiling)
{
	if (blocks_urgent && !blocks_profiling && clocks_signal() == SIGURG)
		signal_leave_urgent();
}

static bool own_mask_blocks(void)
{
	sigset_t mask;

	if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0)
		return false;
	leave_if_waited_for(sigismember(&mask, SIGURG) == 1, sigismember(&mask, SIGPROF) == 1);
	return sigismember(&mask, clocks_signal()) == 1;
}

/* Our thread. */
static bool task_mask_blocks(pid_t tid)
{
	uint64_t mask = tasks_blocked(tid); /* one reading: it may be of a moment */

	leave_if_waited_for(tasks_has(mask, SIGURG), tasks_has(mask, SIGPROF));
	return tasks_has(mask, clocks_signal());
}

/* It has called since our last look: as it says, and its mask will be by our next. */
static bool is_masked_by_call(struct thread *thread, uint64_t now_ns)
{
	unsigned int calls = atomic_load_explicit(&thread->mask_calls, memory_order_seq_cst);

	if (calls == thread->mask_seen)
		return false;
	thread->mask_seen = calls;
	thread->mask_check_ns = (calls & 1) != 0 ? now_ns + MASK_CHECK_NS : 0;
	return (calls & 1) != 0;
}

/*
 * Our thread: THREAD's mask, looked at anew now and then; a mask that was set by a call may have
 * been taken back by a longjmp, or by a handler's return.
 */
static bool mask_blocks(struct thread *thread, uint64_t now_ns)
{
	atomic_store_explicit(&thread->wants_clock, false, memory_order_relaxed);
	if (is_masked_by_call(thread, now_ns)) {
		thread->blocks_signal = true;
		return true;
	}
	if (now_ns >= thread->mask_check_ns) {
		note_mask(thread, task_mask_blocks(thread->tid));
		thread->mask_check_ns = now_ns + MASK_CHECK_NS;
	}
	return thread->blocks_signal;
}

/* ---- arming ---------------------------------------------------------------------------------- */

void clocks_set_periods(uint32_t periods)
{
	atomic_store_explicit(&self.periods, periods, memory_order_relaxed);
}

/* From now on a tick of THREAD's clock stands for so much. */
static uint64_t choose_period_ns(struct thread *thread)
{
	uint32_t periods = atomic_load_explicit(&self.periods, memory_order_relaxed);

	atomic_store_explicit(&thread->periods, periods, memory_order_relaxed);
	return SECOND_NS / atomic_load_explicit(&self.hz, memory_order_relaxed) * periods;
}

/* It may get a clock again and again. */
static void count_once(struct thread *thread)
{
	if (!thread->was_counted)
		stat_count(STAT_THREADS);
	thread->was_counted = true;
}

/* Timers are refused, and perf_event was not tried yet: our thread is to arm it. */
static void turn_to_perf(int err)
{
	int kind = CLOCK_CPU_TIMER;

	if (!atomic_compare_exchange_strong(&self.clock, &kind, CLOCK_PERF_EVENT))
		return;
	atomic_store_explicit(&self.why, "timer_create is refused", memory_order_relaxed);
	log_line(LOG_INFO, "timer_create: %s; sampling with perf_event", strerror(-err));
	signal_take(true);
	if (state.wake != NULL)
		state.wake();
}

/* The thread, by the answer of whoever was to make its clock. */
static bool is_gone(int err)
{
	return err == -EINVAL || err == -ESRCH;
}

static void give_up(struct thread *thread, int err)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	thread->clock_failed = true;
	stat_count(STAT_CLOCK_FAILED);
	log_line(LOG_DEBUG, "no clock for thread %d: %s", thread->tid, strerror(-err));
	if (!is_gone(err))
		log_once(&said, "no clock for a thread (%s): such threads are not sampled",
			 strerror(-err));
}

static void arm_timer(struct thread *thread)
{
	bool is_first_choice =
		atomic_load_explicit(&self.clock, memory_order_relaxed) == CLOCK_CPU_TIMER;
	int err = clock_timer_arm(thread, clocks_signal(), choose_period_ns(thread));

	if (err != 0) {
		if (is_first_choice && !is_gone(err))
			turn_to_perf(err);
		else
			give_up(thread, err);
		return;
	}
	count_once(thread);
	/* sampler_stop() sets the flag before it looks for timers: one of us deletes this. */
	if (clocks_are_stopped())
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
		 strerror(-err), CLOCKS_TICK_HZ);
}

static void arm_perf(struct thread *thread)
{
	int err = clock_perf_arm(thread, clocks_signal(), choose_period_ns(thread));

	switch (err) {
	case 0:
		count_once(thread);
		/* As in arm_timer(): exit() may have stopped us on another thread. */
		if (clocks_are_stopped())
			clock_perf_disarm(thread);
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

void clocks_arm_own(struct thread *thread)
{
	if (clocks_are_stopped() || clocks_signal() == 0)
		return;
	note_mask(thread, own_mask_blocks());
	if (thread->blocks_signal && !thread->was_born_blocked) {
		thread->was_born_blocked = true;
		thread->entries_until_look = 0;
		thread->look_gap = 1;
	}
	if (!thread->blocks_signal && !clocks_need_our_thread() && !clocks_has(thread) &&
	    !thread->clock_failed)
		arm_timer(thread);
}

bool clocks_may_arm_now(struct thread *thread)
{
	enum { LONGEST_GAP = 1024 };

	if (thread->entries_until_look-- > 0)
		return false;
	if (own_mask_blocks()) {
		thread->entries_until_look = thread->look_gap;
		if (thread->look_gap < LONGEST_GAP)
			thread->look_gap *= 2;
		return false;
	}
	thread->was_born_blocked = false;
	return !clocks_has(thread);
}

/* It has a clock that sends a signal which the host has taken since. */
static bool sends_another(struct thread *thread)
{
	return clock_timer_has_other(thread, clocks_signal()) ||
	       (atomic_load_explicit(&thread->perf_fd, memory_order_relaxed) >= 0 &&
		thread->perf_signo != clocks_signal());
}

/* ... or one of an earlier rate. */
static bool has_old_clock(struct thread *thread)
{
	if (sends_another(thread))
		return true;
	/* One that its thread has stopped may wait until it runs. */
	return clocks_has(thread) &&
	       atomic_load_explicit(&thread->periods, memory_order_relaxed) !=
		       atomic_load_explicit(&self.periods, memory_order_relaxed);
}

/* It had a clock until now, and blocks nothing by a call: its mask need not be looked at. */
static bool is_known_to_be_open(struct thread *thread)
{
	unsigned int calls = atomic_load_explicit(&thread->mask_calls, memory_order_seq_cst);

	if ((calls & 1) != 0)
		return false;
	thread->mask_seen = calls;
	return true;
}

/* True when the thread may get a new one at once: libc blocks all signals at times, for a moment.
 */
static bool drop_old_clock(struct thread *thread)
{
	bool is_of_now = clocks_has(thread) && !sends_another(thread);

	if (!has_old_clock(thread))
		return false;
	clocks_disarm(thread);
	/* What is known of its mask may be of another signal. */
	thread->mask_check_ns = 0;
	return is_of_now && is_known_to_be_open(thread);
}

void clocks_arm(struct thread *thread, uint64_t now_ns)
{
	bool is_open = drop_old_clock(thread);

	/* Masks of threads that have a clock are looked at by the scan, a few at a time. */
	if (clocks_has(thread) || thread->clock_failed || (!is_open && mask_blocks(thread, now_ns)))
		return;
	if (clocks_need_our_thread() && !thread->keeps_timer)
		arm_perf(thread);
	else
		arm_timer(thread);
	/* It sets this before it looks for a clock to stop: one of us sees what the other did. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&thread->mask_calls, memory_order_seq_cst) != thread->mask_seen)
		clocks_disarm(thread);
}

void clocks_forget_failure(struct thread *thread)
{
	thread->clock_failed = false;
	thread->mask_check_ns = 0;
}

void clocks_disarm(struct thread *thread)
{
	clock_timer_disarm(thread);
	if (atomic_load_explicit(&self.our_tid, memory_order_relaxed) == (int)syscall(SYS_gettid))
		clock_perf_disarm(thread);
}

struct sampler_info clocks_info(void)
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
		.signal = clocks_signal(),
		.periods = atomic_load_explicit(&self.periods, memory_order_relaxed),
		.requested_hz = atomic_load_explicit(&self.hz, memory_order_relaxed),
	};
}
