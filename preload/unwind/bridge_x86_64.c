/* SPDX-License-Identifier: MIT */
/*
 * bridge_x86_64.c - PLT entries, _init and _fini, hand-written assembler, generated code.
 *
 * An interrupted leaf may not have its frame yet, or no more: its bytes tell. Everything else is
 * taken over the frame pointer. Threads: ours only.
 */
#include "preload/unwind/bridge.h"

#include "preload/unwind/code.h"
#include "preload/unwind/code_x86_64.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/slices.h"

enum { PAGE = 4096, MAX_SCANNED = 64, MAX_FUNCTION = 1 << 16 };

/* The return address at ADDRESS, if it is one: then the frame ends above it. */
static bool return_through(const struct unwind_input *input, uint64_t *registers, uint64_t address)
{
	uint64_t pc;

	if (!slices_word(input, address, &pc) || !code_follows_call(pc, input->generation))
		return false;
	registers[REGISTER_PC] = pc;
	registers[REGISTER_STACK] = address + 8;
	return true;
}

/* The bytes around PC, zero where there are none: code may start or end with its page. */
static enum code_leaf look_at_leaf(uint64_t pc)
{
	uint8_t bytes[CODE_LEAF_SIZE] = { 0 };
	size_t in_page = PAGE - pc % PAGE;

	if (!code_read(pc - 1, bytes, sizeof(bytes))) {
		(void)code_read(pc - 1, bytes, 1);
		if (in_page < sizeof(bytes) - 1)
			(void)code_read(pc, bytes + 1, in_page);
		else
			(void)code_read(pc, bytes + 1, sizeof(bytes) - 1);
	}
	return code_leaf_at(bytes);
}

static bool step_leaf(const struct unwind_input *input, uint64_t *registers)
{
	uint64_t pc = registers[REGISTER_PC], stack = registers[REGISTER_STACK];
	enum code_leaf leaf = look_at_leaf(pc);

	if (leaf == CODE_LEAF_ON_TOP)
		return return_through(input, registers, stack);
	if (leaf == CODE_LEAF_PUSHED)
		return return_through(input, registers, stack + 8);
	/*
	 * What linkers and libraries leave without tables (_init, _fini, stubs, assembler) leaves
	 * %rbp alone, so that its chain would skip the caller.
	 */
	if (objects_find_code(pc) == NULL)
		return false;
	return return_through(input, registers, stack) ||
	       return_through(input, registers, stack + 8);
}

/*
 * Whether the call before the return address CALLER can have led to the function around PC: one
 * through a pointer can, one to a fixed place if that is not far before.
 */
static bool may_have_called(uint64_t caller, uint64_t pc)
{
	uint8_t before[CODE_CALL_MAX];
	uint64_t target;

	if (!code_read(caller - sizeof(before), before, sizeof(before)))
		return false;
	if (!code_ends_in_direct_call(before, caller, &target))
		return true;
	return pc - target < MAX_FUNCTION;
}

/*
 * A function that never returns has no code that takes its frame down. The next word on the stack
 * that can be its return address is taken for it.
 */
static bool scan(const struct unwind_input *input, uint64_t *registers)
{
	uint64_t stack = registers[REGISTER_STACK], pc = registers[REGISTER_PC], word;
	unsigned int i;

	for (i = 0; i < MAX_SCANNED; i++, stack += 8) {
		if (!slices_word(input, stack, &word))
			return false;
		if (code_follows_call(word, input->generation) && may_have_called(word, pc))
			return return_through(input, registers, stack);
	}
	return false;
}

bool bridge_step(const struct unwind_input *input, uint64_t *registers, bool leaf)
{
	uint64_t frame = registers[REGISTER_FRAME], outer;

	if (leaf && step_leaf(input, registers))
		return true;
	if (!leaf && objects_find_code(registers[REGISTER_PC] - 1) != NULL &&
	    scan(input, registers))
		return true;
	if (frame < registers[REGISTER_STACK] || frame % 8 != 0)
		return false;
	if (!slices_word(input, frame, &outer) || !return_through(input, registers, frame + 8))
		return false;
	registers[REGISTER_FRAME] = outer;
	return true;
}
