/* SPDX-License-Identifier: MIT */
/*
 * stats.h - everything that is counted: samples lost, by reason, and work done.
 *
 * Counters only rise. Written from any thread and from the handler (relaxed atomics), read by
 * our thread, which writes them into the recording. Every lost sample has one reason here.
 */
#ifndef PRELOAD_BASE_STATS_H
#define PRELOAD_BASE_STATS_H

#include "symtab/base.h"

/* One row per counter: name in code, name in the recording, what it means. */
#define STATS(ROW)                                                                              \
	ROW(SIGNALS, "signals", "clock signals that were ours")                                 \
	ROW(OVERRUNS, "overruns", "clock ticks the kernel merged into a later signal")          \
	ROW(SAMPLES, "samples", "samples put into a ring")                                      \
	ROW(HOST_ONLY, "host_only", "signals on a thread with no guest on its stack")           \
	ROW(LOST_RING_FULL, "lost_ring_full", "samples lost: the thread's ring was full")       \
	ROW(LOST_NO_RING, "lost_no_ring", "samples lost: no free ring")                         \
	ROW(LOST_NESTED, "lost_nested", "samples lost: tick inside our own handler")            \
	ROW(LOST_NO_THREAD, "lost_no_thread", "samples lost: no block for the thread")          \
	ROW(LOST_STACK, "lost_stack", "samples lost: the stack could not be read")              \
	ROW(LOST_MEMORY, "lost_memory", "samples lost: memory limit or allocation failed")      \
	ROW(LOST_WRITE, "lost_write", "samples lost: the recording could not be written")       \
	ROW(LOST_FORK, "lost_fork", "samples lost: taken before a fork, not drained")           \
	ROW(UNLISTED, "unlisted", "samples of modules that are not listed")                     \
	ROW(TRUNCATED, "truncated", "samples whose stack was cut")                              \
	ROW(GUESSED, "guessed",                                                                 \
	    "samples with a frame found without a table, by what the stack looked like")        \
	ROW(UNNAMED, "unnamed", "samples whose leaf has no name")                               \
	ROW(NO_GUEST_FOUND, "no_guest_found", "stack slices in which no guest frame was found") \
	ROW(MODULES, "modules", "modules seen")                                                 \
	ROW(MODULES_SKIPPED, "modules_skipped", "modules without functions")                    \
	ROW(MODULES_REFUSED, "modules_refused", "modules refused: guest debugging or bytecode") \
	ROW(MODULES_BROKEN, "modules_broken", "modules whose bytes or image were damaged")      \
	ROW(INSTANCES, "instances", "instances created")                                        \
	ROW(ENTRIES_TOO_DEEP, "entries_too_deep",                                               \
	    "host-to-guest entries beyond the depth we keep")                                   \
	ROW(REAL_MISSING, "real_missing", "calls whose real function was not found")            \
	ROW(HANDLER_NS, "handler_ns", "CPU time in the handler, estimated from every 64th")     \
	ROW(THREADS, "threads", "threads given a clock")                                        \
	ROW(THREADS_BLOCKING, "threads_blocking",                                               \
	    "threads without a clock: they block its signal")                                   \
	ROW(CLOCK_FAILED, "clock_failed", "threads whose clock could not be made")              \
	ROW(WAITS, "waits", "looks at a thread that waited with a guest on its stack")          \
	ROW(WAITS_MOVED, "waits_moved", "waits that ended while they were looked at")           \
	ROW(WAITS_REFUSED, "waits_refused", "looks that the kernel refused (PR_SET_DUMPABLE)")  \
	ROW(HOSTCALLS_UNTOLD, "hostcalls_untold",                                               \
	    "counted host calls beyond the number of functions we keep")                        \
	ROW(PARKED_TOO_MANY, "parked_too_many", "parked calls beyond the number we keep")       \
	ROW(CODE_DROPPED, "code_dropped", "functions told one by one beyond what we keep")

enum stat_id {
#define ROW(id, name, meaning) STAT_##id,
	STATS(ROW)
#undef ROW
		STAT_COUNT
};

extern atomic_ullong stats[STAT_COUNT];

/* Names as in the recording, in the order of enum stat_id. */
extern const char *const stat_names[STAT_COUNT];

static inline void stat_add(enum stat_id which, unsigned long long n)
{
	atomic_fetch_add_explicit(&stats[which], n, memory_order_relaxed);
}

/* Counts what is true of the process, and not only of the time in which a recording was made. */
static inline bool stat_is_of_process(enum stat_id which)
{
	return which >= STAT_MODULES && which <= STAT_CLOCK_FAILED && which != STAT_HANDLER_NS;
}

static inline void stat_count(enum stat_id which)
{
	stat_add(which, 1);
}

static inline unsigned long long stat_get(enum stat_id which)
{
	return atomic_load_explicit(&stats[which], memory_order_relaxed);
}

#endif /* PRELOAD_BASE_STATS_H */
