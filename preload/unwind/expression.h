/* SPDX-License-Identifier: MIT */
/*
 * expression.h - DWARF expressions as unwind tables have them (DWARF 5, 2.5.1).
 *
 * Bounded in steps and stack, whatever the bytes. Threads: any.
 */
#ifndef PRELOAD_UNWIND_EXPRESSION_H
#define PRELOAD_UNWIND_EXPRESSION_H

#include "preload/unwind/unwind.h"
#include "symtab/cursor.h"

enum expression_end {
	EXPRESSION_DONE,
	EXPRESSION_BROKEN,    /* not understood, or makes no sense */
	EXPRESSION_NO_MEMORY, /* wanted a word that INPUT does not have: *VALUE is its address */
};

/*
 * Evaluates EXPRESSION over REGISTERS and the stack of INPUT, with INITIAL (the CFA) on its stack
 * if HAS_INITIAL.
 */
enum expression_end expression_evaluate(struct cursor expression, const struct unwind_input *input,
					const uint64_t *registers, bool has_initial,
					uint64_t initial, uint64_t *value);

#endif /* PRELOAD_UNWIND_EXPRESSION_H */
