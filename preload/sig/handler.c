/* SPDX-License-Identifier: MIT */
/*
 * handler.c - the clock signal: whose is it, may we run, how long did it take.
 *
 * Signals: runs with every signal blocked but the synchronous ones (sampler/signal.c), so that no
 * other handler can jump out of it and leave `busy` or a generation behind.
 */
#include "preload/sig/handler.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "preload/base/stats.h"
#include "preload/sig/cpu.h"
#include "preload/sig/tick.h"

enum { MEASURE_EVERY = 64 };

struct handler_setup handler_setup;

/* The block of this thread's last signal: spares asking the kernel for the tid each time. */
static SIG_TLS struct thread *verified;

SIGNAL_SAFE static bool is_block(const struct thread *block)
{
	uintptr_t offset = (uintptr_t)block - (uintptr_t)thread_table.blocks;
	/* acquire: pairs with the sampler's release when it adds blocks */
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_acquire);

	return thread_table.blocks != NULL && offset % sizeof(*block) == 0 &&
	       offset / sizeof(*block) < count;
}

/* Only for signals that name a block of ours; *BLOCK is NULL when that block is gone. */
SIGNAL_SAFE static bool is_ours(const siginfo_t *info, struct thread **block)
{
	switch (info->si_code) {
	case SI_TIMER:
	case SI_QUEUE: /* a signalling thread, by rt_tgsigqueueinfo */
		*block = info->si_value.sival_ptr;
		return is_block(*block);
	case POLL_IN:
	case POLL_OUT:
	case POLL_MSG:
	case POLL_ERR:
	case POLL_PRI:
	case POLL_HUP:
		if (info->si_fd < 0 || info->si_fd >= handler_setup.fd_count)
			return false;
		/* acquire: pairs with the sampler, which fills the block first */
		*block = atomic_load_explicit(&handler_setup.thread_by_fd[info->si_fd],
					      memory_order_acquire);
		return *block != NULL;
	default:
		return false;
	}
}

SIGNAL_SAFE static bool is_mine(struct thread *block)
{
	/* acquire: pairs with the sampler, which fills a block before it is live */
	if (atomic_load_explicit(&block->state, memory_order_acquire) != THREAD_LIVE)
		return false;
	if (block == verified)
		return true;
	if (cpu_syscall(SYS_gettid, 0, 0, 0, 0) != block->tid)
		return false;
	verified = block;
	return true;
}

/*
 * In periods of the rate that was asked for. A tick that was on its way when the clock got another
 * rate counts by the new one: at most one a thread and change.
 */
SIGNAL_SAFE static uint32_t weight_of(const struct thread *thread, const siginfo_t *info)
{
	uint32_t periods = atomic_load_explicit(&thread->periods, memory_order_relaxed);
	int overrun = info->si_code == SI_TIMER ? info->si_overrun : 0;

	if (periods == 0)
		periods = 1;
	if (overrun <= 0)
		return periods;
	stat_add(STAT_OVERRUNS, (unsigned long long)overrun);
	return ((uint32_t)overrun + 1) * periods;
}

/*
 * One of those that our thread sends itself. The kernel forgets who sent a signal when too many
 * wait (RLIMIT_SIGPENDING): it then says that process 0 did.
 */
SIGNAL_SAFE static bool is_probe(const siginfo_t *info)
{
	int tid = atomic_load_explicit(&handler_setup.probed_tid, memory_order_relaxed);

	return tid != 0 && tid == cpu_syscall(SYS_gettid, 0, 0, 0, 0) &&
	       (info->si_code == SI_TKILL || (info->si_code == SI_USER && info->si_pid == 0));
}

/* CPU time, for a handler may be preempted; includes the price of asking, some 0.2 us. */
SIGNAL_SAFE static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

SIGNAL_SAFE static void run(struct thread *thread, const siginfo_t *info, const ucontext_t *context)
{
	struct tick tick = { .thread = thread,
			     .context = context,
			     .weight = weight_of(thread, info) };
	/* Not the first run: its cold caches would count MEASURE_EVERY times. */
	bool measured = thread->handler_runs++ % MEASURE_EVERY == MEASURE_EVERY / 2;
	uint64_t start_ns = measured ? cpu_time_ns() : 0;
	uint64_t before;

	tick.ranges = thread_ranges_begin(thread, &before);
	tick_sample(&tick);
	thread_ranges_end(thread, before);
	if (measured)
		stat_add(STAT_HANDLER_NS, (cpu_time_ns() - start_ns) * MEASURE_EVERY);
}

SIGNAL_SAFE void handler_on_signal(int signo, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	struct thread *thread;

	if (!is_ours(info, &thread)) {
		if (!is_probe(info))
			handler_setup.foreign(signo, info, context);
	} else if (!atomic_load_explicit(&handler_setup.stopped, memory_order_relaxed)) {
		stat_count(STAT_SIGNALS);
		if (!is_mine(thread)) {
			stat_count(STAT_LOST_NO_THREAD);
		} else if (thread->busy) {
			stat_count(STAT_LOST_NESTED);
		} else {
			thread->busy = 1;
			atomic_signal_fence(memory_order_seq_cst);
			run(thread, info, context);
			atomic_signal_fence(memory_order_seq_cst);
			thread->busy = 0;
		}
	}
	errno = saved_errno;
}
