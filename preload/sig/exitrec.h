/* SPDX-License-Identifier: MIT */
/*
 * exitrec.h - the engine's exit record: where the guest last called out.
 *
 * Lies at a place relative to the store's context that is constant per engine build, and learned
 * (thread.h, struct exit_layout). It is not cleared when the guest returns, so what it says is
 * believed only when it fits the stack as it is now.
 * Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_EXITREC_H
#define PRELOAD_SIG_EXITREC_H

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"
#include "preload/sig/thread.h"

enum exit_state {
	EXIT_UNKNOWN, /* not learned yet, or no such record: nothing can be said */
	EXIT_NONE,    /* no guest frame of this activation is on the stack */
	EXIT_FOUND,
};

struct exit_record {
	uintptr_t pc;	    /* the return address into the guest */
	uintptr_t fp;	    /* of the guest's frame that called out */
	uintptr_t frame;    /* as recorded: fp, or the exit trampoline's; above the host's */
	uintptr_t entry_fp; /* of the trampoline through which the host came in */
};

/* How far a fiber's stack may reach: engines give it 2 MiB or less, hosts may ask for more. */
enum { EXIT_MAX_DISTANCE = 64 << 20 };

/* Whether LAYOUT's place is known. LAYOUT may be NULL. */
bool exitrec_is_learned(const struct exit_layout *layout);

/* Where to look: [context, context + this). Seen in wasmtime 25 to 50: 0x2c0 to 0x858. */
enum { EXIT_SEARCH_SIZE = 0xa00, EXIT_NOT_LEARNED = -1 };

/*
 * Reads the record of ENTRY, the innermost activation, for a thread whose stack pointer is SP. What
 * is found still needs its pc looked up, and its chain to end at entry_fp.
 */
enum exit_state exitrec_read(const struct entry *entry, struct reach *reach, uintptr_t sp,
			     struct exit_record *record);

/* The same, were the record at OFFSET from the context. */
enum exit_state exitrec_read_at(const struct entry *entry, struct reach *reach, uintptr_t sp,
				int offset, struct exit_record *record);

/* Whether ENTRY has a layout whose place is worth looking for. */
bool exitrec_is_wanted(const struct entry *entry);

/* A sample found the record at OFFSET, one of MATCHES places. Two that agree settle it. */
void exitrec_agree(struct exit_layout *layout, int offset, int matches);

/*
 * In a guest whose complete walk ended in the frame at TRAMPOLINE_FP: looks for the record that
 * says the same.
 */
void exitrec_learn(const struct entry *entry, struct reach *reach, const struct ranges *ranges,
		   uintptr_t trampoline_fp);

#endif /* PRELOAD_SIG_EXITREC_H */
