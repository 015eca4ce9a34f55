/* SPDX-License-Identifier: MIT */
/* reach.c - bounds of ordinary stacks, and page probes for everything else. */
#include "preload/sig/reach.h"

#include <errno.h>
#include <sys/syscall.h>

#include "preload/sig/cpu.h"
#include "preload/sig/thread.h"

/* No `how` of rt_sigprocmask, now or ever: the kernel's are 0, 1 and 2. */
enum { INVALID_HOW = -1, KERNEL_SIGSET_SIZE = 8 };

SIGNAL_SAFE bool reach_init(struct reach *reach, const struct thread *thread, uintptr_t sp)
{
	uintptr_t start = atomic_load_explicit(&thread->stack_start, memory_order_relaxed);
	/* acquire: pairs with the sampler, which stores the end last */
	uintptr_t end = atomic_load_explicit(&thread->stack_end, memory_order_acquire);

	*reach = (struct reach){ .page = 1 };
	if (end == 0 || sp < start || sp >= end)
		return false;
	/* Below sp a stack that grows on demand may not exist yet. */
	reach->low = sp & ~(uintptr_t)7;
	reach->high = end & ~(uintptr_t)7;
	return true;
}

SIGNAL_SAFE bool reach_page(struct reach *reach, uintptr_t address)
{
	uintptr_t page = address & ~(uintptr_t)(REACH_PAGE - 1);

	if (page == reach->page)
		return true;
	if (cpu_syscall(SYS_rt_sigprocmask, INVALID_HOW, (long)page, 0, KERNEL_SIGSET_SIZE) !=
	    -EINVAL)
		return false;
	reach->page = page;
	return true;
}

SIGNAL_SAFE uintptr_t reach_span(struct reach *reach, uintptr_t from, uintptr_t to)
{
	uintptr_t at = from;

	/* what was taken for an address may be any word */
	if (to < from)
		return from;
	while (at < to) {
		if (at >= reach->low && at < reach->high)
			at = reach->high;
		else if (reach_page(reach, at))
			at = (at | (REACH_PAGE - 1)) + 1;
		else
			break;
	}
	return at < to ? at : to;
}
