/* SPDX-License-Identifier: MIT */
/*
 * sample.h - the record that the handler writes and our thread reads: numbers only.
 *
 *   +--------+---------------------+------------------+----------------------+------------------+
 *   | sample | pcs (pc_count words)| registers (0|17) | slice (slice_size)   | resumer's slice  |
 *   +--------+---------------------+------------------+----------------------+------------------+
 *
 * pcs are leaf first. Each is a program counter inside known code: the leaf as sampled, callers as
 * return addresses. A 0 word stands for the host frames between two activations (host -> guest ->
 * host -> guest); a marked one (SAMPLE_MARK) belongs to the pc before it. Registers and slice are
 * there when the pc was in the host: registers in DWARF order (rax rdx rcx rbx rsi rdi rbp rsp
 * r8..r15 rip), the slice a copy of the stack from slice_address (= rsp) upwards, slice_size bytes,
 * a multiple of 8.
 *
 * A guest that is interpreted has no pcs. What stands for its activation is a word with
 * SAMPLE_ENTRY and the instance's id, and a marked one: the interpreter's frames, and what it
 * called unseen, lie above that stack pointer, which is of a wrapper of ours, or 0 in the innermost
 * activation. A word with SAMPLE_CALL comes before both when it has called the host, and between
 * them one with SAMPLE_FUNCTION for each function that it was in then, innermost first, where that
 * is known. With SAMPLE_FRAMELESS the innermost activation is such a one.
 *
 * With whole stacks asked for, guest samples have them too: with SAMPLE_AT_ENTRY of the frame that
 * the last pc before the first 0 returns to (only rip, that pc; rbp; and rsp, some of whose bytes
 * below are in the slice), else of the leaf. On a fiber the slice ends with it, and another one
 * follows where SAMPLE_RESUMER says so, of the stack of whoever resumed the fiber: its address, its
 * size, and that many bytes. Last comes a struct sample_anchor, where SAMPLE_ANCHOR says so.
 */
#ifndef PRELOAD_SIG_SAMPLE_H
#define PRELOAD_SIG_SAMPLE_H

#include "symtab/base.h"

enum {
	SAMPLE_REGISTERS = 17,
	SAMPLE_MAX_PCS = 1024,	      /* deeper stacks are cut and flagged */
	SAMPLE_MAX_SLICE = 32 * 1024, /* bytes */
	/* An async program's main loop may well have frames of 11 KiB (wasmtime's command line 49:
	   45 KiB in all). */
	SAMPLE_MAX_RESUMER = 64 * 1024,
};

enum sample_kind {
	SAMPLE_PAD,   /* skip: the ring wraps here */
	SAMPLE_GUEST, /* pc in a guest: pcs is the whole guest part of the stack */
	SAMPLE_HOST,  /* pc in the host with a guest below, or in guest code without frame pointers
		       */
};

enum sample_flag {
	SAMPLE_TRUNCATED = 1,	/* pcs or slice were cut, or the walk ended early */
	SAMPLE_EXIT_RECORD = 2, /* SAMPLE_HOST: pcs come from the engine's exit record; pcs[0] is
				   where the guest called out */
	SAMPLE_TRAP = 4,  /* inside the engine's trap handler, on the alternate stack; pcs are the
			     interrupted guest's */
	SAMPLE_FIBER = 8, /* the guest runs on a fiber: its stack is not the thread's */
	SAMPLE_NO_ENTRY = 16,	/* no entry is known (a host without a C API) */
	SAMPLE_AT_ENTRY = 32,	/* SAMPLE_GUEST: registers are those of the outermost guest frame */
	SAMPLE_RESUMER = 64,	/* there is a slice of the resumer's stack */
	SAMPLE_FRAMELESS = 128, /* SAMPLE_HOST: pcs begin with an interpreted activation */
	SAMPLE_ANCHOR = 256,	/* there is a struct sample_anchor: what tells the instance */
	/* Our thread's, of samples without an entry: */
	SAMPLE_LIKELY = 512,	   /* the instance is likely that one, and no more */
	SAMPLE_MODULE_ONLY = 1024, /* it cannot be told */
};

struct sample {
	uint32_t size; /* of the whole record, a multiple of 8 */
	uint16_t kind;
	uint16_t flags;
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t generation; /* of the code ranges that pcs were checked with */
	uint32_t instance;   /* of the innermost entry; 0: none */
	uint32_t weight;     /* clock periods that this sample stands for, 1 and the overruns */
	uint32_t pc_count;
	uint32_t slice_size;
	uint64_t slice_address;
	uint64_t words[];
};

_Static_assert(sizeof(struct sample) == 48, "drain.c and the ring rely on whole words");

/*
 * A word of pcs with this bit, and no higher one, is none: it is the word that says which function
 * the frame of the pc before it is of (interpreted.h), and it is no frame of its own. User
 * addresses are below 2^47.
 */
#define SAMPLE_MARK (UINT64_C(1) << 62)

static inline bool sample_is_marked(uint64_t word)
{
	return (word & ~(SAMPLE_MARK - 1)) == SAMPLE_MARK;
}

/*
 * Words of pcs with the highest bit are none either (above): an instance's id is in the low half,
 * or the number of a host function's name, 0 when it is not known, or the index of a function that
 * called it.
 */
#define SAMPLE_ENTRY (UINT64_C(1) << 63)
#define SAMPLE_CALL (SAMPLE_ENTRY | UINT64_C(1) << 32)
#define SAMPLE_FUNCTION (SAMPLE_ENTRY | UINT64_C(2) << 32)

static inline bool sample_is_entry(uint64_t word)
{
	return word >> 32 == SAMPLE_ENTRY >> 32;
}

static inline bool sample_is_function(uint64_t word)
{
	return word >> 32 == SAMPLE_FUNCTION >> 32;
}

static inline bool sample_is_call(uint64_t word)
{
	return word >> 32 == SAMPLE_CALL >> 32;
}

/* Bytes of the largest record. */
enum {
	SAMPLE_LARGEST = sizeof(struct sample) +
			 (SAMPLE_MAX_PCS + SAMPLE_REGISTERS) * sizeof(uint64_t) + SAMPLE_MAX_SLICE
};

static inline const uint64_t *sample_pcs(const struct sample *sample)
{
	return sample->words;
}

static inline bool sample_has_registers(const struct sample *sample)
{
	return sample->kind == SAMPLE_HOST || sample->slice_size != 0;
}

/* NULL when the record has none. */
static inline const uint64_t *sample_registers(const struct sample *sample)
{
	return sample_has_registers(sample) ? sample->words + sample->pc_count : NULL;
}

static inline const uint8_t *sample_slice(const struct sample *sample)
{
	return (const uint8_t *)(sample->words + sample->pc_count + SAMPLE_REGISTERS);
}

/* Bytes of the resumer's stack; NULL, and *SIZE 0, when there are none. */
static inline const uint8_t *sample_resumer(const struct sample *sample, uint64_t *address,
					    size_t *size)
{
	const uint64_t *head =
		(const uint64_t *)(const void *)(sample_slice(sample) + sample->slice_size);
	bool has = (sample->flags & SAMPLE_RESUMER) != 0;

	*address = has ? head[0] : 0;
	*size = has ? (size_t)head[1] : 0;
	return has ? (const uint8_t *)(head + 2) : NULL;
}

enum { SAMPLE_CONTEXTS = 4 };

/* What only the handler can see of whose instance a guest is (anchor.h). */
struct sample_anchor {
	uint64_t record;   /* of the store that the guest runs in, proven by its entry */
	uint64_t entry_fp; /* of the trampoline through which the host came in */
	uint64_t entry_pc; /* SAMPLE_HOST: what returns to that trampoline; else it is in pcs */
	uint64_t above;	   /* the one context (base/contexts.h) above the entry; 0: none, or two */
	uint64_t contexts[SAMPLE_CONTEXTS]; /* those in registers; 0: no more */
	uint64_t number;		    /* the store's, if it is known where that is */
	uint64_t stack_address;
	uint32_t stack_size;  /* bytes of the guest's part of the stack and of the host's above */
	uint32_t window_size; /* bytes of the store around the record; 0 once `number` is known */
	uint64_t window_address;
	uint64_t registers[SAMPLE_REGISTERS]; /* of the leaf */
	uint64_t words[];		      /* the stack, then the window */
};

enum {
	SAMPLE_ANCHOR_STACK_MAX = 16 * 1024,
	/* Around where the store's number was found, in Wasmtime 36 to 50: 0x300 to 0x100 below. */
	SAMPLE_WINDOW_BELOW = 0x600,
	SAMPLE_WINDOW_ABOVE = 0x200,
	SAMPLE_NUMBER_UNKNOWN = 1 << 30,
};

/* Behind SAMPLE's pcs, registers, slice, and slice of the resumer, as far as it has them. */
static inline const uint8_t *sample_behind_slices(const struct sample *sample)
{
	const uint8_t *end = (const uint8_t *)(sample->words + sample->pc_count);
	const uint8_t *resumer;
	uint64_t address;
	size_t size;

	if (sample_has_registers(sample))
		end = sample_slice(sample) + sample->slice_size;
	resumer = sample_resumer(sample, &address, &size);
	return resumer != NULL ? resumer + size : end;
}

/* NULL when SAMPLE has none. */
static inline const struct sample_anchor *sample_anchor(const struct sample *sample)
{
	return (sample->flags & SAMPLE_ANCHOR) != 0
		       ? (const struct sample_anchor *)(const void *)sample_behind_slices(sample)
		       : NULL;
}

static inline size_t sample_anchor_size(const struct sample_anchor *anchor)
{
	return sizeof(*anchor) + anchor->stack_size + anchor->window_size;
}

#endif /* PRELOAD_SIG_SAMPLE_H */
