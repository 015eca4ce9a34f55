/* SPDX-License-Identifier: MIT */
/*
 * reach.h - may the handler read this address?
 *
 * Between the stack pointer and the end of an ordinary stack: yes, without asking. Anywhere else
 * the kernel is asked once a page: rt_sigprocmask copies the new mask in before it refuses an
 * invalid `how`, so EFAULT means unmapped and EINVAL means mapped. Every sandbox allows that call,
 * and it never changes anything. About 90 ns; the last good page is remembered. Signals:
 * async-signal-safe. Another thread may unmap a page after the answer; the stacks and engine
 * records that are read here belong to the running thread.
 */
#ifndef PRELOAD_SIG_REACH_H
#define PRELOAD_SIG_REACH_H

#include "symtab/base.h"

struct thread;

struct reach {
	uintptr_t low, high; /* readable without asking; both 0: nothing is */
	uintptr_t page;	     /* the last page the kernel said yes to; 1: none */
};

enum { REACH_PAGE = 4096 };

/* What a thread whose stack pointer is SP may read. True when SP is on THREAD's ordinary stack. */
bool reach_init(struct reach *reach, const struct thread *thread, uintptr_t sp);

/* Asks the kernel, or remembers, whether the page that holds ADDRESS is readable. */
bool reach_page(struct reach *reach, uintptr_t address);

/* The end of the readable part of [FROM, TO); FROM when none of it is. */
uintptr_t reach_span(struct reach *reach, uintptr_t from, uintptr_t to);

/* Whether the word at ADDRESS is aligned and readable. */
static inline bool reach_word(struct reach *reach, uintptr_t address)
{
	if ((address & 7) != 0)
		return false;
	if (address >= reach->low && address < reach->high)
		return true;
	return reach_page(reach, address);
}

/* The same without asking the kernel. */
static inline bool reach_knows_word(const struct reach *reach, uintptr_t address)
{
	return (address & 7) == 0 && ((address >= reach->low && address < reach->high) ||
				      (address & ~(uintptr_t)(REACH_PAGE - 1)) == reach->page);
}

#endif /* PRELOAD_SIG_REACH_H */
