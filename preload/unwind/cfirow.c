/* SPDX-License-Identifier: MIT */
/* cfirow.c - runs call frame instructions up to an address. Threads: ours only. */
#include "preload/unwind/cfirow.h"

#include <string.h>

#include "preload/unwind/fdetable.h"
#include "symtab/cursor.h"

enum { MAX_RECORD = 32 * 1024, MAX_REMEMBERED = 32 };

/* DWARF 5, 7.24, and two of GNU's. */
enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* the operand in the low six bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	HIGH_BITS = 0xc0,
	LOW_BITS = 0x3f,
};

struct runner {
	const struct fdetable_cie *cie;
	struct cursor program;
	int64_t to_fde; /* from the program's record to the FDE: where expressions are counted from
			 */
	uint64_t location, pc;
	struct cfi_row *row;
	struct cfi_row initial; /* as the CIE leaves it */
	struct cfi_row remembered[MAX_REMEMBERED];
	unsigned int depth;
};

static void set_rule(struct runner *runner, uint64_t number, enum cfi_rule rule, int64_t value)
{
	if (value != (int32_t)value)
		cursor_fail(&runner->program);
	/* vector registers and such are nobody's concern */
	if (number >= UNWIND_REGISTERS)
		return;
	runner->row->rule[number] = (uint8_t)rule;
	runner->row->value[number] = (int32_t)value;
}

static void restore_rule(struct runner *runner, uint64_t number)
{
	if (number < UNWIND_REGISTERS)
		set_rule(runner, number, runner->initial.rule[number],
			 runner->initial.value[number]);
}

static void set_cfa(struct runner *runner, uint64_t number, int64_t offset)
{
	/* wasmtime's fibers set an offset first, of nothing */
	if ((number >= UNWIND_REGISTERS && number != CFI_CFA_UNSET) || offset != (int32_t)offset) {
		cursor_fail(&runner->program);
		return;
	}
	runner->row->cfa_register = (uint8_t)number;
	runner->row->cfa = (int32_t)offset;
}

/* Products of hostile numbers must not overflow: those that fit no row are no offsets either. */
static int64_t factored(struct runner *runner, int64_t factor)
{
	int64_t product;

	if (__builtin_mul_overflow(factor, runner->cie->data_align, &product)) {
		cursor_fail(&runner->program);
		return 0;
	}
	return product;
}

static int64_t unsigned_offset(struct runner *runner)
{
	return (int64_t)(cursor_uleb64(&runner->program) & INT64_MAX);
}

/* Skips an expression; answers its place. */
static int64_t expression(struct runner *runner)
{
	int64_t place = (int64_t)cursor_offset(&runner->program) + runner->to_fde;

	(void)cursor_sub(&runner->program, (size_t)cursor_uleb64(&runner->program));
	return place;
}

static void advance(struct runner *runner, uint64_t steps)
{
	runner->location += steps * runner->cie->code_align;
}

static void remember(struct runner *runner)
{
	if (runner->depth == MAX_REMEMBERED)
		cursor_fail(&runner->program);
	else
		runner->remembered[runner->depth++] = *runner->row;
}

static void recall(struct runner *runner)
{
	if (runner->depth == 0)
		cursor_fail(&runner->program);
	else
		*runner->row = runner->remembered[--runner->depth];
}

static uint64_t little(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)cursor_u8(cursor) << (8 * i);
	return value;
}

static void set_location(struct runner *runner)
{
	/* pc-relative ones would need the program's address; compilers use advances */
	if ((runner->cie->encoding & 0x70) != 0)
		cursor_fail(&runner->program);
	runner->location = little(&runner->program, fdetable_pointer_size(runner->cie->encoding));
}

static void run_cfa(struct runner *runner, uint8_t code)
{
	struct cursor *program = &runner->program;
	struct cfi_row *row = runner->row;
	uint64_t number;

	switch (code) {
	case CFA_DEF_CFA:
		number = cursor_uleb64(program);
		set_cfa(runner, number, unsigned_offset(runner));
		break;
	case CFA_DEF_CFA_SF:
		number = cursor_uleb64(program);
		set_cfa(runner, number, factored(runner, cursor_sleb64(program)));
		break;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(runner, cursor_uleb64(program), row->cfa);
		break;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(runner, row->cfa_register, unsigned_offset(runner));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(runner, row->cfa_register, factored(runner, cursor_sleb64(program)));
		break;
	default:
		row->cfa_register = CFI_CFA_EXPRESSION;
		row->cfa = (int32_t)expression(runner);
	}
}

/* Instructions that say where a register is: its number comes first. */
static void run_register(struct runner *runner, uint8_t code)
{
	struct cursor *program = &runner->program;
	uint64_t number = cursor_uleb64(program);

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		set_rule(runner, number, CFI_AT, factored(runner, unsigned_offset(runner)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_rule(runner, number, CFI_AT, factored(runner, cursor_sleb64(program)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_rule(runner, number, CFI_AT, -factored(runner, unsigned_offset(runner)));
		break;
	case CFA_VAL_OFFSET:
		set_rule(runner, number, CFI_IS, factored(runner, unsigned_offset(runner)));
		break;
	case CFA_VAL_OFFSET_SF:
		set_rule(runner, number, CFI_IS, factored(runner, cursor_sleb64(program)));
		break;
	case CFA_UNDEFINED:
		set_rule(runner, number, CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set_rule(runner, number, CFI_SAME, 0);
		break;
	case CFA_RESTORE_EXTENDED:
		restore_rule(runner, number);
		break;
	case CFA_REGISTER:
		set_rule(runner, number, CFI_REGISTER, unsigned_offset(runner));
		break;
	case CFA_EXPRESSION:
		set_rule(runner, number, CFI_AT_EXPRESSION, expression(runner));
		break;
	case CFA_VAL_EXPRESSION:
		set_rule(runner, number, CFI_IS_EXPRESSION, expression(runner));
		break;
	default:
		cursor_fail(program);
	}
}

static void run_extended(struct runner *runner, uint8_t code)
{
	struct cursor *program = &runner->program;

	switch (code) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		set_location(runner);
		break;
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		advance(runner, little(program, (size_t)1 << (code - CFA_ADVANCE_LOC1)));
		break;
	case CFA_REMEMBER_STATE:
		remember(runner);
		break;
	case CFA_RESTORE_STATE:
		recall(runner);
		break;
	case CFA_GNU_ARGS_SIZE:
		(void)cursor_uleb64(program);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		run_cfa(runner, code);
		break;
	default:
		run_register(runner, code);
	}
}

/* Runs until the row is the one for pc. False when an instruction makes no sense. */
static bool run(struct runner *runner)
{
	while (cursor_left(&runner->program) > 0 && runner->location <= runner->pc) {
		uint8_t code = cursor_u8(&runner->program);
		struct cfi_row before = *runner->row;
		uint64_t location = runner->location;
		uint8_t low = code & LOW_BITS;

		switch (code & HIGH_BITS) {
		case CFA_ADVANCE_LOC:
			advance(runner, low);
			break;
		case CFA_OFFSET:
			set_rule(runner, low, CFI_AT, factored(runner, unsigned_offset(runner)));
			break;
		case CFA_RESTORE:
			restore_rule(runner, low);
			break;
		default:
			run_extended(runner, code);
		}
		/* backwards, or without end: no compiler does that */
		if (runner->program.failed || runner->location < location) {
			*runner->row = before;
			return false;
		}
	}
	return true;
}

/* Copies the record at ADDRESS into BYTES; BODY is left behind its id. */
static bool read_record(const struct fde_place *place, uintptr_t address, uint8_t *bytes,
			struct cursor *body, uint32_t *id)
{
	uint32_t length;

	if (fde_read(place, address, &length, sizeof(length)) != 0 || length > MAX_RECORD ||
	    fde_read(place, address + sizeof(length), bytes, length) != 0)
		return false;
	*body = cursor_of(bytes, length);
	body->origin = sizeof(length);
	*id = cursor_u32le(body);
	return !body->failed;
}

/* Whether the FDE in BODY, at address FDE, covers PC; its start is put into *START. */
static bool covers(struct cursor *body, const struct fdetable_cie *cie, uintptr_t fde, uint64_t pc,
		   uint64_t *start)
{
	uint64_t size;

	if (!fdetable_pointer(body, cie->encoding, fde + cursor_offset(body), start) ||
	    !fdetable_pointer(body, cie->encoding & 0x0f, 0, &size))
		return false;
	if (cie->sized)
		(void)cursor_sub(body, (size_t)cursor_uleb64(body));
	return !body->failed && pc - *start < size;
}

bool cfirow_make(struct cfi_row *row, uint64_t pc, struct fde_place *place, uintptr_t fde)
{
	static uint8_t fde_bytes[MAX_RECORD], cie_bytes[MAX_RECORD];
	static struct runner runner;
	struct fdetable_cie cie;
	struct cursor body;
	uint32_t distance, id;
	uintptr_t cie_address;

	*row = (struct cfi_row){ .pc = pc, .cfa_register = CFI_CFA_UNSET };
	if (!read_record(place, fde, fde_bytes, &body, &distance) || distance == 0)
		return false;
	cie_address = fde + 4 - distance;
	runner = (struct runner){ .cie = &cie, .row = row };
	if (!read_record(place, cie_address, cie_bytes, &runner.program, &id) || id != 0 ||
	    !fdetable_read_cie(&runner.program, &cie) ||
	    cie.return_register != UNWIND_REGISTERS - 1)
		return false;
	if (!covers(&body, &cie, fde, pc, &runner.location))
		return false;
	/* the CIE's instructions come first, and are not told where they are */
	runner.pc = UINT64_MAX;
	runner.to_fde = (int64_t)(cie_address - fde);
	if (!run(&runner))
		return false;
	runner.initial = *row;
	runner.program = body;
	runner.to_fde = 0;
	runner.pc = pc;
	if (!run(&runner))
		return false;
	row->fde = fde;
	row->is_signal = cie.is_signal;
	return true;
}

uint64_t cfirow_start(uint64_t pc, struct fde_place *place, uintptr_t fde)
{
	static uint8_t fde_bytes[MAX_RECORD], cie_bytes[MAX_RECORD];
	struct cursor body, program;
	struct fdetable_cie cie;
	uint32_t distance, id;
	uint64_t start;

	if (!read_record(place, fde, fde_bytes, &body, &distance) || distance == 0 ||
	    !read_record(place, fde + 4 - distance, cie_bytes, &program, &id) || id != 0 ||
	    !fdetable_read_cie(&program, &cie) || !covers(&body, &cie, fde, pc, &start))
		return 0;
	return start;
}
