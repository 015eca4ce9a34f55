/* SPDX-License-Identifier: MIT */
/* prologue_x86_64.c - `push rbp; mov rbp, rsp`, as Cranelift begins all functions. */
#include "symtab/prologue.h"

#include <string.h>

bool prologue_has_frame_pointer(const uint8_t *code)
{
	static const uint8_t usual[PROLOGUE_SIZE] = { 0x55, 0x48, 0x89, 0xe5 };

	return memcmp(code, usual, sizeof(usual)) == 0;
}
