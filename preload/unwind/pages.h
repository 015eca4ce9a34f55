/* SPDX-License-Identifier: MIT */
/*
 * pages.h - copies of memory pages of one address range, made at the first look at each.
 *
 * What was copied stays readable when the memory is gone. Threads: one at a time.
 */
#ifndef PRELOAD_UNWIND_PAGES_H
#define PRELOAD_UNWIND_PAGES_H

#include "symtab/base.h"

struct pages {
	uintptr_t low; /* page-aligned */
	size_t count;
	uint8_t **copies; /* COUNT pointers, NULL until the first page is read */
	bool frozen;	  /* the memory is gone: only what was copied can be read */
	bool missed;	  /* a page could not be copied since the owner last cleared this */
	bool fresh;	  /* a page was copied since the owner last cleared this */
};

/* Covers [LOW, HIGH). Allocates nothing yet; ranges above 1 GiB cover nothing. */
void pages_init(struct pages *pages, uintptr_t low, uintptr_t high);

/* Copies SIZE bytes at ADDRESS to OUT. Returns 0, or -EFAULT when not all are in the range or
 * there. */
int pages_read(struct pages *pages, uintptr_t address, void *out, size_t size);

/* Copies what is missing of [LOW, HIGH), 256 KiB at most, in one go; all or nothing. */
void pages_prefetch(struct pages *pages, uintptr_t low, uintptr_t high);

/*
 * The same range is mapped again, maybe with something else in it: compares. False when a copy is
 * not what is there now, so that none can be trusted.
 */
bool pages_revive(struct pages *pages);

/* Frees the copies; the next read copies again. */
void pages_drop(struct pages *pages);

/* Pages held by all, and copied by all so far. */
size_t pages_total(void);
uint64_t pages_copied(void);

#endif /* PRELOAD_UNWIND_PAGES_H */
