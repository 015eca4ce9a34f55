/* SPDX-License-Identifier: MIT */
/*
 * codequeue.h - what engines tell of code that they make, move and drop function by function.
 *
 * Whoever hears it (runtime/) is on a thread of the engine's, often one that compiles or collects,
 * so this only copies numbers and a name under a short lock, and sees to it that the handler knows
 * the stretch of memory that the code is in. Our thread takes what waits (codespace.h). Bounded:
 * what does not fit is counted, and its code shows as unnamed. Signals: never.
 */
#ifndef PRELOAD_LOAD_CODEQUEUE_H
#define PRELOAD_LOAD_CODEQUEUE_H

#include "symtab/base.h"

enum code_what {
	CODE_ADDED,
	CODE_MOVED,
	CODE_REMOVED,
	CODE_OWNER_GONE,
	CODE_RANGE,
	CODE_RANGE_GONE,
};

enum code_kind {
	CODE_WASM,    /* a function of wasm */
	CODE_SCRIPT,  /* a function of the engine's own language */
	CODE_BUILTIN, /* the engine's helpers */
	CODE_ENTRY,   /* by which the host enters */
	CODE_GLUE,    /* between the others */
	CODE_JIT, /* a function of whatever makes code, of which no more is known (jitspace.h) */
};

/* An owner who never goes. */
#define CODE_FOR_EVER UINT32_MAX

struct code_event {
	enum code_what what;
	enum code_kind kind;
	bool is_covered; /* in a range given to codequeue_range(), or data to the processor */
	uint32_t owner;	 /* codemap.h; wasm may belong to several: 0 */
	uint32_t index;	 /* of a function of wasm; else UINT32_MAX */
	uintptr_t start, to;
	size_t size;
	uint64_t time_ns; /* when it was, CLOCK_MONOTONIC; 0: now */
	const char *name; /* the engine's, full; copied, 1,024 bytes of it */
	size_t name_length;
	size_t shown_start, shown_length; /* the part of it that is for people */
};

/* The engine that tells: static texts, but for the version. The first one stays. */
void codequeue_engine(const char *engine, const char *version, const char *script_module);

/*
 * Any thread. The first function of wasm, or of CODE_JIT, is the first guest: before, all only
 * waits.
 */
void codequeue_tell(const struct code_event *event);

/* Code of functions that are told with is_covered lies in [START, END), and nothing else does. */
void codequeue_range(uintptr_t start, uintptr_t end);

/*
 * The same of CODE_JIT, of whose frames nothing is known: what of [*START, *END) around AT is in no
 * range yet, which *START and *END then say. Returns its number; 0: memory is short. And its end.
 */
uint32_t codequeue_jit_range(uintptr_t at, uintptr_t *start, uintptr_t *end);
void codequeue_jit_range_gone(uint32_t id);

/*
 * Code in [START, END) is an interpreter's: the word BELOW_FP bytes below the frame pointer of its
 * frames is the address of an object, or one more than it, behind whose head the code begins that
 * the frame is of. Any thread of the host.
 */
void codequeue_interpreter(uintptr_t start, uintptr_t end, uint32_t below_fp);

/* Whether something waits for our thread. Any thread. */
bool codequeue_waits(void);

/* ---- our thread ------------------------------------------------------------------------------ */

struct code_engine {
	const char *name, *script_module;
	char version[32];
};

struct code_record {
	struct code_event
		event;	  /* its name is terminated; CODE_RANGE: [start, to), index: loading */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t born;	  /* CODE_RANGE: generation; CODE_RANGE_GONE: the first without it */
};

/* Calls VISIT for each that waits, the oldest first; they are gone then. */
void codequeue_take(void (*visit)(void *context, const struct code_record *record), void *context);
const struct code_engine *codequeue_told_by(void);

/* Around a fork. */
void codequeue_fork_prepare(void);
void codequeue_fork_parent(void);
void codequeue_fork_child(void);

#endif /* PRELOAD_LOAD_CODEQUEUE_H */
