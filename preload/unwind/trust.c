/* SPDX-License-Identifier: MIT */
/*
 * trust.c - walks the call frame instructions of a CIE and an FDE (DWARF 5, 6.4.2 and 7.24) without
 * running them. Threads: ours only.
 */
#include "preload/unwind/trust.h"

#include "preload/unwind/fdetable.h"
#include "preload/unwind/unwind.h"
#include "symtab/cursor.h"

enum {
	MAX_RECORD = 32 * 1024,
	MAX_REMEMBERED = 32,
	CFA_OFFSET = 0x80, /* with the register in the low bits, as 0x40 and 0xc0 */
	CFA_HIGH = 0xc0,
	CFA_LOW = 0x3f,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE = 0x0b,
	OP_DIV = 0x1b,
	OP_REG0 = 0x50,
	OP_REG31 = 0x6f,
};

/*
 * Operands by opcode: u LEB128, s signed LEB128, r register, 1 2 4 bytes, p pointer, b expression.
 * NULL: unknown, or like DW_CFA_val_offset unknown to libunwind, which then takes the operands for
 * instructions.
 */
static const char *const operands[] = {
	[0x00] = "",   [0x01] = "p", [0x02] = "1",  [0x03] = "2",  [0x04] = "4",  [0x05] = "ru",
	[0x06] = "r",  [0x07] = "r", [0x08] = "r",  [0x09] = "rr", [0x0a] = "",	  [0x0b] = "",
	[0x0c] = "ru", [0x0d] = "r", [0x0e] = "u",  [0x0f] = "b",  [0x10] = "rb", [0x11] = "rs",
	[0x12] = "rs", [0x13] = "s", [0x16] = "rb", [0x2e] = "u",  [0x2f] = "ru",
};

/*
 * An expression without a division, without a register's number instead of its value (wasmtime's
 * fibers have that; libgcc takes it for the value), nor an operand that looks like one.
 */
static bool expression_is_safe(struct cursor *program)
{
	struct cursor block = cursor_sub(program, (size_t)cursor_uleb64(program));
	size_t i;

	for (i = 0; i < block.size && !block.failed; i++) {
		if (block.bytes[i] == OP_DIV ||
		    (block.bytes[i] >= OP_REG0 && block.bytes[i] <= OP_REG31))
			return false;
	}
	return !block.failed;
}

static bool operand_is_safe(struct cursor *program, char kind, uint8_t encoding)
{
	if (kind == 'r')
		return cursor_uleb64(program) < UNWIND_REGISTERS && !program->failed;
	if (kind == 'u')
		(void)cursor_uleb64(program);
	else if (kind == 's')
		(void)cursor_sleb64(program);
	else if (kind == 'b')
		return expression_is_safe(program);
	else
		(void)cursor_bytes(program, kind == 'p' ? fdetable_pointer_size(encoding)
							: (size_t)(kind - '0'));
	return !program->failed;
}

static bool program_is_safe(struct cursor *program, uint8_t encoding)
{
	int remembered = 0;

	while (cursor_left(program) > 0) {
		uint8_t code = cursor_u8(program);
		const char *kinds = (code & CFA_HIGH) == CFA_OFFSET ? "u" : "";

		if ((code & CFA_OFFSET) != 0 && (code & CFA_LOW) >= UNWIND_REGISTERS)
			return false;
		if ((code & CFA_HIGH) == 0) {
			if (code >= ARRAY_SIZE(operands) || operands[code] == NULL)
				return false;
			kinds = operands[code];
		}
		remembered += (code == CFA_REMEMBER) - (code == CFA_RESTORE);
		if (remembered > MAX_REMEMBERED)
			return false;
		for (; *kinds != '\0'; kinds++) {
			if (!operand_is_safe(program, *kinds, encoding))
				return false;
		}
	}
	return true;
}

/* Copies the record at ADDRESS into BYTES; BODY is left behind its id. */
static bool read_record(const struct memory *memory, uintptr_t address, uint8_t *bytes,
			struct cursor *body, uint32_t *id)
{
	uint32_t length;

	if (memory_read(memory, address, &length, sizeof(length)) != 0 || length > MAX_RECORD ||
	    memory_read(memory, address + sizeof(length), bytes, length) != 0)
		return false;
	*body = cursor_of(bytes, length);
	*id = cursor_u32le(body);
	return !body->failed;
}

bool trust_fde(const struct memory *memory, uintptr_t fde)
{
	static uint8_t fde_bytes[MAX_RECORD], cie_bytes[MAX_RECORD];
	struct cursor fde_body, cie_body;
	struct fdetable_cie cie;
	uint32_t distance, id;

	if (!read_record(memory, fde, fde_bytes, &fde_body, &distance) || distance == 0 ||
	    !read_record(memory, fde + 4 - distance, cie_bytes, &cie_body, &id) || id != 0)
		return false;
	if (!fdetable_read_cie(&cie_body, &cie) || !program_is_safe(&cie_body, cie.encoding))
		return false;
	(void)cursor_bytes(&fde_body, 2 * fdetable_pointer_size(cie.encoding));
	if (cie.sized)
		(void)cursor_sub(&fde_body, (size_t)cursor_uleb64(&fde_body));
	return !fde_body.failed && program_is_safe(&fde_body, cie.encoding);
}
