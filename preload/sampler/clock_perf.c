/* SPDX-License-Identifier: MIT */
/* clock_perf.c - perf_event_open, and a signal for each overflow. */
#include "preload/sampler/clock_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sig/handler.h"

enum { MAX_DESCRIPTORS = 65536 };

int clock_perf_start(void)
{
	size_t size = MAX_DESCRIPTORS * sizeof(*handler_setup.thread_by_fd);
	void *table;

	if (handler_setup.thread_by_fd != NULL)
		return 0;
	table = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		return -ENOMEM;
	handler_setup.thread_by_fd = table;
	handler_setup.fd_count = MAX_DESCRIPTORS;
	return 0;
}

static int open_event(pid_t tid, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.wakeup_events = 1, /* a signal for each sample, though there is no buffer */
		.disabled = 1,
		.exclude_hv = 1,
	};
	int fd;

	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return fd >= 0 ? fd : -errno;
	/* perf_event_paranoid 2 keeps the kernel from us: time in system calls is missed. */
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

static int send_signals(int fd, pid_t tid, int signo)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };

	if (fcntl(fd, F_SETFL, O_ASYNC) != 0 || fcntl(fd, F_SETSIG, signo) != 0 ||
	    fcntl(fd, F_SETOWN_EX, &owner) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return -errno;
	return 0;
}

int clock_perf_arm(struct thread *thread, int signo, uint64_t period_ns)
{
	int fd = open_event(thread->tid, period_ns);
	int err;

	if (fd < 0)
		return fd;
	if (fd >= handler_setup.fd_count) {
		close(fd);
		return -EMFILE;
	}
	/*
	 * Before the first signal. Never cleared: a signal that comes after the close still finds a
	 * block, and is swallowed there. release: pairs with the handler.
	 */
	atomic_store_explicit(&handler_setup.thread_by_fd[fd], thread, memory_order_release);
	err = send_signals(fd, thread->tid, signo);
	if (err != 0) {
		close(fd);
		return err;
	}
	thread->perf_signo = signo;
	atomic_store_explicit(&thread->perf_fd, fd, memory_order_relaxed);
	return 0;
}

void clock_perf_disarm(struct thread *thread)
{
	int fd = atomic_exchange_explicit(&thread->perf_fd, -1, memory_order_relaxed);

	if (fd >= 0)
		close(fd);
}
