/* SPDX-License-Identifier: MIT */
/*
 * empty.c - a preload whose handler does nothing: what any sampler by signals costs at least.
 *
 * EMPTY_HZ times per CPU second of the first thread, by the clock that guestprof uses past 250 Hz.
 * At the end it says on stderr how many signals came.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong signals;

static void on_signal(int signo)
{
	(void)signo;
	atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void start(void)
{
	const char *hz = getenv("EMPTY_HZ");
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.wakeup_events = 1,
		.disabled = 1,
	};
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = getpid() };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int fd;

	if (hz == NULL || atoi(hz) <= 0)
		return;
	attr.sample_period = 1000000000 / (unsigned long)atoi(hz);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	sigaction(SIGPROF, &action, NULL);
	if (fd < 0 || fcntl(fd, F_SETFL, O_ASYNC) != 0 || fcntl(fd, F_SETSIG, SIGPROF) != 0 ||
	    fcntl(fd, F_SETOWN_EX, &owner) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		perror("empty: perf_event");
}

__attribute__((destructor)) static void end(void)
{
	fprintf(stderr, "empty: %lu signals\n", (unsigned long)signals);
}
