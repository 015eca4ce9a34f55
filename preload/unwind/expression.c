/* SPDX-License-Identifier: MIT */
/* expression.c - a small stack machine. */
#include "preload/unwind/expression.h"

#include "preload/unwind/slices.h"

enum { MAX_STEPS = 1000, MAX_STACK = 32 };

/* DWARF 5, 7.7.1. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_NOP = 0x96,
};

struct machine {
	struct cursor code;
	const struct unwind_input *input;
	const uint64_t *registers;
	uint64_t stack[MAX_STACK];
	unsigned int depth;
	bool no_memory;
	uint64_t missing;
};

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == MAX_STACK)
		cursor_fail(&machine->code);
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth > 0)
		return machine->stack[--machine->depth];
	cursor_fail(&machine->code);
	return 0;
}

static uint64_t pick(struct machine *machine, unsigned int from_top)
{
	if (from_top < machine->depth)
		return machine->stack[machine->depth - 1 - from_top];
	cursor_fail(&machine->code);
	return 0;
}

static uint64_t register_value(struct machine *machine, unsigned int number)
{
	if (number < UNWIND_REGISTERS)
		return machine->registers[number];
	cursor_fail(&machine->code);
	return 0;
}

/* A number of 1, 2, 4 or 8 bytes, as the opcodes from const1u on have it. */
static uint64_t constant(struct cursor *code, uint8_t op)
{
	unsigned int size = 1u << ((op - OP_CONST1U) / 2), i;
	uint64_t value = 0;

	for (i = 0; i < size; i++)
		value |= (uint64_t)cursor_u8(code) << (8 * i);
	if ((op - OP_CONST1U) % 2 == 1 && size < 8)
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	return value;
}

static void dereference(struct machine *machine)
{
	uint64_t address = pop(machine), value;

	if (machine->code.failed)
		return;
	if (slices_word(machine->input, address, &value)) {
		push(machine, value);
		return;
	}
	machine->no_memory = true;
	machine->missing = address;
	cursor_fail(&machine->code);
}

static void jump(struct machine *machine, bool is_taken)
{
	struct cursor *code = &machine->code;
	int16_t distance = (int16_t)constant(code, OP_CONST1U + 2);

	if (!is_taken || code->failed)
		return;
	if (distance < 0 ? (size_t)-distance > code->at : (size_t)distance > cursor_left(code))
		cursor_fail(code);
	else
		code->at = (size_t)((int64_t)code->at + distance);
}

static uint64_t compare(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_GE:
		return a >= b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_LT:
		return a < b;
	default:
		return a != b;
	}
}

static void calculate(struct machine *machine, uint8_t op)
{
	uint64_t b = pop(machine), a = pop(machine);

	switch (op) {
	case OP_AND:
		push(machine, a & b);
		break;
	case OP_OR:
		push(machine, a | b);
		break;
	case OP_XOR:
		push(machine, a ^ b);
		break;
	case OP_PLUS:
		push(machine, a + b);
		break;
	case OP_MINUS:
		push(machine, a - b);
		break;
	case OP_MUL:
		push(machine, a * b);
		break;
	case OP_SHL:
		push(machine, b < 64 ? a << b : 0);
		break;
	case OP_SHR:
		push(machine, b < 64 ? a >> b : 0);
		break;
	case OP_SHRA:
		push(machine, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)));
		break;
	default:
		if (op >= OP_EQ && op <= OP_NE)
			push(machine, compare(op, (int64_t)a, (int64_t)b));
		else
			cursor_fail(&machine->code);
	}
}

static void rearrange(struct machine *machine, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case OP_DUP:
		push(machine, pick(machine, 0));
		break;
	case OP_DROP:
		(void)pop(machine);
		break;
	case OP_OVER:
		push(machine, pick(machine, 1));
		break;
	case OP_SWAP:
		b = pop(machine);
		a = pop(machine);
		push(machine, b);
		push(machine, a);
		break;
	case OP_NEG:
		push(machine, 0 - pop(machine));
		break;
	case OP_NOT:
		push(machine, ~pop(machine));
		break;
	case OP_PLUS_UCONST:
		push(machine, pop(machine) + cursor_uleb64(&machine->code));
		break;
	default:
		calculate(machine, op);
	}
}

static void step(struct machine *machine)
{
	struct cursor *code = &machine->code;
	uint8_t op = cursor_u8(code);
	uint64_t value;

	if (op >= OP_LIT0 && op < OP_REG0) {
		push(machine, (uint64_t)(op - OP_LIT0));
	} else if (op >= OP_REG0 && op < OP_BREG0) {
		/* as libgcc has it, and wasmtime's fibers want it: the register's value */
		push(machine, register_value(machine, op - OP_REG0));
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		value = register_value(machine, op - OP_BREG0);
		push(machine, value + (uint64_t)cursor_sleb64(code));
	} else if (op >= OP_CONST1U && op < OP_CONSTU) {
		push(machine, constant(code, op));
	} else if (op == OP_ADDR) {
		push(machine, cursor_u64le(code));
	} else if (op == OP_CONSTU) {
		push(machine, cursor_uleb64(code));
	} else if (op == OP_CONSTS) {
		push(machine, (uint64_t)cursor_sleb64(code));
	} else if (op == OP_DEREF) {
		dereference(machine);
	} else if (op == OP_BRA) {
		jump(machine, pop(machine) != 0);
	} else if (op == OP_SKIP) {
		jump(machine, true);
	} else if (op != OP_NOP) {
		rearrange(machine, op);
	}
}

enum expression_end expression_evaluate(struct cursor expression, const struct unwind_input *input,
					const uint64_t *registers, bool has_initial,
					uint64_t initial, uint64_t *value)
{
	struct machine machine = { .code = expression, .input = input, .registers = registers };
	int steps;

	if (has_initial)
		push(&machine, initial);
	for (steps = 0; steps < MAX_STEPS && cursor_left(&machine.code) > 0; steps++)
		step(&machine);
	if (machine.no_memory) {
		*value = machine.missing;
		return EXPRESSION_NO_MEMORY;
	}
	if (machine.code.failed || steps == MAX_STEPS || machine.depth == 0)
		return EXPRESSION_BROKEN;
	*value = machine.stack[machine.depth - 1];
	return EXPRESSION_DONE;
}
