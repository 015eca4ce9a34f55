/* SPDX-License-Identifier: MIT */
/*
 * thread.h - one block per sampled thread: its entries into guests, its ring, its clock.
 *
 * Lifetime: blocks come from sampler/ and are never freed, only reused after the thread ended, its
 * ring was drained and a grace period passed. The handler finds its block in what the signal
 * carries (a timer's value; a perf_event's descriptor) or in sig_self.
 * Threads: entries are written by the wrappers on the thread itself and read by its handler;
 * a field that another thread reads is atomic.
 */
#ifndef PRELOAD_SIG_THREAD_H
#define PRELOAD_SIG_THREAD_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "symtab/base.h"

/* Code and data a handler can reach. initial-exec: the first touch must not allocate. */
#define SIGNAL_SAFE __attribute__((no_instrument_function, nothrow))
#define SIG_TLS __thread __attribute__((tls_model("initial-exec")))

struct ring;

/*
 * Where an engine keeps the registers of the last guest-to-host call: offsets in a per-store
 * record ("exit record", wasmtime's VMStoreContext; runtime/ has the table by version). The place
 * of that record relative to the store's context is constant per engine build and learned at run
 * time: in a sample whose walk reached the entry trampoline, the word that equals the trampoline's
 * frame pointer. It is used only after two samples agreed.
 */
struct exit_layout {
	uint16_t exit_fp, exit_pc, entry_fp; /* byte offsets in the record */
	bool exit_fp_is_trampoline;	     /* the guest's frame pointer is the word at exit_fp */
	atomic_int offset;    /* of the record from the context; -1: not learned yet */
	atomic_int candidate; /* seen once; -1: none */
	atomic_bool hopeless; /* several places matched for long: never use it */
	atomic_int ambiguous; /* samples in which several places matched */
};

enum entry_flag {
	ENTRY_FIBER = 1,
	ENTRY_INTERPRETED = 2, /* the guest leaves no frame on the stack (frameless.h) */
	/* No activation: the interpreted one below has called the host, and waits. */
	ENTRY_CALLED_OUT = 4,
};

enum { CALLED_FROM_MAX = 31 };

/* Which functions an interpreted guest was in when it called the host: indices, innermost first. */
struct called_from {
	atomic_uint count;
	atomic_uint functions[CALLED_FROM_MAX];
};

/* One activation: the host called into a guest and has not come back. */
struct entry {
	uintptr_t sp;	   /* of the wrapper: the guest's frames lie below, but on a fiber */
	uintptr_t context; /* the store's context; 0 unknown */
	struct exit_layout *layout; /* NULL unknown */
	uint32_t instance;	    /* instance id; 0 unknown */
	uint32_t flags;
	uint32_t call; /* ENTRY_CALLED_OUT: number of the host function's name; 0 unknown */
	const struct called_from *from; /* ENTRY_CALLED_OUT: never freed; NULL unknown */
	/* Where the activation below this one called out, read when this entry was pushed; 0
	 * unknown. */
	uintptr_t outer_pc, outer_fp;
};

enum { ENTRY_DEPTH = 32 };

enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_ENDED };

struct thread {
	/* Written before the clock is armed. */
	pid_t tid;
	atomic_int state;    /* enum thread_state */
	uint64_t start_time; /* /proc/self/task/TID/stat field 22: with the tid, the thread's
				identity */
	char name[16];
	atomic_ulong stack_start, stack_end; /* of an ordinary stack; 0 unknown */
	/* Our thread's: the stack pointer at which this thread last resumed a fiber; 0 unknown. */
	atomic_ulong resumer_sp;

	/* The handler's. */
	volatile sig_atomic_t busy;
	bool had_guest;	 /* the pc, or a word on the stack, was in a guest with no entry: its host
			    frames must be searched for one */
	bool is_guessed; /* it was a word only: void as soon as entries are known to come */
	atomic_ullong generation;    /* in use by the running handler; 0: none */
	_Atomic(struct ring *) ring; /* NULL until the first guest pc */
	uint32_t handler_runs;
	uint32_t resumer_wakes;	  /* samples on a foreign stack for which our thread was woken */
	uintptr_t code_page;	  /* of the last guest pc whose bytes could be read ... */
	uint64_t code_generation; /* ... under this generation */

	/* The wrappers'; fences against the handler only. */
	volatile uint32_t depth; /* may exceed ENTRY_DEPTH: only the first ENTRY_DEPTH are kept */
	struct entry entries[ENTRY_DEPTH];

	/* The sampler's. */
	atomic_long timer_mark;	 /* the kernel's number of its timer, and 1; whoever exchanges it to
				   0  deletes that */
	atomic_long paused_mark; /* the same of a timer that its thread has stopped (sampler/mask.h)
				  */
	struct itimerspec paused; /* what that timer is to go on with; the thread's own */
	uint32_t runs_at_resume;  /* handler_runs when that was last set going */
	bool was_resumed;
	atomic_uint mask_calls;	 /* by the thread: odd while it blocks the signal by a call */
	unsigned int mask_seen;	 /* by our thread: mask_calls at its last look */
	atomic_bool wants_clock; /* it has unblocked the signal, and has none */
	atomic_int leaves_perf;	 /* a futex: 1 while it waits for our thread to close perf_fd ... */
	bool keeps_timer;	 /* ... and has a timer from then on, which it can stop itself */
	bool was_born_blocked;	 /* its own: to look at its mask again when it enters a guest */
	uint32_t entries_until_look, look_gap;
	bool was_counted;	/* among the threads that got a clock */
	bool blocking_was_told; /* counted and said once */
	bool clock_failed;	/* counted, not tried again */
	bool blocks_signal;	/* no clock: its signal would wait for a sigwait of the host's */
	uint64_t mask_check_ns; /* when to look at its mask again */
	atomic_uint periods;	/* of the rate asked for that a tick of its clock stands for */
	int perf_signo;		/* our thread's: what perf_fd sends */
	atomic_int perf_fd;	/* in our thread's descriptor table; -1: none */
	uint64_t ended_ns;	/* when our thread saw the end; 0: not yet */
} __attribute__((aligned(64)));

/*
 * All blocks: one mapping reserved at start, so that a pointer a signal carries can be checked by
 * its address, and readers need no lock. count only rises (release; pairs with the readers).
 */
struct thread_table {
	struct thread *blocks;
	uint32_t capacity;
	atomic_uint count;
	/* Some thread entered a guest through a wrapper: in this process entries are known. */
	atomic_bool has_entries;
	/* Some guest is interpreted: entries are asked whether theirs is. */
	atomic_bool has_interpreted;
};
extern struct thread_table thread_table;

/* The oldest generation that a running handler uses, UINT64_MAX when none runs. */
uint64_t thread_oldest_generation(void);

struct ranges;

/*
 * How a handler (or a wrapper, on its own thread) holds the current ranges:
 *
 *	reader				writer (load/publish.c)
 *	generation = 1, "any"		current = next	(ranges_publish)
 *	ranges = current		oldest = the least generation shown, but 0
 *	generation = ranges->generation	free what was retired before oldest
 *	... reads ranges ...
 *	generation = what it was
 *
 * All of these are sequentially consistent: either the writer sees the reader's mark and frees
 *nothing, or the reader's load comes after the swap and finds the new array. The mark comes before
 *the load because even ranges->generation must not be read from a freed array. A handler that
 *interrupts a holder on its own thread keeps the older mark: begin returns what end must put back.
 */
const struct ranges *thread_ranges_begin(struct thread *thread, uint64_t *before);
void thread_ranges_end(struct thread *thread, uint64_t before);

/*
 * Our thread found that a stack of THREAD's leads to where nothing was copied, around SP: on a
 * fiber that is where it was resumed. Ignored when that is not on the thread's own stack, or 0.
 */
void thread_note_resumer(struct thread *thread, uintptr_t sp);

/* This thread's block; NULL until the sampler or a wrapper met the thread. */
extern SIG_TLS struct thread *sig_self;

/*
 * Pushes ENTRY (its outer_pc and outer_fp are filled here, from the exit record of the activation
 * below) and pops it. On the thread itself, never nested in a handler. thread_leave() drops
 * everything above DEPTH, the value that thread_enter() returned: a host callback that longjmps
 * over a wrapper leaves no stale entry.
 */
uint32_t thread_enter(struct thread *thread, struct entry *entry);
void thread_leave(struct thread *thread, uint32_t depth);

/*
 * Whether THREAD's entry INDEX was left without thread_leave(): both it and SP, where the thread is
 * now, are on the ordinary stack, and SP is not below it. False where the stack's bounds are
 * unknown.
 */
bool thread_entry_is_stale(const struct thread *thread, uint32_t index, uintptr_t sp);

#endif /* PRELOAD_SIG_THREAD_H */
