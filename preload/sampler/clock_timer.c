/* SPDX-License-Identifier: MIT */
/* clock_timer.c - timer_create on another thread's CPU clock. */
#include "preload/sampler/clock_timer.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_SECOND = 1000000000 };

/* include/linux/posix-timers.h: ~tid above three bits, CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED. */
static clockid_t thread_cpu_clock(pid_t tid)
{
	return (clockid_t)(~(unsigned int)tid << 3 | 4 | 2);
}

/* 1..PERIOD_NS, so that threads that start together do not tick together. */
static long first_expiry_ns(pid_t tid, long period_ns)
{
	struct timespec now;
	uint64_t x;

	clock_gettime(CLOCK_MONOTONIC, &now);
	x = (uint64_t)now.tv_nsec ^ ((uint64_t)tid << 32);
	/* The finalizer of splitmix64. */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (long)(x % (uint64_t)period_ns) + 1;
}

/* What thread.h calls a mark: the kernel's number and 1, and above them the timer's signal. */
static long mark_of(int id, int signo)
{
	return (long)signo << 32 | ((long)id + 1);
}

static int id_of(long mark)
{
	return (int)((mark & 0xffffffff) - 1);
}

static bool is_of_another(atomic_long *mark, int signo)
{
	long value = atomic_load_explicit(mark, memory_order_seq_cst);

	return value != 0 && value >> 32 != signo;
}

bool clock_timer_has_other(struct thread *thread, int signo)
{
	return is_of_another(&thread->timer_mark, signo) ||
	       is_of_another(&thread->paused_mark, signo);
}

static void drop_paused(struct thread *thread)
{
	long mark = atomic_exchange_explicit(&thread->paused_mark, 0, memory_order_seq_cst);

	if (mark != 0)
		syscall(SYS_timer_delete, id_of(mark));
}

int clock_timer_arm(struct thread *thread, int signo, uint64_t period)
{
	long period_ns = (long)period;
	long first_ns = first_expiry_ns(thread->tid, period_ns);
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = signo,
		.sigev_value.sival_ptr = thread,
	};
	struct itimerspec times = {
		.it_interval = { period_ns / NS_PER_SECOND, period_ns % NS_PER_SECOND },
		.it_value = { first_ns / NS_PER_SECOND, first_ns % NS_PER_SECOND },
	};
	long none = 0;
	int id;

	drop_paused(thread);
	thread->was_resumed = false;
	event._sigev_un._tid = thread->tid;
	if (syscall(SYS_timer_create, thread_cpu_clock(thread->tid), &event, &id) != 0)
		return -errno;
	if (syscall(SYS_timer_settime, id, 0, &times, NULL) != 0) {
		int err = -errno;

		syscall(SYS_timer_delete, id);
		return err;
	}
	/* The thread may have taken its paused one up again meanwhile. */
	if (!atomic_compare_exchange_strong(&thread->timer_mark, &none, mark_of(id, signo)))
		syscall(SYS_timer_delete, id);
	return 0;
}

static uint64_t in_ns(const struct itimerspec *times)
{
	return (uint64_t)times->it_value.tv_sec * NS_PER_SECOND + (uint64_t)times->it_value.tv_nsec;
}

/*
 * The kernel looks at such timers when it ticks. A timer that is stopped between its time and the
 * next of those ticks says that it has its next period to go, or nothing.
 */
static bool missed_a_tick(const struct thread *thread, uint64_t before_ns, uint64_t left_ns)
{
	if (!thread->was_resumed || thread->handler_runs != thread->runs_at_resume)
		return false;
	return left_ns <= 1 || left_ns > before_ns;
}

void clock_timer_pause(struct thread *thread)
{
	const struct itimerspec never = { 0 };
	struct itimerspec before;
	long mark = atomic_exchange_explicit(&thread->timer_mark, 0, memory_order_seq_cst);

	if (mark == 0)
		return;
	before = thread->paused;
	if (syscall(SYS_timer_settime, id_of(mark), 0, &never, &thread->paused) != 0) {
		syscall(SYS_timer_delete, id_of(mark));
		return;
	}
	/* At once, when it goes on: the kernel's next tick will see it. */
	if (missed_a_tick(thread, in_ns(&before), in_ns(&thread->paused)))
		thread->paused.it_value = (struct timespec){ .tv_nsec = 1 };
	drop_paused(thread);
	atomic_store_explicit(&thread->paused_mark, mark, memory_order_seq_cst);
}

bool clock_timer_resume(struct thread *thread)
{
	long mark = atomic_exchange_explicit(&thread->paused_mark, 0, memory_order_seq_cst);
	long none = 0;

	if (mark == 0)
		return false;
	thread->was_resumed = true;
	thread->runs_at_resume = thread->handler_runs;
	if (syscall(SYS_timer_settime, id_of(mark), 0, &thread->paused, NULL) != 0 ||
	    !atomic_compare_exchange_strong(&thread->timer_mark, &none, mark)) {
		syscall(SYS_timer_delete, id_of(mark));
		return none != 0;
	}
	return true;
}

void clock_timer_disarm(struct thread *thread)
{
	/* seq_cst, as the store: sampler_stop() sets its flag before, clocks.c looks at it after */
	long mark = atomic_exchange_explicit(&thread->timer_mark, 0, memory_order_seq_cst);

	if (mark != 0)
		syscall(SYS_timer_delete, id_of(mark));
	drop_paused(thread);
}
