/* SPDX-License-Identifier: MIT */
/*
 * resolver.h - inside of resolve.h: a sample being resolved, and how frames are added.
 *
 * Shared by the samples in guests (resolve.c) and those in the host (resolve_host.c).
 */
#ifndef PRELOAD_PROFILE_RESOLVER_H
#define PRELOAD_PROFILE_RESOLVER_H

#include "preload/profile/resolve.h"

struct resolver {
	const struct symtab *symtab;
	enum stacks stacks;
	const struct sample *sample;
	struct resolved *out;
	struct frame glue; /* innermost trampoline or entry that was left out */
	bool has_glue;
	bool ends_in_entry; /* the outermost frame so far is an entry */
	bool is_guess;	    /* the frames that are being added are */
	uint64_t site; /* the call site that was asked about last, and its import; NULL: none */
	const char *site_name;
	const struct symtab_entry *site_entry; /* whose it is; NULL without a name */
	/* Where in sample.pcs the next interpreted activation is, and those end that were added. */
	size_t next_entry, entries_end;
};

enum frame_kind resolver_kind(const struct symbol *symbol);

void resolver_append(struct resolver *self, struct frame frame);

/* Host code of whatever depth: one frame, however much of it there is. */
void resolver_append_host(struct resolver *self);

/*
 * The same where the guest called out before it returned to GUEST_PC, its innermost host frames
 * being the first DEPTH unwound ones (0: not unwound): a frame called like the host function, if
 * that can be told. Where whole stacks are wanted the frame is added only then.
 */
void resolver_append_call(struct resolver *self, uint64_t guest_pc, size_t depth);

/* The host's code at PC: a frame of its own where whole stacks are wanted. */
void resolver_append_host_pc(struct resolver *self, uint64_t pc);

/* A word of sample.pcs, or a return address as IS_RETURN says: a call belongs to its own line. */
void resolver_append_pc(struct resolver *self, uint64_t pc, bool is_return);

/* IS_LEAF: the first one is where the thread is, not where it returns to. */
void resolver_append_pcs(struct resolver *self, const uint64_t *pcs, size_t count, bool is_leaf);

/*
 * Unwinds from the sample's registers into out->unwound; UNTIL_GUEST: to the first frame in known
 * code and no further. Returns the number of frames.
 */
size_t resolver_unwind(struct resolver *self, bool until_guest, enum unwind_end *end);

/* Unwound frame I is what is added next. */
void resolver_note_guess(struct resolver *self, size_t i);

/* Whether PC is in this library: a wrapper between a caller and the engine is nobody's business. */
bool resolver_is_ours(uint64_t pc);

/* Where to look unwound frame I up. */
uint64_t resolver_lookup(const struct resolver *self, size_t i);

/* The number of the unwound frame that returns to PC; COUNT when there is none. */
size_t resolver_find(const struct resolver *self, size_t count, uint64_t pc);

/* Unwound frames FROM to COUNT. */
void resolver_append_unwound(struct resolver *self, size_t from, size_t count);

/*
 * What the handler's walk found beyond the COUNT unwound frames: after the last, of the pcs from
 * NEXT on, that is among them.
 */
void resolver_append_beyond(struct resolver *self, size_t count, size_t next);

/* A sample in the host (resolve_host.c). */
void resolve_host(struct resolver *self);

/* ---- interpreted guests (resolve_frameless.c) ------------------------------------------------ */

/* Sets next_entry, at the beginning. */
void resolver_find_entries(struct resolver *self);

/* The frame of WORDS[I], which is with SAMPLE_ENTRY, after that of a host call that it waits for.
 */
void resolver_append_entry(struct resolver *self, const uint64_t *words, size_t i);

/*
 * An unwound frame whose caller's stack pointer is CFA is added next: those of the interpreted
 * guests come first whose interpreters' frames begin there.
 */
void resolver_append_entries(struct resolver *self, uint64_t cfa);

/* A sample whose innermost activation is of an interpreted guest. */
void resolve_frameless(struct resolver *self);

#endif /* PRELOAD_PROFILE_RESOLVER_H */
