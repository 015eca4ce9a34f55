/* SPDX-License-Identifier: MIT */
/*
 * jitspace.h - functions of whatever makes code at run time, told by name only.
 *
 * By files that it writes for other profilers, or lists that it keeps for debuggers. They become
 * one module, `jit`. What an engine tells by itself, and modules that came whole, have better
 * names: those stay. Threads: ours. Signals: never.
 */
#ifndef PRELOAD_LOAD_JITSPACE_H
#define PRELOAD_LOAD_JITSPACE_H

#include "symtab/base.h"

struct jit_function {
	uintptr_t start;
	size_t size;
	uint64_t time_ns; /* when it was there first, CLOCK_MONOTONIC; 0: now */
	const char *name; /* not terminated */
	size_t name_length;
};

/*
 * FUNCTION is there. Sees to it that the handler knows the memory around it: the mapping, if that
 * is executable and in no loaded object. False when the code is somebody's who knows better.
 */
bool jitspace_add(const struct jit_function *function);

/* The code of SIZE bytes at START, told before, is at TO. */
void jitspace_move(uintptr_t start, uintptr_t to, size_t size);

/*
 * What was seen of the process's mappings is out of date: once a turn. Once a second, where there
 * are ranges of ours, it looks which of them are gone.
 */
void jitspace_look_again(uint64_t now_ns);

/* Who owns what is told of code in the range with ID, which takes it along (codemap.h). */
static inline uint32_t jitspace_owner(uint32_t id)
{
	return UINT32_C(0x80000000) | id;
}

#endif /* PRELOAD_LOAD_JITSPACE_H */
