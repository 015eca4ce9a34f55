/* SPDX-License-Identifier: MIT */
/*
 * capture.h - what the handler would store, taken by the thread itself: registers and a slice.
 */
#ifndef TESTS_UNIT_UNWIND_CAPTURE_H
#define TESTS_UNIT_UNWIND_CAPTURE_H

#include <pthread.h>
#include <string.h>
#include <ucontext.h>

#include "preload/unwind/unwind.h"
#include "symtab/base.h"

enum { CAPTURE_SLICE = 64 * 1024 };

struct capture {
	uint64_t registers[UNWIND_REGISTERS];
	size_t size;
	uint8_t slice[CAPTURE_SLICE];
};

static inline void capture_registers(struct capture *capture, const ucontext_t *context)
{
	static const uint8_t order[UNWIND_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	size_t i;

	for (i = 0; i < UNWIND_REGISTERS; i++)
		capture->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* The end of the calling thread's stack where it is not the one it was made with; else 0. */
static _Thread_local uintptr_t capture_other_end __attribute__((unused));

/* The end of the calling thread's stack, asked for once: it is slow for the main thread. */
static inline uintptr_t capture_stack_end(void)
{
	static _Thread_local uintptr_t end;
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (capture_other_end != 0)
		return capture_other_end;
	if (end == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstack(&attributes, &low, &size);
		pthread_attr_destroy(&attributes);
		end = (uintptr_t)low + size;
	}
	return end;
}

/* Neither sanitizers nor fortification like whole stacks to be copied. */
__attribute__((no_sanitize("address", "thread"), noinline, unused)) static void
capture_slice(struct capture *capture, uintptr_t from)
{
	const volatile uint8_t *bytes = (const volatile uint8_t *)from;
	size_t left = capture_stack_end() - from, i;

	capture->size = left < CAPTURE_SLICE ? left : CAPTURE_SLICE;
	for (i = 0; i + 8 <= capture->size; i += 8)
		*(uint64_t *)(capture->slice + i) = *(const volatile uint64_t *)(bytes + i);
}

/* The stack of the caller, from this function on. */
__attribute__((noinline, unused)) static void capture_here(struct capture *capture)
{
	ucontext_t context;

	getcontext(&context);
	capture_registers(capture, &context);
	capture_slice(capture, capture->registers[7]);
	/* no tail call: our frame must stay */
	__asm__ volatile("" ::"r"(&context) : "memory");
}

static inline struct unwind_input capture_input(const struct capture *capture, uint64_t generation)
{
	return (struct unwind_input){
		.registers = capture->registers,
		.slice = capture->slice,
		.slice_address = capture->registers[7],
		.slice_size = capture->size,
		.generation = generation,
	};
}

#endif /* TESTS_UNIT_UNWIND_CAPTURE_H */
