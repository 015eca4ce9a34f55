/* SPDX-License-Identifier: MIT */
/*
 * mask.c - the functions by which a host blocks signals, and what becomes of the clock.
 *
 * Threads: a block's mask_calls, paused timer and futex belong to its thread; our thread looks at
 * mask_calls before and after it arms a clock (clocks.c). Signals: all but mask_serve() may run in
 * a host's handler, which may interrupt itself here; the inner call then finds the scope guard set,
 * and the mask that it sets ends with that handler.
 */
#include "preload/sampler/mask.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/state.h"
#include "preload/hook/hook.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/clock_perf.h"
#include "preload/sampler/clock_timer.h"
#include "preload/sampler/clocks.h"
#include "preload/sig/handler.h"

enum { LEAVE_NS = 100000000 };

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old);

/* NULL when the thread has no block, and in a vfork child, which runs with our memory. */
static struct thread *own_block(void)
{
	if (!atomic_load_explicit(&state.sampling, memory_order_acquire) ||
	    handler_setup.pid != (pid_t)syscall(SYS_getpid))
		return NULL;
	return sig_self != NULL ? sig_self : blocks_find((pid_t)syscall(SYS_gettid));
}

/* perf_event's descriptor is in our thread's table. */
static void leave_perf(struct thread *thread)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + LEAVE_NS, now;

	atomic_store_explicit(&thread->leaves_perf, 1, memory_order_seq_cst);
	if (state.wake != NULL)
		state.wake();
	/* acquire: pairs with mask_serve() */
	while (atomic_load_explicit(&thread->leaves_perf, memory_order_acquire) == 1 &&
	       (now = clock_ns(CLOCK_MONOTONIC)) < end) {
		struct timespec left = { .tv_nsec = (long)(end - now) };

		syscall(SYS_futex, &thread->leaves_perf, FUTEX_WAIT_PRIVATE, 1, &left, NULL, 0);
	}
}

void mask_serve(struct thread *thread)
{
	if (atomic_load_explicit(&thread->leaves_perf, memory_order_relaxed) != 1)
		return;
	clock_perf_disarm(thread);
	thread->keeps_timer = true;
	/* release: pairs with leave_perf() */
	atomic_store_explicit(&thread->leaves_perf, 0, memory_order_release);
	syscall(SYS_futex, &thread->leaves_perf, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void mask_forget(struct thread *thread)
{
	atomic_store_explicit(&thread->paused_mark, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->mask_calls, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->leaves_perf, 0, memory_order_relaxed);
	thread->mask_seen = 0;
}

void mask_pause(void)
{
	int saved_errno = errno;
	struct thread *thread = own_block();
	unsigned int calls;

	if (thread == NULL)
		return;
	calls = atomic_load_explicit(&thread->mask_calls, memory_order_relaxed);
	/* seq_cst: pairs with clocks_arm(), which arms and then looks at this */
	atomic_store_explicit(&thread->mask_calls, (calls + 1) | 1, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	clock_timer_pause(thread);
	if (atomic_load_explicit(&thread->perf_fd, memory_order_relaxed) >= 0)
		leave_perf(thread);
	errno = saved_errno;
}

void mask_resume(void)
{
	int saved_errno = errno;
	struct thread *thread = own_block();
	unsigned int calls;

	if (thread == NULL)
		return;
	calls = atomic_load_explicit(&thread->mask_calls, memory_order_relaxed);
	if ((calls & 1) == 0 && clocks_has(thread))
		return;
	atomic_store_explicit(&thread->mask_calls, (calls | 1) + 1, memory_order_seq_cst);
	if (clock_timer_resume(thread)) {
		/* sampler_stop() sets the flag before it looks for timers; so does a new signal. */
		if (clocks_are_stopped() || clock_timer_has_other(thread, clocks_signal()))
			clock_timer_disarm(thread);
	}
	if (!clocks_has(thread) && !clocks_are_stopped() && state.wake != NULL &&
	    !atomic_exchange_explicit(&thread->wants_clock, true, memory_order_relaxed)) {
		state.wake();
	}
	errno = saved_errno;
}

/* ---- wrappers -------------------------------------------------------------------------------- */

/* Does SET hold the clocks' signal? False while none was taken. */
static bool holds_ours(const sigset_t *set)
{
	return clocks_signal() != 0 && sigismember(set, clocks_signal()) == 1;
}

/* Says whether the call may end with the signal blocked; then the clock stands still already. */
static bool prepare(int how, const sigset_t *set)
{
	if ((how != SIG_BLOCK && how != SIG_SETMASK) || !holds_ours(set))
		return false;
	mask_pause();
	return true;
}

/* HOW was done with SET, or FAILED. */
static void settle(int how, const sigset_t *set, bool was_paused, bool failed)
{
	if (was_paused ? failed
		       : (how == SIG_UNBLOCK && holds_ours(set)) ||
				 (how == SIG_SETMASK && !holds_ours(set)))
		mask_resume();
}

void mask_resume_unless(const sigset_t *mask)
{
	if (!holds_ours(mask))
		mask_resume();
}

static int change(__typeof__(&sigprocmask) real, int how, const sigset_t *set, sigset_t *old)
{
	sigset_t wanted;
	bool was_paused;
	int result;

	if (set == NULL || !hook_begin())
		return real(how, set, old);
	wanted = *set; /* SET and OLD may be one object */
	was_paused = prepare(how, &wanted);
	hook_end();
	result = real(how, set, old);
	if (hook_begin()) {
		settle(how, &wanted, was_paused, result != 0);
		hook_end();
	}
	return result;
}

HOOK_PLAIN(pthread_sigmask);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(REAL(pthread_sigmask), how, set, old);
}

HOOK_PLAIN(sigprocmask);
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(REAL(sigprocmask), how, set, old);
}
