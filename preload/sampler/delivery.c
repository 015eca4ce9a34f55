/* SPDX-License-Identifier: MIT */
/* delivery.c - signals to ourselves. Threads: ours. */
#include "preload/sampler/delivery.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/sampler/clocks.h"
#include "preload/sampler/signal.h"
#include "preload/sig/handler.h"

enum { ROUNDS = 33 };

static int compare(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

/* By system call: glibc's may be wrapped, and would stop a clock that we do not have. */
static void set_mask(int how, int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	syscall(SYS_rt_sigprocmask, how, &set, NULL, _NSIG / 8);
}

uint64_t delivery_measure_ns(void)
{
	int signo = clocks_signal(), tid = (int)syscall(SYS_gettid);
	uint64_t took_ns[ROUNDS];
	pid_t pid = getpid();

	if (signo == 0 || !signal_is_ours_alone())
		return DELIVERY_USUAL_NS;
	atomic_store(&handler_setup.probed_tid, tid);
	set_mask(SIG_UNBLOCK, signo);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

		syscall(SYS_tgkill, pid, tid, signo);
		took_ns[i] = clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	set_mask(SIG_BLOCK, signo);
	atomic_store(&handler_setup.probed_tid, 0);
	qsort(took_ns, ROUNDS, sizeof(*took_ns), compare);
	return took_ns[ROUNDS / 2];
}
