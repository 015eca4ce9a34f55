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

int clock_timer_arm(struct thread *thread, int signo, uint32_t hz)
{
	long period_ns = NS_PER_SECOND / (long)hz;
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
	int id;

	event._sigev_un._tid = thread->tid;
	if (syscall(SYS_timer_create, thread_cpu_clock(thread->tid), &event, &id) != 0)
		return -errno;
	if (syscall(SYS_timer_settime, id, 0, &times, NULL) != 0) {
		int err = -errno;

		syscall(SYS_timer_delete, id);
		return err;
	}
	thread->timer = (timer_t)(intptr_t)id;
	/* release: pairs with clock_timer_disarm(), which reads the id */
	atomic_store_explicit(&thread->has_timer, true, memory_order_release);
	return 0;
}

void clock_timer_disarm(struct thread *thread)
{
	/* acquire: pairs with clock_timer_arm() */
	if (atomic_exchange_explicit(&thread->has_timer, false, memory_order_acquire))
		syscall(SYS_timer_delete, (int)(intptr_t)thread->timer);
}
