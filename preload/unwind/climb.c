/* SPDX-License-Identifier: MIT */
/*
 * climb.c - one stack, frame by frame.
 *
 * libunwind steps where there are tables, cfi.h where it cannot or is not wanted, bridge.h where
 * there are none; every frame is checked before it is believed. Threads: ours only.
 */
#include "preload/unwind/climb.h"

#include <string.h>

#include "preload/unwind/bridge.h"
#include "preload/unwind/cfi.h"
#include "preload/unwind/code.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/slices.h"

static bool finish(struct climb *climb, enum unwind_end end)
{
	climb->end = end;
	return false;
}

/* Adds the frame that the registers describe. False when the walk is over. */
static bool add_frame(struct climb *climb)
{
	uint64_t pc = climb->registers[REGISTER_PC];

	if (climb->count == climb->max)
		return finish(climb, UNWIND_TOO_DEEP);
	climb->frames[climb->count++] =
		(struct unwind_frame){ .pc = pc, .is_guess = climb->is_guess };
	if (climb->input->stop != NULL && climb->input->stop(climb->input->context, pc))
		return finish(climb, UNWIND_STOPPED);
	return true;
}

/* The registers that calls preserve, as far as libunwind can tell them. */
static void take_registers(struct climb *climb)
{
	static const uint8_t preserved[] = { REGISTER_RBX, REGISTER_FRAME, REGISTER_R12, 13,
					     14,	   REGISTER_R15 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(preserved); i++) {
		uint64_t *value = &climb->registers[preserved[i]];

		if (!remote_register(preserved[i], value))
			*value = 0;
	}
}

/*
 * Whether PC can be what called, or what was interrupted. One address without a call before it is
 * let through: the function at the bottom of a hand-made stack was never called. It must be the
 * last.
 */
static bool believe(struct climb *climb, uint64_t pc)
{
	bool interrupted = climb->sigreturn;

	climb->sigreturn = false;
	if (interrupted)
		return code_is_known(pc, climb->input->generation);
	if (code_follows_call(pc, climb->input->generation))
		return true;
	if (!code_is_known(pc, climb->input->generation) || climb->doubtful != SIZE_MAX)
		return false;
	climb->sigreturn = code_is_sigreturn(pc);
	if (!climb->sigreturn)
		climb->doubtful = climb->count;
	return true;
}

/* Callers lie above; but a fiber's caller may lie anywhere on its own stack. */
static bool leads_up(const struct climb *climb, uint64_t stack)
{
	uint64_t before = climb->registers[REGISTER_STACK];

	return stack > before ||
	       (slices_in_resumer(climb->input, stack) && !slices_in_resumer(climb->input, before));
}

/* The walk went on to the caller, whose PC and STACK pointer these are. */
static bool arrive(struct climb *climb, uint64_t pc, uint64_t stack)
{
	bool from_signal = climb->sigreturn;

	if (climb->doubtful != SIZE_MAX)
		return finish(climb, UNWIND_BROKEN);
	/* a handler may run on a stack of its own, above or below */
	if (!leads_up(climb, stack) && !from_signal)
		return finish(climb, UNWIND_BROKEN);
	climb->frames[climb->count - 1].cfa = stack;
	if (pc == 0)
		return finish(climb, UNWIND_COMPLETE);
	if (!believe(climb, pc))
		return finish(climb, UNWIND_BROKEN);
	climb->interrupted = from_signal;
	climb->registers[REGISTER_PC] = pc;
	climb->registers[REGISTER_STACK] = stack;
	return add_frame(climb);
}

/* Over the frame without tables; END is the answer when that fails. */
static bool bridge(struct climb *climb, enum unwind_end end)
{
	uint64_t registers[UNWIND_REGISTERS];

	memcpy(registers, climb->registers, sizeof(registers));
	if (!bridge_step(climb->input, registers, climb->interrupted))
		return finish(climb, end);
	climb->is_guess = true;
	climb->registers[REGISTER_FRAME] = registers[REGISTER_FRAME];
	return arrive(climb, registers[REGISTER_PC], registers[REGISTER_STACK]);
}

static uint64_t lookup_of(const struct climb *climb)
{
	return climb->registers[REGISTER_PC] - !climb->interrupted;
}

/* Takes the caller's REGISTERS but these two, which arrive() compares, and then sets itself. */
static void leave_frame(struct climb *climb, uint64_t *registers)
{
	registers[REGISTER_PC] = climb->registers[REGISTER_PC];
	registers[REGISTER_STACK] = climb->registers[REGISTER_STACK];
	memcpy(climb->registers, registers, sizeof(climb->registers));
}

/* Over the frame without libunwind; END is the answer when there is no way. */
static bool step_without(struct climb *climb, enum unwind_end end)
{
	uint64_t registers[UNWIND_REGISTERS];
	bool from_signal = false;
	uint64_t pc, stack;

	if (climb->has_cursor)
		take_registers(climb);
	climb->has_cursor = false;
	memcpy(registers, climb->registers, sizeof(registers));
	switch (cfi_step(climb->input, registers, lookup_of(climb), &from_signal,
			 &climb->missing)) {
	case REMOTE_STEPPED:
		break;
	case REMOTE_OUTERMOST:
		climb->doubtful = SIZE_MAX;
		return finish(climb, UNWIND_COMPLETE);
	case REMOTE_SLICE_END:
		return finish(climb, UNWIND_SLICE_END);
	default:
		return bridge(climb, end);
	}
	pc = registers[REGISTER_PC];
	stack = registers[REGISTER_STACK];
	climb->is_guess = false;
	climb->sigreturn |= from_signal;
	leave_frame(climb, registers);
	return arrive(climb, pc, stack);
}

static bool step_on(struct climb *climb)
{
	uint64_t pc, stack;

	if (!remote_register(REGISTER_PC, &pc) || !remote_register(REGISTER_STACK, &stack))
		return finish(climb, UNWIND_BROKEN);
	climb->is_guess = false;
	return arrive(climb, pc, stack);
}

/* It may have left the slice for the stack on which a signal was taken, or a fiber resumed. */
static bool stands_in_slice(const struct climb *climb)
{
	const struct unwind_input *input = climb->input;
	uint64_t stack = climb->registers[REGISTER_STACK];

	return stack - input->slice_address <= input->slice_size || slices_in_resumer(input, stack);
}

/* From the frame added last to its caller. False when the walk is over. */
static bool step(struct climb *climb)
{
	if (climb->unwinder == UNWINDER_CFI || !remote_is_open())
		return step_without(climb, UNWIND_NO_TABLE);
	if (!climb->has_cursor) {
		if (!remote_begin(climb->registers, lookup_of(climb)))
			return step_without(climb, UNWIND_BROKEN);
		climb->has_cursor = true;
	}
	switch (remote_step()) {
	case REMOTE_STEPPED:
		return step_on(climb);
	case REMOTE_OUTERMOST:
		climb->doubtful = SIZE_MAX;
		return finish(climb, UNWIND_COMPLETE);
	case REMOTE_SLICE_END:
		climb->missing = remote_missing();
		return finish(climb, UNWIND_SLICE_END);
	case REMOTE_NO_TABLE:
		return step_without(climb, UNWIND_NO_TABLE);
	case REMOTE_BROKEN:
		break;
	}
	return step_without(climb, stands_in_slice(climb) ? UNWIND_BROKEN : UNWIND_SLICE_END);
}

/* Adds the leaf, and its caller where a return is near: many tables are wrong there. */
static bool start(struct climb *climb)
{
	uint64_t registers[UNWIND_REGISTERS], pc, stack;

	if (!add_frame(climb))
		return false;
	memcpy(registers, climb->registers, sizeof(registers));
	if (!climb->interrupted || !cfi_step_epilogue(climb->input, registers))
		return true;
	pc = registers[REGISTER_PC];
	stack = registers[REGISTER_STACK];
	leave_frame(climb, registers);
	return arrive(climb, pc, stack);
}

enum unwind_end climb_all(struct climb *climb)
{
	const struct unwind_input *input = climb->input;

	memcpy(climb->registers, input->registers, sizeof(climb->registers));
	climb->doubtful = SIZE_MAX;
	climb->interrupted = !input->is_caller;
	remote_prepare(input);
	if (start(climb)) {
		while (step(climb))
			;
	}
	if (climb->doubtful != SIZE_MAX && climb->doubtful < climb->count)
		climb->count = climb->doubtful;
	return climb->end;
}
