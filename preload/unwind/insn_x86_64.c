/* SPDX-License-Identifier: MIT */
/* insn_x86_64.c - an instruction's parts: prefixes, opcode, ModRM, displacement, immediate. */
#include "preload/unwind/insn_x86_64.h"

#include <string.h>

#include "preload/unwind/registers_x86_64.h"

enum { REX_W = 8, REX_R = 4, REX_B = 1 };
enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* How an opcode goes on. */
enum shape {
	NONE = 0,
	MODRM = 1,
	IMM8 = 2,
	IMM16 = 4,
	IMMZ = 8,     /* 4 bytes, 2 with an operand size prefix */
	IMM32 = 16,   /* 4 bytes in any case */
	IMMV = 32,    /* IMMZ, 8 bytes with REX.W */
	MOFFS = 64,   /* an address: 8 bytes, 4 with an address size prefix */
	GROUP3 = 128, /* an immediate if the ModRM's middle field is 0 or 1 */
	BAD = 256,
};

struct decoder {
	const uint8_t *bytes;
	size_t size, at;
	bool has_operand_size, has_address_size, failed;
	uint8_t rex, opcode, modrm, sib;
	enum map map;
	int32_t displacement;
	int64_t immediate;
};

static uint8_t next(struct decoder *decoder)
{
	if (decoder->at < decoder->size)
		return decoder->bytes[decoder->at++];
	decoder->failed = true;
	return 0;
}

static int64_t number(struct decoder *decoder, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)next(decoder) << (8 * i);
	return size == 8 || size == 0 ? (int64_t)value
				      : (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

static unsigned int shape_low(uint8_t opcode)
{
	static const uint16_t by_low[8] = { MODRM, MODRM, MODRM, MODRM, IMM8, IMMZ, BAD, BAD };

	return by_low[opcode & 7];
}

static unsigned int shape_one(uint8_t opcode)
{
	/* 0x40 to 0xff; what is not there is NONE */
	static const uint16_t shapes[256] = {
		[0x60] = BAD,
		[0x61] = BAD,
		[0x62] = BAD,
		[0x63] = MODRM,
		[0x68] = IMMZ,
		[0x69] = MODRM | IMMZ,
		[0x6a] = IMM8,
		[0x6b] = MODRM | IMM8,
		[0x70 ... 0x7f] = IMM8,
		[0x80] = MODRM | IMM8,
		[0x81] = MODRM | IMMZ,
		[0x82] = BAD,
		[0x83] = MODRM | IMM8,
		[0x84 ... 0x8f] = MODRM,
		[0x9a] = BAD,
		[0xa0 ... 0xa3] = MOFFS,
		[0xa8] = IMM8,
		[0xa9] = IMMZ,
		[0xb0 ... 0xb7] = IMM8,
		[0xb8 ... 0xbf] = IMMV,
		[0xc0 ... 0xc1] = MODRM | IMM8,
		[0xc2] = IMM16,
		[0xc4 ... 0xc5] = BAD,
		[0xc6] = MODRM | IMM8,
		[0xc7] = MODRM | IMMZ,
		[0xc8] = IMM16 | IMM8,
		[0xca] = IMM16,
		[0xcd] = IMM8,
		[0xce] = BAD,
		[0xd0 ... 0xd3] = MODRM,
		[0xd4 ... 0xd6] = BAD,
		[0xd8 ... 0xdf] = MODRM,
		[0xe0 ... 0xe7] = IMM8,
		[0xe8 ... 0xe9] = IMM32,
		[0xea] = BAD,
		[0xeb] = IMM8,
		[0xf6] = MODRM | GROUP3 | IMM8,
		[0xf7] = MODRM | GROUP3 | IMMZ,
		[0xfe ... 0xff] = MODRM,
	};

	return opcode < 0x40 ? shape_low(opcode) : shapes[opcode];
}

static unsigned int shape_0f(uint8_t opcode)
{
	static const uint8_t
		plain[256] = {
			[0x05 ... 0x09] = 1, [0x0b] = 1,	  [0x0e] = 1,
			[0x30 ... 0x37] = 1, [0x77] = 1,	  [0xa0 ... 0xa2] = 1,
			[0xa8 ... 0xaa] = 1, [0xc8 ... 0xcf] = 1,
		};

	if (opcode >= 0x80 && opcode <= 0x8f)
		return IMM32;
	if (plain[opcode])
		return NONE;
	if ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
	    opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6))
		return MODRM | IMM8;
	return MODRM;
}

static unsigned int shape_of(const struct decoder *decoder)
{
	switch (decoder->map) {
	case MAP_ONE:
		return shape_one(decoder->opcode);
	case MAP_0F:
		return shape_0f(decoder->opcode);
	case MAP_0F38:
		return MODRM;
	default:
		return MODRM | IMM8;
	}
}

static void take_prefixes(struct decoder *decoder)
{
	static const uint8_t others[] = { 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };

	while (decoder->at < decoder->size) {
		uint8_t byte = decoder->bytes[decoder->at];

		if (byte == 0x66)
			decoder->has_operand_size = true;
		else if (byte == 0x67)
			decoder->has_address_size = true;
		else if (memchr(others, byte, sizeof(others)) == NULL)
			break;
		decoder->at++;
	}
	if (decoder->at < decoder->size && (decoder->bytes[decoder->at] & 0xf0) == 0x40)
		decoder->rex = decoder->bytes[decoder->at++];
}

/* VEX and EVEX: the map is in the first byte of their payload. */
static bool take_vector_prefix(struct decoder *decoder, uint8_t first)
{
	static const uint8_t payload[] = { [0] = 3, [1] = 2, [2] = 1 };
	uint8_t kind = first == 0x62 ? 0 : first == 0xc4 ? 1 : 2, byte = next(decoder);
	unsigned int map = kind == 2 ? 1u : kind == 1 ? byte & 0x1fu : byte & 7u;

	(void)number(decoder, payload[kind] - 1u);
	decoder->opcode = next(decoder);
	/* maps above the three of old hold nothing with an immediate */
	decoder->map = map <= MAP_0F3A ? (enum map)map : MAP_0F38;
	return map != 0;
}

static bool take_opcode(struct decoder *decoder)
{
	uint8_t byte = next(decoder);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return take_vector_prefix(decoder, byte);
	decoder->opcode = byte;
	if (byte != 0x0f)
		return true;
	decoder->map = MAP_0F;
	decoder->opcode = next(decoder);
	if (decoder->opcode == 0x38 || decoder->opcode == 0x3a) {
		decoder->map = decoder->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		decoder->opcode = next(decoder);
	}
	return true;
}

static void take_modrm(struct decoder *decoder)
{
	uint8_t mod, rm;

	decoder->modrm = next(decoder);
	mod = decoder->modrm >> 6;
	rm = decoder->modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4)
		decoder->sib = next(decoder);
	if (mod == 1)
		decoder->displacement = (int32_t)number(decoder, 1);
	else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (decoder->sib & 7) == 5))))
		decoder->displacement = (int32_t)number(decoder, 4);
}

static void take_immediate(struct decoder *decoder, unsigned int shape)
{
	size_t wide = decoder->has_operand_size ? 2 : 4;

	if ((shape & GROUP3) != 0 && (decoder->modrm >> 3 & 7) > 1)
		return;
	if ((shape & MOFFS) != 0)
		decoder->immediate = number(decoder, decoder->has_address_size ? 4 : 8);
	if ((shape & IMM16) != 0)
		decoder->immediate = number(decoder, 2);
	if ((shape & IMM8) != 0)
		decoder->immediate = number(decoder, 1);
	if ((shape & IMMZ) != 0)
		decoder->immediate = number(decoder, wide);
	if ((shape & IMM32) != 0)
		decoder->immediate = number(decoder, 4);
	if ((shape & IMMV) != 0)
		decoder->immediate = number(decoder, (decoder->rex & REX_W) != 0 ? 8 : wide);
}

/* DWARF's numbers differ from the CPU's in the first eight: rax rcx rdx rbx rsp rbp rsi rdi. */
static uint8_t dwarf_register(uint8_t low, bool high)
{
	return register_of_cpu((uint8_t)((low & 7) | (high ? 8 : 0)));
}

static bool modrm_is(const struct decoder *decoder, uint8_t mod, uint8_t rm)
{
	return decoder->modrm >> 6 == mod && (decoder->modrm & 7) == rm &&
	       (decoder->rex & REX_B) == 0;
}

/* A load of the stack pointer's address: lea. */
static enum insn_kind kind_of_lea(const struct decoder *decoder, struct insn *insn)
{
	uint8_t mod = decoder->modrm >> 6;

	if ((decoder->modrm >> 3 & 7) != 4 || (decoder->rex & REX_R) != 0)
		return INSN_OTHER;
	insn->value = decoder->displacement;
	if (modrm_is(decoder, 1, 5) || modrm_is(decoder, 2, 5))
		return INSN_STACK_OF_FRAME;
	if (mod != 3 && (decoder->modrm & 7) == 4 && decoder->sib == 0x24 &&
	    (decoder->rex & REX_B) == 0)
		return INSN_ADD_STACK;
	return INSN_LOSES_STACK;
}

/* mov to the stack pointer: %rbp, or something else. */
static enum insn_kind kind_of_move(const struct decoder *decoder, struct insn *insn)
{
	uint8_t from = decoder->modrm >> 3 & 7, to = decoder->modrm & 7;
	bool from_high = (decoder->rex & REX_R) != 0, to_high = (decoder->rex & REX_B) != 0;

	if (decoder->opcode == 0x8b) {
		uint8_t other = to;
		bool other_high = to_high;

		to = from, to_high = from_high;
		from = other, from_high = other_high;
	}
	if (to != 4 || to_high || (decoder->opcode == 0x89 && decoder->modrm >> 6 != 3))
		return INSN_OTHER;
	insn->value = 0;
	return decoder->modrm >> 6 == 3 && from == 5 && !from_high ? INSN_STACK_OF_FRAME
								   : INSN_LOSES_STACK;
}

/* Arithmetic with an immediate on the stack pointer itself. */
static enum insn_kind kind_of_arithmetic(const struct decoder *decoder, struct insn *insn)
{
	if (!modrm_is(decoder, 3, 4))
		return INSN_OTHER;
	insn->value = (int32_t)decoder->immediate;
	switch (decoder->modrm >> 3 & 7) {
	case 0:
		return INSN_ADD_STACK;
	case 5:
		insn->value = (int32_t)-decoder->immediate;
		return INSN_ADD_STACK;
	case 7: /* a comparison */
		return INSN_OTHER;
	default:
		return INSN_LOSES_STACK;
	}
}

static enum insn_kind kind_of_group5(const struct decoder *decoder, struct insn *insn)
{
	switch (decoder->modrm >> 3 & 7) {
	case 2:
	case 3:
		return INSN_CALL;
	case 4:
	case 5:
		return INSN_JUMP_AWAY;
	case 6:
		insn->reg = INSN_NO_REGISTER;
		return INSN_PUSH;
	default:
		return INSN_OTHER;
	}
}

static enum insn_kind kind_of_one(const struct decoder *decoder, struct insn *insn)
{
	uint8_t opcode = decoder->opcode;

	if (opcode >= 0x50 && opcode <= 0x5f) {
		insn->reg = dwarf_register(opcode, (decoder->rex & REX_B) != 0);
		return opcode < 0x58 ? INSN_PUSH : INSN_POP;
	}
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
		return INSN_BRANCH;
	switch (opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return INSN_PUSH;
	case 0x8f:
	case 0x9d:
		return INSN_POP;
	case 0x81:
	case 0x83:
		return kind_of_arithmetic(decoder, insn);
	case 0x89:
	case 0x8b:
		return kind_of_move(decoder, insn);
	case 0x8d:
		return kind_of_lea(decoder, insn);
	case 0xc2:
	case 0xc3:
		return INSN_RETURN;
	case 0xc9:
		return INSN_LEAVE;
	case 0xcc:
	case 0xf4:
		return INSN_STOP;
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xff:
		return kind_of_group5(decoder, insn);
	default:
		return INSN_OTHER;
	}
}

static enum insn_kind kind_of(const struct decoder *decoder, struct insn *insn)
{
	if (decoder->map == MAP_ONE)
		return kind_of_one(decoder, insn);
	if (decoder->map == MAP_0F && decoder->opcode >= 0x80 && decoder->opcode <= 0x8f)
		return INSN_BRANCH;
	if (decoder->map == MAP_0F && decoder->opcode == 0x0b)
		return INSN_STOP;
	return INSN_OTHER;
}

bool insn_decode(const uint8_t *bytes, size_t size, struct insn *insn)
{
	struct decoder decoder = { .bytes = bytes, .size = size < INSN_MAX ? size : INSN_MAX };
	unsigned int shape;

	take_prefixes(&decoder);
	if (!take_opcode(&decoder))
		return false;
	shape = shape_of(&decoder);
	if ((shape & BAD) != 0)
		return false;
	if ((shape & MODRM) != 0)
		take_modrm(&decoder);
	take_immediate(&decoder, shape);
	if (decoder.failed)
		return false;
	*insn = (struct insn){
		.length = (uint8_t)decoder.at,
		.reg = INSN_NO_REGISTER,
		.value = (int32_t)decoder.immediate,
	};
	insn->kind = (uint8_t)kind_of(&decoder, insn);
	return true;
}
