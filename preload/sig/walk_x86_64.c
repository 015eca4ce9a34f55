/* SPDX-License-Identifier: MIT */
/* walk_x86_64.c - leaf fix on code bytes, then rbp, [rbp], ... while it makes sense. */
#include "preload/sig/walk.h"

#include "preload/sig/cpu.h"
#include "preload/sig/interpreted.h"
#include "preload/sig/thread.h"

/* `push rbp; mov rbp, rsp`, as four bytes of code read little-endian. */
#define PROLOGUE 0xe5894855u
enum { PUSH_RBP = 0x55, RET = 0xc3, RET_IMMEDIATE = 0xc2 };

/* Where the leaf's return address is. */
enum leaf { LEAF_FRAME, LEAF_AT_SP, LEAF_ABOVE_SP };

SIGNAL_SAFE bool walk_knows(struct walk *walk, uintptr_t pc)
{
	const struct range *hit = walk->hit;

	/* A call that does not return may be the last instruction of a range. */
	pc--;
	if (hit != NULL && pc >= hit->start && pc < hit->end)
		return true;
	hit = ranges_find(walk->ranges, pc);
	if (hit == NULL)
		return false;
	walk->hit = hit;
	return true;
}

/*
 * A frame exists from after `mov rbp, rsp` until `pop rbp`. Tiny functions spend most of their time
 * outside of that: without this look 31 % of their chains were complete, with it all.
 */
SIGNAL_SAFE static enum leaf leaf_of(const struct range *range, uintptr_t pc)
{
	uint8_t first = cpu_code_byte(pc);
	uint32_t code;

	if (first == RET || first == RET_IMMEDIATE)
		return LEAF_AT_SP;
	if (range->end - pc < sizeof(code))
		return LEAF_FRAME;
	code = cpu_code(pc);
	if (code == PROLOGUE)
		return LEAF_AT_SP;
	if ((code & 0xffffff) == PROLOGUE >> 8 && pc > range->start &&
	    cpu_code_byte(pc - 1) == PUSH_RBP)
		return LEAF_ABOVE_SP;
	return LEAF_FRAME;
}

/* PC was appended; its frame's pointer is FP, and its frame lies above LOW. */
SIGNAL_SAFE static void note_interpreted(struct walk *walk, uintptr_t pc, uintptr_t fp,
					 uintptr_t low)
{
	uint64_t word;

	if (fp < low || fp >= walk->limit || walk->count == walk->max)
		return;
	word = interpreted_word(walk->reach, pc - 1, fp);
	if (word != 0)
		walk->pcs[walk->count++] = word;
}

SIGNAL_SAFE static enum walk_end walk_up(struct walk *walk, uintptr_t fp, uintptr_t low)
{
	const bool has_interpreted = interpreted_are_there();

	for (;;) {
		uintptr_t pc;

		if (fp < low || fp >= walk->limit || !reach_word(walk->reach, fp) ||
		    !reach_word(walk->reach, fp + 8))
			return WALK_BROKEN;
		pc = cpu_word(fp + 8);
		if (!walk_knows(walk, pc)) {
			walk->last_fp = fp;
			return WALK_COMPLETE;
		}
		if (walk->count == walk->max)
			return WALK_FULL;
		walk->pcs[walk->count++] = pc;
		if (!walk->hit->has_frame_pointers)
			return WALK_BROKEN;
		low = fp + 16;
		fp = cpu_word(fp);
		if (has_interpreted)
			note_interpreted(walk, pc, fp, low);
	}
}

SIGNAL_SAFE enum walk_end walk_interrupted(struct walk *walk, uintptr_t pc, uintptr_t fp,
					   uintptr_t sp, bool code_readable)
{
	enum leaf leaf = LEAF_FRAME;
	uintptr_t at;

	walk->last_fp = 0;
	walk->hit = ranges_find(walk->ranges, pc);
	if (walk->hit == NULL)
		return WALK_BROKEN;
	if (walk->count == walk->max)
		return WALK_FULL;
	walk->pcs[walk->count++] = pc;
	if (code_readable)
		leaf = leaf_of(walk->hit, pc);
	if (leaf == LEAF_FRAME) {
		if (interpreted_are_there())
			note_interpreted(walk, pc + 1, fp, sp);
		return walk_up(walk, fp, sp);
	}

	at = leaf == LEAF_AT_SP ? sp : sp + 8;
	if (!reach_word(walk->reach, at))
		return WALK_BROKEN;
	pc = cpu_word(at);
	if (!walk_knows(walk, pc))
		return WALK_COMPLETE;
	return walk_caller(walk, pc, fp, at + 8);
}

SIGNAL_SAFE enum walk_end walk_caller(struct walk *walk, uintptr_t pc, uintptr_t fp, uintptr_t low)
{
	walk->last_fp = 0;
	if (!walk_knows(walk, pc))
		return WALK_BROKEN;
	if (walk->count == walk->max)
		return WALK_FULL;
	walk->pcs[walk->count++] = pc;
	if (!walk->hit->has_frame_pointers)
		return WALK_BROKEN;
	if (interpreted_are_there())
		note_interpreted(walk, pc, fp, low);
	return walk_up(walk, fp, low);
}
