/* SPDX-License-Identifier: MIT */
/* writes_x86_64.c - one pass over a function's instructions. Threads: any. */
#include "preload/unwind/writes_x86_64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/unwind/insn_x86_64.h"
#include "symtab/prologue.h"

enum { WRITES_MAX = 1 << 16, CALLEE_SAVED = 1u << CPU_RBX | 0xf000 };

static uint16_t slot_place(struct finder *finder, const struct effect_place *place)
{
	int32_t slot = place->at - (place->reg == CPU_RSP ? finder->depth : 0);

	if (!finder->has_frame)
		return WRITES_NO_PLACE;
	for (size_t i = HOMES_REGISTERS; i < finder->place_count; i++)
		if (finder->places[i].slot == slot)
			return (uint16_t)i;
	if (finder->place_count == WRITES_PLACES)
		return WRITES_NO_PLACE;
	finder->places[finder->place_count] = (struct place){
		.slot = slot,
		.first = UINT32_MAX,
		.saves = HOMES_REGISTERS,
	};
	return (uint16_t)finder->place_count++;
}

static uint16_t place_of(struct finder *finder, const struct effect_place *place)
{
	return place->is_slot ? slot_place(finder, place) : place->reg;
}

static int add_write(struct finder *finder, struct write write)
{
	struct write *bigger;

	if (write.to == WRITES_NO_PLACE)
		return 0;
	if (finder->write_count == finder->write_capacity) {
		size_t capacity = finder->write_capacity == 0 ? 256 : finder->write_capacity * 2;

		bigger = capacity > WRITES_MAX
				 ? NULL
				 : realloc(finder->writes, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return -ENOMEM;
		finder->writes = bigger;
		finder->write_capacity = capacity;
	}
	finder->writes[finder->write_count++] = write;
	if (finder->places[write.to].first == UINT32_MAX)
		finder->places[write.to].first = write.next;
	return 0;
}

/* The caller's value of a register that was not written yet goes to a slot of its own. */
static bool is_save(const struct finder *finder, const struct effect *effect, uint16_t to)
{
	return !effect->from.is_slot && effect->to.is_slot && to != WRITES_NO_PLACE &&
	       (CALLEE_SAVED >> effect->from.reg & 1) != 0 &&
	       finder->places[effect->from.reg].first == UINT32_MAX &&
	       finder->places[to].first == UINT32_MAX;
}

static bool is_restore(const struct finder *finder, const struct effect *effect, uint16_t from)
{
	return effect->from.is_slot && !effect->to.is_slot && from != WRITES_NO_PLACE &&
	       finder->places[from].saves == effect->to.reg;
}

static int add_copy(struct finder *finder, const struct effect *effect, struct write write)
{
	uint16_t from = place_of(finder, &effect->from);

	write.to = place_of(finder, &effect->to);
	write.from = from;
	if (from == CPU_RDI && write.at < finder->argument_until)
		write.from = WRITES_ARGUMENT;
	write.is_restore |= is_restore(finder, effect, from);
	if (write.is_restore && finder->leaving_since == UINT32_MAX)
		finder->leaving_since = write.at;
	if (is_save(finder, effect, write.to)) {
		finder->places[write.to].saves = effect->from.reg;
		write.from = WRITES_NO_PLACE;
	}
	return add_write(finder, write);
}

/* Whatever else is written to the frame: slots that it touches are no homes, wherever it is. */
static void spoil_slots(struct finder *finder, const struct effect *effect)
{
	int32_t at = effect->to.at - (effect->to.reg == CPU_RSP ? finder->depth : 0);

	if (effect->writes_all_slots)
		finder->spoilt_count = WRITES_SPOILT;
	if (finder->spoilt_count < WRITES_SPOILT)
		finder->spoilt[finder->spoilt_count++] = (struct spoilt){ at, effect->to_size };
}

static int add_effect(struct finder *finder, const struct effect *effect, struct write write)
{
	uint16_t written = effect->writes;
	int error = 0;

	if (effect->is_call && finder->first_call == UINT32_MAX)
		finder->first_call = write.next;
	if (effect->is_copy)
		error = add_copy(finder, effect, write);
	else if (effect->to.reg != CPU_COUNT || effect->writes_all_slots)
		spoil_slots(finder, effect);
	if (effect->is_copy && !effect->to.is_slot)
		written &= (uint16_t) ~(1u << effect->to.reg);
	write.from = WRITES_NO_PLACE;
	for (uint16_t reg = 0; reg < CPU_COUNT && error == 0; reg++) {
		write.to = reg;
		if ((written >> reg & 1) != 0)
			error = add_write(finder, write);
	}
	if ((effect->writes >> CPU_RDI & 1) != 0 && write.at < finder->argument_until)
		finder->argument_until = write.next;
	if (!effect->is_call)
		finder->homes->written |= effect->writes;
	return error;
}

/* `push` and `pop` of registers other than %rbp. */
static int add_stack_move(struct finder *finder, const struct insn *insn, uint8_t opcode_byte,
			  bool has_rex_b, struct write write)
{
	struct effect effect = { .is_copy = true };
	struct effect_place reg = { (uint8_t)((opcode_byte & 7) | (has_rex_b ? 8 : 0)), false, 0 };
	struct effect_place top = { CPU_RSP, true, 0 };

	if (insn->kind == INSN_PUSH) {
		finder->depth += 8;
		effect.from = reg;
		effect.to = top;
		return add_effect(finder, &effect, write);
	}
	effect.from = top;
	effect.to = reg;
	effect.writes = (uint16_t)(1u << reg.reg);
	write.is_restore = true;
	if (add_effect(finder, &effect, write) != 0)
		return -ENOMEM;
	finder->depth -= 8;
	return 0;
}

static int take(struct finder *finder, uint32_t at, const struct insn *insn)
{
	const uint8_t *code = finder->code + at;
	bool has_rex = (*code & 0xf0) == 0x40;
	uint8_t opcode = has_rex ? code[1] : code[0];
	struct write write = { .at = at, .next = at + insn->length };
	struct effect effect;

	if (insn->kind == INSN_PUSH && opcode == 0x50 + CPU_RBP && !has_rex)
		return 0;
	if (insn->kind == INSN_POP && opcode == 0x58 + CPU_RBP && !has_rex)
		return 0;
	if ((insn->kind == INSN_PUSH && (opcode & 0xf8) == 0x50) ||
	    (insn->kind == INSN_POP && (opcode & 0xf8) == 0x58))
		return add_stack_move(finder, insn, opcode, has_rex && (*code & 1) != 0, write);
	switch (insn->kind) {
	case INSN_ADD_STACK:
		finder->depth -= insn->value;
		return 0;
	case INSN_STACK_OF_FRAME:
		finder->depth = -insn->value;
		return 0;
	case INSN_LEAVE:
		finder->depth = 0;
		return 0;
	case INSN_PUSH:
	case INSN_POP:
	case INSN_LOSES_STACK:
		return -EINVAL;
	default:
		effect_of(code, insn->length, &effect);
		return add_effect(finder, &effect, write);
	}
}

static void end_epilogue(struct finder *finder, uint32_t until)
{
	struct homes *homes = finder->homes;

	if (finder->leaving_since != UINT32_MAX && homes->epilogue_count == HOMES_EPILOGUES_MAX)
		homes->has_more_epilogues = true;
	else if (finder->leaving_since != UINT32_MAX)
		homes->epilogues[homes->epilogue_count++] =
			(struct epilogue_span){ finder->leaving_since, until };
	finder->leaving_since = UINT32_MAX;
}

/*
 * Behind a jump through a pointer there may be its table: distances of the targets from AT, 4 bytes
 * each, that ends before the first of them. Where the code goes on.
 */
static uint32_t skip_table(const struct finder *finder, uint32_t at)
{
	uint32_t end = at, first_target = (uint32_t)finder->size;
	int32_t distance;

	while (end + sizeof(distance) <= first_target) {
		int64_t target;

		memcpy(&distance, finder->code + end, sizeof(distance));
		target = (int64_t)at + distance;
		if (target < 0 || target >= (int64_t)finder->size)
			break;
		if (target > at && target < first_target)
			first_target = (uint32_t)target;
		end += sizeof(distance);
	}
	return end == first_target ? end : at;
}

static void init(struct finder *finder)
{
	finder->argument_until = finder->first_call = finder->leaving_since = UINT32_MAX;
	finder->place_count = HOMES_REGISTERS;
	for (size_t i = 0; i < HOMES_REGISTERS; i++)
		finder->places[i] = (struct place){ .first = UINT32_MAX, .saves = HOMES_REGISTERS };
	finder->has_frame =
		finder->size >= PROLOGUE_SIZE && prologue_has_frame_pointer(finder->code);
}

/* An epilogue takes the frame down; what comes behind its return has it as the body does. */
int writes_list(struct finder *finder)
{
	int32_t body_depth = 0;
	struct insn insn;
	uint32_t at = 0;
	int error;

	init(finder);
	while (at < finder->size) {
		if (!insn_decode(finder->code + at, finder->size - at, &insn))
			return -EINVAL;
		error = take(finder, at, &insn);
		if (error != 0)
			return error;
		at += insn.length;
		if (insn.kind == INSN_ADD_STACK && body_depth == 0)
			body_depth = finder->depth;
		if (insn.kind != INSN_RETURN && insn.kind != INSN_JUMP_AWAY)
			continue;
		if (insn.kind == INSN_RETURN)
			end_epilogue(finder, at);
		else
			at = skip_table(finder, at);
		finder->depth = body_depth;
	}
	return 0;
}
