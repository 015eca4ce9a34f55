/* SPDX-License-Identifier: MIT */
/*
 * explore.h - runs a few threads of real code in every order of their steps, and shows the order
 * that breaks a property.
 *
 * A step is an atomic operation, a lock, a free, or a touch of shared bytes that a test declares.
 * Threads are fibers, one step runs at a time: the memory is sequentially consistent. Weaker
 * orders are what the unit tests under ThreadSanitizer are for, which knows each order's meaning.
 *
 * All orders means: all that differ. From a state that was met before (the same bytes in memory and
 * on the threads' stacks, told apart by 64 bits of hash) the search does not go on again; and steps
 * at places that no two threads contend for are not put in order. There is no other bound: programs
 * are finite, and a search that is not complete within EXPLORE_MOST_RUNS fails.
 */
#ifndef TESTS_MODEL_EXPLORE_H
#define TESTS_MODEL_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>

enum explore_kind {
	EXPLORE_READ,
	EXPLORE_WRITE,
	EXPLORE_LOCK,
	EXPLORE_UNLOCK,
	EXPLORE_WAIT, /* until the place that this thread read last was written */
};

enum { EXPLORE_MOST_RUNS = 2000000, EXPLORE_MOST_THREADS = 6 };

struct explore_thread {
	const char *name;
	void (*body)(void);
	/* Of the thread that this one, a signal handler, interrupts at any one step, or never; 0:
	 * it is a thread of its own. Counted from 1. */
	int interrupts;
};

struct explore_program {
	const char *name;
	void (*begin)(void); /* once: each run begins with what it left in memory; no step in it */
	struct explore_thread threads[EXPLORE_MOST_THREADS]; /* up to the first without a body */
	void (*end)(void);				     /* after them */
};

/* Runs PROGRAM in all orders, and says how many there were. Ends the process, with the order that
 * led there, when a property does not hold. */
void explore(const struct explore_program *program);

/* From the code under test: what comes next, and at what place. Nothing outside of a run. */
void explore_step(const volatile void *place, const char *what, enum explore_kind kind,
		  const char *file, int line);

/* Bytes at PLACE are about to be read or written by other than atomic operations. */
#define explore_touch(place, is_write)                       \
	explore_step((place), (is_write) ? "write" : "read", \
		     (is_write) ? EXPLORE_WRITE : EXPLORE_READ, __FILE__, __LINE__)

/* Ends the process, with the order of steps that led here: WORDS say what does not hold. */
void explore_fail(const char *words) __attribute__((noreturn));

/* The property WORDS, which must hold here. */
void explore_expect(bool holds, const char *words);

/* Memory of one run. Freed blocks are overwritten and never used again. */
void explore_free(void *block, const char *file, int line);
bool explore_is_freed(const void *block);
/* Blocks of at least SIZE bytes that are not freed. */
size_t explore_blocks(size_t size);

#endif /* TESTS_MODEL_EXPLORE_H */
