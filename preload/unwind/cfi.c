/* SPDX-License-Identifier: MIT */
/* cfi.c - applies rows of unwind tables to registers and a copied stack. Threads: ours only. */
#include "preload/unwind/cfi.h"

#include <string.h>

#include "preload/unwind/cfirow.h"
#include "preload/unwind/epilogue.h"
#include "preload/unwind/expression.h"
#include "preload/unwind/images.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/slices.h"

enum { ROWS_LOG2 = 11, MAX_EXPRESSION = 512, MAX_POPPED = 128 };

static struct {
	struct cfi_row rows[1 << ROWS_LOG2]; /* by hash of the address */
} self;

struct step {
	const struct unwind_input *input;
	const struct cfi_row *row;
	const uint64_t *before;
	uint64_t cfa, missing;
	enum remote_step failure;
};

static bool fail(struct step *step, enum remote_step failure)
{
	step->failure = failure;
	return false;
}

static bool read_word(struct step *step, uint64_t address, uint64_t *value)
{
	if (slices_word(step->input, address, value))
		return true;
	step->missing = address;
	return fail(step, REMOTE_SLICE_END);
}

/* The expression at PLACE, over the registers before the step. */
static bool evaluate(struct step *step, int32_t place, bool is_cfa, uint64_t *value)
{
	static uint8_t bytes[MAX_EXPRESSION];
	uintptr_t address = step->row->fde + (uintptr_t)(intptr_t)place, fde;
	struct fde_place where;
	struct cursor cursor;
	uint64_t size;
	size_t i;

	(void)fde_find(step->row->pc, step->input->generation, &where, &fde);
	for (i = 0; i < sizeof(bytes) && fde_read(&where, address + i, &bytes[i], 1) == 0; i++) {
		/* its length first: no more than that is read */
		cursor = cursor_of(bytes, i + 1);
		size = cursor_uleb64(&cursor);
		if (!cursor.failed && i + 1 == cursor.at + size)
			break;
	}
	cursor = cursor_of(bytes, i < sizeof(bytes) ? i + 1 : 0);
	size = cursor_uleb64(&cursor);
	cursor = cursor_sub(&cursor, (size_t)size);
	switch (expression_evaluate(cursor, step->input, step->before, !is_cfa, step->cfa, value)) {
	case EXPRESSION_DONE:
		return true;
	case EXPRESSION_NO_MEMORY:
		step->missing = *value;
		return fail(step, REMOTE_SLICE_END);
	case EXPRESSION_BROKEN:
		break;
	}
	return fail(step, REMOTE_BROKEN);
}

static bool find_cfa(struct step *step)
{
	const struct cfi_row *row = step->row;

	if (row->cfa_register == CFI_CFA_EXPRESSION)
		return evaluate(step, row->cfa, true, &step->cfa);
	if (row->cfa_register >= UNWIND_REGISTERS)
		return fail(step, REMOTE_BROKEN);
	step->cfa = step->before[row->cfa_register] + (uint64_t)(int64_t)row->cfa;
	return true;
}

/* What register NUMBER was in the caller. */
static bool restore(struct step *step, unsigned int number, uint64_t *value)
{
	int32_t operand = step->row->value[number];
	uint64_t address;

	switch (step->row->rule[number]) {
	case CFI_AT:
		address = step->cfa + (uint64_t)(int64_t)operand;
		/* just below the stack: popped already, which the table need not say */
		if (step->before[REGISTER_STACK] - address - 1 < MAX_POPPED &&
		    number != REGISTER_PC) {
			*value = step->before[number];
			return true;
		}
		return read_word(step, address, value);
	case CFI_IS:
		*value = step->cfa + (uint64_t)(int64_t)operand;
		return true;
	case CFI_REGISTER:
		if (operand < 0 || operand >= UNWIND_REGISTERS)
			return fail(step, REMOTE_BROKEN);
		*value = step->before[operand];
		return true;
	case CFI_AT_EXPRESSION:
		return evaluate(step, operand, false, value) && read_word(step, *value, value);
	case CFI_IS_EXPRESSION:
		return evaluate(step, operand, false, value);
	case CFI_UNDEFINED:
		*value = 0;
		return true;
	default:
		/* the CFA is the caller's stack pointer, unless it is said otherwise */
		*value = number == REGISTER_STACK ? step->cfa : step->before[number];
		return true;
	}
}

/*
 * PC is the frame's own: code is followed from there, while tables are looked up at LOOKUP. Where
 * the code is read, the stack must agree, and the row is then good for other stacks too.
 */
static const struct cfi_row *row_of(const struct unwind_input *input, const uint64_t *registers,
				    uint64_t pc)
{
	struct cfi_row *row = &self.rows[(pc * 0x9e3779b97f4a7c15ull) >> (64 - ROWS_LOG2)];
	struct cfi_row code_row;
	struct fde_place place;
	uintptr_t fde;

	if (row->pc == pc && row->fde != 0)
		return row;
	if (fde_find(pc, input->generation, &place, &fde) && cfirow_make(row, pc, &place, fde))
		return row;
	row->fde = 0;
	if (!epilogue_make(&code_row, registers[REGISTER_PC], input, registers))
		return NULL;
	*row = code_row;
	row->pc = pc;
	return row;
}

/* Makes REGISTERS, which are those before the step, the caller's. */
static bool apply(struct step *step, uint64_t *registers)
{
	uint64_t after[UNWIND_REGISTERS];
	unsigned int i;

	if (!find_cfa(step))
		return false;
	for (i = 0; i < UNWIND_REGISTERS; i++)
		if (!restore(step, i, &after[i]))
			return false;
	memcpy(registers, after, sizeof(after));
	return true;
}

enum remote_step cfi_step(const struct unwind_input *input, uint64_t *registers, uint64_t lookup,
			  bool *from_signal, uint64_t *missing)
{
	struct step step = { .input = input, .before = registers };

	*missing = 0;
	step.row = row_of(input, registers, lookup);
	if (step.row == NULL)
		return REMOTE_NO_TABLE;
	if (step.row->rule[REGISTER_PC] == CFI_UNDEFINED)
		return REMOTE_OUTERMOST;
	if (!apply(&step, registers)) {
		*missing = step.missing;
		return step.failure;
	}
	*from_signal = step.row->is_signal;
	return REMOTE_STEPPED;
}

bool cfi_step_epilogue(const struct unwind_input *input, uint64_t *registers)
{
	struct step step = { .input = input, .before = registers };
	struct cfi_row row;

	if (!epilogue_is_at(&row, registers[REGISTER_PC], input, registers))
		return false;
	step.row = &row;
	return apply(&step, registers);
}

void cfi_flush(void)
{
	memset(self.rows, 0, sizeof(self.rows));
}
