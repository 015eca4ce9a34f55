/* SPDX-License-Identifier: MIT */
/* flush.c - two counters: so many were asked for, so many are done. Threads: as flush.h says. */
#include "preload/flush.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/turn.h"
#include "preload/wake.h"

static struct {
	atomic_int wanted, done; /* the second is a futex */
} self;

void flush_wait(uint64_t limit_ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ns, now;
	int mine, done;

	if (!turn_has_thread())
		return;
	mine = atomic_fetch_add(&self.wanted, 1) + 1;
	wake_up();
	while ((done = atomic_load(&self.done)) - mine < 0 &&
	       (now = clock_ns(CLOCK_MONOTONIC)) < end) {
		struct timespec left = {
			.tv_sec = (time_t)((end - now) / 1000000000u),
			.tv_nsec = (long)((end - now) % 1000000000u),
		};

		syscall(SYS_futex, &self.done, FUTEX_WAIT_PRIVATE, done, &left, NULL, 0);
	}
}

int flush_wanted(void)
{
	return atomic_load(&self.wanted);
}

bool flush_is_answered(int wanted)
{
	return wanted == atomic_load(&self.done);
}

void flush_answer(int wanted)
{
	if (flush_is_answered(wanted))
		return;
	atomic_store(&self.done, wanted);
	syscall(SYS_futex, &self.done, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void flush_fork_child(void)
{
	atomic_store(&self.done, atomic_load(&self.wanted));
}
