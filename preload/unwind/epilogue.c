/* SPDX-License-Identifier: MIT */
/* epilogue.c - follows code to where it returns. Threads: ours only. */
#include "preload/unwind/epilogue.h"

#include <string.h>

#include "preload/unwind/code.h"
#include "preload/unwind/insn_x86_64.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/slices.h"

enum {
	MAX_STEPS = 4096,
	MAX_WAITING = 64,
	SEEN_LOG2 = 12,
	CHUNK = 256,
	MAX_FRAME = 1 << 20,
	MAX_EPILOGUE = 10
};
#define NOT_SAVED INT32_MIN

/* What the way to some place has done to the stack so far. Offsets are from where it started. */
struct way {
	uint64_t pc;
	int64_t depth; /* of the stack pointer: from the stack pointer, or from the frame pointer */
	bool is_of_frame;
	int32_t saved[UNWIND_REGISTERS]; /* where the register was popped from; NOT_SAVED */
};

static struct {
	const struct unwind_input *input;
	const uint64_t *registers;
	struct way waiting[MAX_WAITING]; /* the other sides of branches */
	size_t count;
	uint64_t seen[1 << SEEN_LOG2]; /* branches that were taken, by hash */
	uint64_t chunk_address;
	size_t chunk_size;
	uint8_t chunk[CHUNK];
} self;

static bool read_insn(uint64_t pc, struct insn *insn)
{
	uint64_t offset = pc - self.chunk_address;

	if (offset >= self.chunk_size || self.chunk_size - offset < INSN_MAX) {
		self.chunk_address = pc;
		self.chunk_size = CHUNK;
		while (self.chunk_size >= INSN_MAX && !code_read(pc, self.chunk, self.chunk_size))
			self.chunk_size /= 2;
		if (self.chunk_size < INSN_MAX)
			return false;
		offset = 0;
	}
	return insn_decode(self.chunk + offset, self.chunk_size - offset, insn);
}

static uint64_t address_at(const struct way *way)
{
	return self.registers[way->is_of_frame ? REGISTER_FRAME : REGISTER_STACK] +
	       (uint64_t)way->depth;
}

/* Whether the way ends here: the stack pointer stands on a return address. */
static bool has_arrived(const struct way *way)
{
	uint64_t address = address_at(way), pc;

	return address >= self.registers[REGISTER_STACK] && slices_word(self.input, address, &pc) &&
	       code_follows_call(pc, self.input->generation);
}

static bool was_seen(uint64_t pc)
{
	uint64_t *seen = &self.seen[(pc * 0x9e3779b97f4a7c15ull) >> (64 - SEEN_LOG2)];

	if (*seen == pc)
		return true;
	*seen = pc;
	return false;
}

/* The other side of a branch, for later. */
static void put_off(const struct way *way, uint64_t target)
{
	if (self.count == MAX_WAITING || was_seen(target))
		return;
	self.waiting[self.count] = *way;
	self.waiting[self.count++].pc = target;
}

static void pop(struct way *way, uint8_t reg)
{
	/* what was pushed on the way comes back unchanged */
	if (reg < UNWIND_REGISTERS && (way->is_of_frame || way->depth >= 0))
		way->saved[reg] = (int32_t)way->depth;
	way->depth += 8;
}

/* The offsets that were noted before were from the stack pointer; now they are from the frame. */
static void take_frame(struct way *way, int32_t value)
{
	int64_t distance =
		(int64_t)(self.registers[REGISTER_STACK] - self.registers[REGISTER_FRAME]);
	size_t i;

	if (!way->is_of_frame && distance == (int32_t)distance) {
		for (i = 0; i < UNWIND_REGISTERS; i++)
			if (way->saved[i] != NOT_SAVED)
				way->saved[i] += (int32_t)distance;
	}
	way->is_of_frame = true;
	way->depth = value;
}

/* Lets INSN, which ends at way->pc, happen. False when the way ends there, good or bad. */
static bool follow(struct way *way, const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_PUSH:
		way->depth -= 8;
		return true;
	case INSN_POP:
		pop(way, insn->reg);
		return true;
	case INSN_ADD_STACK:
		way->depth += insn->value;
		return way->depth < MAX_FRAME && way->depth > -MAX_FRAME;
	case INSN_STACK_OF_FRAME:
		take_frame(way, insn->value);
		return true;
	case INSN_LEAVE:
		take_frame(way, 0);
		pop(way, REGISTER_FRAME);
		return true;
	case INSN_JUMP:
		way->pc += (uint64_t)(int64_t)insn->value;
		return !was_seen(way->pc);
	case INSN_BRANCH:
		put_off(way, way->pc + (uint64_t)(int64_t)insn->value);
		return true;
	case INSN_OTHER:
	case INSN_CALL:
		return true;
	default:
		return false;
	}
}

/* Goes WAY to its end. True when that is a return. */
static bool go(struct way *way, int *steps)
{
	struct insn insn;

	while ((*steps)++ < MAX_STEPS && read_insn(way->pc, &insn)) {
		way->pc += insn.length;
		if (insn.kind == INSN_RETURN)
			return has_arrived(way);
		/* through a pointer: a call that does not come back here, or a switch, whose cases
		 * are next */
		if (insn.kind == INSN_JUMP_AWAY) {
			if (has_arrived(way))
				return true;
			put_off(way, way->pc);
			return false;
		}
		if (!follow(way, &insn))
			return false;
	}
	return false;
}

static void write_row(struct cfi_row *row, uint64_t pc, const struct way *way)
{
	int32_t cfa = (int32_t)way->depth + 8;
	size_t i;

	*row = (struct cfi_row){
		.pc = pc,
		.fde = pc,
		.cfa = cfa,
		.cfa_register = way->is_of_frame ? REGISTER_FRAME : REGISTER_STACK,
	};
	for (i = 0; i < UNWIND_REGISTERS; i++) {
		if (way->saved[i] == NOT_SAVED || i == REGISTER_STACK)
			continue;
		row->rule[i] = CFI_AT;
		row->value[i] = way->saved[i] - cfa;
	}
	row->rule[REGISTER_PC] = CFI_AT;
	row->value[REGISTER_PC] = -8;
}

static void begin(uint64_t pc, const struct unwind_input *input, const uint64_t *registers)
{
	size_t i;

	self.input = input;
	self.registers = registers;
	self.count = 1;
	self.chunk_size = 0;
	self.waiting[0] = (struct way){ .pc = pc };
	for (i = 0; i < UNWIND_REGISTERS; i++)
		self.waiting[0].saved[i] = NOT_SAVED;
}

bool epilogue_make(struct cfi_row *row, uint64_t pc, const struct unwind_input *input,
		   const uint64_t *registers)
{
	int steps = 0;

	if (!code_is_there(pc, input->generation))
		return false;
	begin(pc, input, registers);
	memset(self.seen, 0, sizeof(self.seen));
	while (self.count > 0 && steps < MAX_STEPS) {
		struct way way = self.waiting[--self.count];

		if (go(&way, &steps)) {
			write_row(row, pc, &way);
			return true;
		}
	}
	return false;
}

bool epilogue_is_at(struct cfi_row *row, uint64_t pc, const struct unwind_input *input,
		    const uint64_t *registers)
{
	struct way *way = &self.waiting[0];
	struct insn insn = { 0 };
	int steps;

	if (!code_is_there(pc, input->generation))
		return false;
	begin(pc, input, registers);
	for (steps = 0; steps < MAX_EPILOGUE && read_insn(way->pc, &insn); steps++) {
		way->pc += insn.length;
		if (insn.kind == INSN_RETURN)
			break;
		if (insn.kind != INSN_POP && insn.kind != INSN_ADD_STACK &&
		    insn.kind != INSN_STACK_OF_FRAME && insn.kind != INSN_LEAVE)
			return false;
		if (!follow(way, &insn))
			return false;
	}
	if (insn.kind != INSN_RETURN || !has_arrived(way))
		return false;
	write_row(row, pc, way);
	return true;
}
