/* SPDX-License-Identifier: MIT */
/*
 * contexts.h - what instances look like in the memory of an engine, where nothing else tells them.
 *
 * The numbers are from the engine's one file in runtime/; each is confirmed whenever it is used.
 */
#ifndef PRELOAD_BASE_CONTEXTS_H
#define PRELOAD_BASE_CONTEXTS_H

#include "symtab/base.h"

/* Offsets in bytes. */
struct context_layout {
	/* In the record that each store has: the frame pointer of the trampoline that the host
	   entered a guest through last. */
	int entry_fp;
	/* An instance's context begins with `magic`, 4 bytes, and has at these offsets */
	uint32_t magic;
	int self;   /* its own address, */
	int record; /* that of its store's record, */
	int types;  /* and a pointer, where contexts that are no instance's have a small number */
};

enum { CONTEXT_LEAST_POINTER = 0x1000 };

#endif /* PRELOAD_BASE_CONTEXTS_H */
