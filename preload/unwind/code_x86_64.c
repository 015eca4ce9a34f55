/* SPDX-License-Identifier: MIT */
/* code_x86_64.c - recognises calls, returns, prologues and PLT entries by their bytes. */
#include "preload/unwind/code_x86_64.h"

#include <string.h>

enum {
	CALL_REL32 = 0xe8,
	JMP_REL32 = 0xe9,
	GROUP_5 = 0xff, /* /2: call, /4: jmp */
	RET = 0xc3,
	RET_IMM16 = 0xc2,
	PUSH_RBP = 0x55,
	PUSH_IMM32 = 0x68,
	MODRM_JMP_RIP = 0x25,
};

/* Bytes that follow the modrm byte: a SIB and a displacement. */
static size_t operand_size(uint8_t modrm, uint8_t sib)
{
	static const uint8_t displacement[4] = { 0, 1, 4, 0 };
	uint8_t mod = modrm >> 6, rm = modrm & 7;
	size_t size = displacement[mod];

	if (mod == 3)
		return 0;
	if (mod == 0 && rm == 5)
		return 4;
	if (rm == 4) {
		size++;
		if (mod == 0 && (sib & 7) == 5)
			size += 4;
	}
	return size;
}

bool code_ends_in_call(const uint8_t *before)
{
	size_t length;

	if (before[CODE_CALL_MAX - 5] == CALL_REL32)
		return true;
	for (length = 2; length <= CODE_CALL_MAX; length++) {
		const uint8_t *at = before + CODE_CALL_MAX - length;

		if (at[0] != GROUP_5 || (at[1] >> 3 & 7) != 2)
			continue;
		if (2 + operand_size(at[1], length > 2 ? at[2] : 0) == length)
			return true;
	}
	return false;
}

bool code_ends_in_direct_call(const uint8_t *before, uint64_t after, uint64_t *target)
{
	int32_t distance;

	memcpy(&distance, before + CODE_CALL_MAX - sizeof(distance), sizeof(distance));
	*target = after + (uint64_t)(int64_t)distance;
	return before[CODE_CALL_MAX - 5] == CALL_REL32;
}

bool code_is_sigreturn_text(const uint8_t *bytes)
{
	static const uint8_t text[CODE_SIGRETURN_SIZE] = {
		0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05,
	};

	return memcmp(bytes, text, sizeof(text)) == 0;
}

bool code_is_return(uint8_t byte)
{
	return byte == RET || byte == RET_IMM16;
}

static bool starts(const uint8_t *at, const void *bytes, size_t size)
{
	return memcmp(at, bytes, size) == 0;
}

/* A PLT entry, after endbr64 if there is one: jmp *GOT(%rip), with or without bnd. */
static bool is_plt_jump(const uint8_t *at)
{
	return starts(at, "\xff\x25", 2) || starts(at, "\xf2\xff\x25", 3);
}

enum code_leaf code_leaf_at(const uint8_t *bytes)
{
	const uint8_t *pc = bytes + 1;

	if (code_is_return(pc[0]) || starts(pc, "\xf3\xc3", 2) || starts(pc, "\xf3\x0f\x1e\xfa", 4))
		return CODE_LEAF_ON_TOP;
	if (pc[0] == PUSH_RBP || is_plt_jump(pc))
		return CODE_LEAF_ON_TOP;
	if (pc[0] == PUSH_IMM32 && pc[5] == JMP_REL32)
		return CODE_LEAF_ON_TOP;
	/* push %rbp is behind us; mov %rsp,%rbp in one of its two encodings is next */
	if (bytes[0] == PUSH_RBP &&
	    (starts(pc, "\x48\x89\xe5", 3) || starts(pc, "\x48\x8b\xec", 3)))
		return CODE_LEAF_PUSHED;
	return CODE_LEAF_UNKNOWN;
}
