/* SPDX-License-Identifier: MIT */
/*
 * synthetic.h - guest code, stacks and contexts made by hand for the tests of this room.
 *
 * The code is never run: only its bytes and addresses matter. Frames are built from the outside in,
 * as calls would.
 */
#ifndef TESTS_UNIT_SIG_SYNTHETIC_H
#define TESTS_UNIT_SIG_SYNTHETIC_H

#include <signal.h>
#include <string.h>
#include <sys/ucontext.h>

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"
#include "preload/sig/walk.h"

enum {
	CODE_SIZE = 0x1000,
	/* Offsets in synthetic.code: instructions that are none of the leaf's special ones ... */
	CODE_TRAMPOLINE = 0x100, /* where the host's entry trampoline calls the guest */
	CODE_OUTER = 0x200,
	CODE_INNER = 0x300,
	CODE_LEAF = 0x400,
	/* ... and those that are. */
	CODE_ENTRY = 0x500, /* push rbp; mov rbp, rsp */
	CODE_PUSHED = 0x501,
	CODE_RET = 0x600,
	CODE_RET_IMMEDIATE = 0x610,
	STACK_WORDS = 4096,
};

struct synthetic {
	uint8_t code[CODE_SIZE];
	uint64_t stack[STACK_WORDS] __attribute__((aligned(4096)));
	size_t top; /* index of the lowest word in use */
	uintptr_t fp;
	struct ranges *ranges; /* in room: one range, space for three more */
	uint64_t room[2 + 4 * sizeof(struct range) / 8];
};

static inline void synthetic_init(struct synthetic *s)
{
	memset(s, 0, sizeof(*s));
	memset(s->code, 0x90, sizeof(s->code));
	memcpy(s->code + CODE_ENTRY, "\x55\x48\x89\xe5", 4);
	s->code[CODE_RET] = 0xc3;
	s->code[CODE_RET_IMMEDIATE] = 0xc2;
	s->top = STACK_WORDS - 64;
	s->ranges = (struct ranges *)s->room;
	s->ranges->generation = 9;
	s->ranges->count = 1;
	s->ranges->range[0].start = (uintptr_t)s->code;
	s->ranges->range[0].end = (uintptr_t)s->code + CODE_SIZE;
	s->ranges->range[0].id = 1;
	s->ranges->range[0].has_frame_pointers = 1;
}

static inline uintptr_t synthetic_pc(const struct synthetic *s, int offset)
{
	return (uintptr_t)s->code + (uintptr_t)offset;
}

static inline uintptr_t synthetic_sp(const struct synthetic *s)
{
	return (uintptr_t)&s->stack[s->top];
}

static inline void synthetic_push(struct synthetic *s, uint64_t word)
{
	s->stack[--s->top] = word;
}

/* A call that returns to PC, and the callee's frame with LOCALS words. */
static inline void synthetic_call(struct synthetic *s, uintptr_t pc, size_t locals)
{
	synthetic_push(s, pc);
	synthetic_push(s, s->fp);
	s->fp = synthetic_sp(s);
	s->top -= locals;
}

/* host -> trampoline -> outer -> inner -> leaf: three return addresses into the guest. */
static inline void synthetic_guest(struct synthetic *s)
{
	synthetic_call(s, 0x1234, 4); /* the trampoline's frame: returns to the host */
	synthetic_call(s, synthetic_pc(s, CODE_TRAMPOLINE), 2);
	synthetic_call(s, synthetic_pc(s, CODE_OUTER), 3);
	synthetic_call(s, synthetic_pc(s, CODE_INNER), 1);
}

static inline ucontext_t synthetic_context(const struct synthetic *s, uintptr_t pc)
{
	ucontext_t context;

	memset(&context, 0, sizeof(context));
	for (int i = 0; i < 17; i++)
		context.uc_mcontext.gregs[i] = 1000 + i;
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
	context.uc_mcontext.gregs[REG_RBP] = (greg_t)s->fp;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)synthetic_sp(s);
	context.uc_stack.ss_flags = SS_DISABLE;
	return context;
}

/* A walk on that stack, which REACH is made to know, to PCS with room for MAX. */
static inline struct walk synthetic_walk(struct synthetic *s, struct reach *reach, uint64_t *pcs,
					 uint32_t max)
{
	*reach = (struct reach){
		.low = (uintptr_t)s->stack,
		.high = (uintptr_t)(s->stack + STACK_WORDS),
		.page = 1,
	};
	return (struct walk){
		.ranges = s->ranges,
		.reach = reach,
		.limit = UINTPTR_MAX,
		.pcs = pcs,
		.max = max,
	};
}

#endif /* TESTS_UNIT_SIG_SYNTHETIC_H */
