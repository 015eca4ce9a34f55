/* SPDX-License-Identifier: MIT */
/* callsite_x86_64.c - calls by their bytes (Intel SDM 2, CALL: E8 cd, FF /2). Threads: ours. */
#include "preload/profile/callsite.h"

#include <string.h>

#include "preload/base/guarded.h"

enum { DIRECT_SIZE = 5, LONGEST = 8 };

/* Is CODE (SIZE bytes) `call r/m64` from its first byte to its last? No prefix but REX. */
static bool is_indirect(const uint8_t *code, size_t size)
{
	uint8_t modrm, mode;
	size_t length = 2;

	if (size > 2 && (code[0] & 0xf0) == 0x40) {
		code++;
		size--;
	}
	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return false;
	modrm = code[1];
	mode = modrm >> 6;
	if (mode != 3 && (modrm & 7) == 4)
		length++; /* SIB */
	if (mode == 1)
		length += 1;
	else if (mode == 2 || (mode == 0 && (modrm & 7) == 5))
		length += 4;
	return length == size;
}

enum callsite_kind callsite_at(uint64_t pc, bool (*is_start)(const void *context, uint64_t target),
			       const void *context, uint64_t *target)
{
	uint8_t code[LONGEST];
	int32_t offset;

	if (pc < LONGEST || guarded_read(pc - LONGEST, code, LONGEST) != 0)
		return CALLSITE_UNKNOWN;
	memcpy(&offset, code + LONGEST - sizeof(offset), sizeof(offset));
	*target = pc + (uint64_t)(int64_t)offset;
	if (code[LONGEST - DIRECT_SIZE] == 0xe8 && is_start(context, *target))
		return CALLSITE_DIRECT;
	for (size_t size = 2; size <= LONGEST; size++)
		if (is_indirect(code + LONGEST - size, size))
			return CALLSITE_INDIRECT;
	return CALLSITE_UNKNOWN;
}
