/* SPDX-License-Identifier: MIT */
/*
 * tables.h - machine code without a frame pointer, and the .eh_frame that describes it.
 */
#ifndef TESTS_UNIT_UNWIND_TABLES_H
#define TESTS_UNIT_UNWIND_TABLES_H

#include <string.h>

#include "symtab/base.h"

struct bytes {
	uint8_t at[1024];
	size_t size;
};

static inline void put(struct bytes *bytes, const void *from, size_t size)
{
	memcpy(bytes->at + bytes->size, from, size);
	bytes->size += size;
}

static inline void put_u8(struct bytes *bytes, uint8_t value)
{
	put(bytes, &value, 1);
}

static inline void put_u32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, 4);
}

static inline void put_u64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, 8);
}

/* Fills the length field at FIELD, padding with DW_CFA_nop. */
static inline void end_record(struct bytes *bytes, size_t field)
{
	uint32_t length;

	while ((bytes->size - field) % 8 != 4)
		put_u8(bytes, 0);
	length = (uint32_t)(bytes->size - field - 4);
	memcpy(bytes->at + field, &length, 4);
}

/* A CIE with pointers in ENCODING: CFA = rsp + 8, return address below it. */
static inline size_t put_cie(struct bytes *bytes, const char *augmentation, uint8_t encoding)
{
	size_t field = bytes->size;

	put_u32(bytes, 0);
	put_u32(bytes, 0);
	put_u8(bytes, 1);
	put(bytes, augmentation, strlen(augmentation) + 1);
	put_u8(bytes, 1);    /* code alignment */
	put_u8(bytes, 0x78); /* data alignment -8 */
	put_u8(bytes, 16);   /* return address column */
	if (augmentation[0] == 'z') {
		put_u8(bytes, 1);
		put_u8(bytes, encoding);
	}
	put(bytes, "\x0c\x07\x08\x90\x01", 5); /* def_cfa rsp 8; offset rip -8 */
	end_record(bytes, field);
	return field;
}

/* VALUE, which will lie at ADDRESS + bytes->size, in ENCODING. */
static inline void put_pointer(struct bytes *bytes, uint8_t encoding, uint64_t value,
			       uint64_t address)
{
	if ((encoding & 0x70) == 0x10)
		value -= address + bytes->size;
	switch (encoding & 7) {
	case 2:
		put(bytes, &value, 2);
		break;
	case 3:
		put_u32(bytes, (uint32_t)value);
		break;
	default:
		put_u64(bytes, value);
	}
}

struct fde {
	size_t cie;
	uint8_t encoding;
	bool augmented;
	uint64_t start, size;
	const void *program;
	size_t program_size;
};

/* BYTES will lie at ADDRESS. */
static inline size_t put_fde(struct bytes *bytes, const struct fde *fde, uint64_t address)
{
	size_t field = bytes->size;

	put_u32(bytes, 0);
	put_u32(bytes, (uint32_t)(bytes->size - fde->cie));
	put_pointer(bytes, fde->encoding, fde->start, address);
	put_pointer(bytes, fde->encoding & 0x0f, fde->size, 0);
	if (fde->augmented)
		put_u8(bytes, 0);
	put(bytes, fde->program, fde->program_size);
	end_record(bytes, field);
	return field;
}

/* sub $SPACE,%rsp; call *%rdi; add $SPACE,%rsp; ret. SPACE is 8 more than a multiple of 16. */
static inline void put_code(struct bytes *code, uint8_t space)
{
	const uint8_t text[] = {
		0x48, 0x83, 0xec, space, 0xff, 0xd7, 0x48, 0x83, 0xc4, space, 0xc3
	};

	put(code, text, sizeof(text));
}

enum { CODE_SIZE = 11, CODE_RETURN = 6 };

/* The whole .eh_frame, terminated, of code at TEXT with PROGRAM, to lie at ADDRESS. */
static inline void put_program(struct bytes *tables, uint8_t encoding, uint64_t text,
			       uint64_t address, const void *program, size_t program_size)
{
	struct fde fde = {
		.cie = put_cie(tables, "zR", encoding),
		.encoding = encoding,
		.augmented = true,
		.start = text,
		.size = CODE_SIZE,
		.program = program,
		.program_size = program_size,
	};

	put_fde(tables, &fde, address);
	put_u32(tables, 0);
}

/* For put_code(SPACE). */
static inline void put_tables(struct bytes *tables, uint8_t space, uint8_t encoding, uint64_t text,
			      uint64_t address)
{
	/* advance 4; def_cfa_offset space+8; advance 6; def_cfa_offset 8 */
	const uint8_t program[] = { 0x44, 0x0e, (uint8_t)(space + 8), 0x46, 0x0e, 8 };

	put_program(tables, encoding, text, address, program, sizeof(program));
}

/* The same as Cranelift does it: nothing is said of the end of the frame. */
static inline void put_tables_without_epilogue(struct bytes *tables, uint8_t space, uint64_t text,
					       uint64_t address)
{
	put_program(tables, 0x1b, text, address,
		    (const uint8_t[]){ 0x44, 0x0e, (uint8_t)(space + 8) }, 3);
}

#endif /* TESTS_UNIT_UNWIND_TABLES_H */
