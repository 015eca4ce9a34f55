/* SPDX-License-Identifier: MIT */
/* effect_x86_64.c - tables of which operand an opcode writes. */
#include "preload/unwind/effect_x86_64.h"

#include <string.h>

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* Of the operands that a ModRM byte names. */
enum writes {
	NOTHING = 0,
	REG = 1,
	RM = 2,
	RM_WIDE = 4, /* a vector in memory; no register that matters here */
	RAX_RDX = 8,
	OPCODE = 16, /* the register in the opcode's low bits */
	RCX = 32,
	RDI_RSI = 64,
	ALL = 128,
};

struct parts {
	enum map map;
	bool is_vector; /* VEX, EVEX */
	uint8_t wide;	/* bytes of a vector, at most */
	uint8_t opcode, rex, modrm, sib;
	int32_t displacement;
};

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
					    0x36, 0x3e, 0x26, 0x64, 0x65 };

	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* VEX and EVEX have R, X and B inverted. */
static size_t take_vector(const uint8_t *at, struct parts *parts)
{
	size_t payload = at[0] == 0xc5 ? 1 : at[0] == 0xc4 ? 2 : 3;

	parts->is_vector = true;
	parts->wide = payload == 3 ? 64 : 32;
	parts->rex = (uint8_t)(~(at[1] >> 5) & 7);
	parts->map = payload == 1 ? MAP_0F : (enum map)(at[1] & 3);
	if (payload == 1)
		parts->rex &= REX_R;
	parts->opcode = at[1 + payload];
	return 2 + payload;
}

static size_t take_opcode(const uint8_t *at, struct parts *parts)
{
	if (at[0] == 0xc4 || at[0] == 0xc5 || at[0] == 0x62)
		return take_vector(at, parts);
	if (at[0] != 0x0f) {
		parts->opcode = at[0];
		return 1;
	}
	if (at[1] != 0x38 && at[1] != 0x3a) {
		parts->map = MAP_0F;
		parts->opcode = at[1];
		return 2;
	}
	parts->map = at[1] == 0x38 ? MAP_0F38 : MAP_0F3A;
	parts->opcode = at[2];
	return 3;
}

static void take_modrm(const uint8_t *at, struct parts *parts)
{
	uint8_t mod, rm;

	parts->modrm = *at++;
	mod = parts->modrm >> 6;
	rm = parts->modrm & 7;
	if (mod != 3 && rm == 4)
		parts->sib = *at++;
	if (mod == 1)
		parts->displacement = (int8_t)*at;
	else if (mod == 2)
		memcpy(&parts->displacement, at, sizeof(parts->displacement));
}

/* BYTES: one instruction, and zeros after it. */
static void split(const uint8_t *bytes, struct parts *parts)
{
	*parts = (struct parts){ .wide = 16 };
	while (is_prefix(*bytes))
		bytes++;
	if ((*bytes & 0xf0) == 0x40)
		parts->rex = *bytes++;
	bytes += take_opcode(bytes, parts);
	take_modrm(bytes, parts);
}

/* ---- which operands an opcode writes ----------------------------------------------------------
 */

static unsigned int writes_of_arithmetic(uint8_t opcode)
{
	static const uint8_t by_low[8] = { RM, RM, REG, REG, RAX_RDX, RAX_RDX, ALL, ALL };

	return opcode >= 0x38 ? NOTHING : by_low[opcode & 7]; /* 0x38: a comparison */
}

static unsigned int writes_of_one(const struct parts *parts)
{
	/* from 0x40 on */
	static const uint8_t table[256] = {
		[0x50 ... 0x57] = NOTHING,
		[0x58 ... 0x5f] = OPCODE,
		[0x63] = REG,
		[0x68] = NOTHING,
		[0x69] = REG,
		[0x6a] = NOTHING,
		[0x6b] = REG,
		[0x70 ... 0x7f] = NOTHING,
		[0x80 ... 0x83] = RM,
		[0x84 ... 0x85] = NOTHING,
		[0x86 ... 0x87] = REG | RM,
		[0x88 ... 0x89] = RM,
		[0x8a ... 0x8b] = REG,
		[0x8c] = RM,
		[0x8d] = REG,
		[0x8e] = NOTHING,
		[0x8f] = ALL,
		[0x90 ... 0x97] = OPCODE | RAX_RDX,
		[0x98 ... 0x99] = RAX_RDX,
		[0x9a ... 0x9f] = RAX_RDX,
		[0xa0 ... 0xa3] = ALL,
		[0xa4 ... 0xa7] = RDI_RSI | RCX,
		[0xa8 ... 0xa9] = NOTHING,
		[0xaa ... 0xaf] = RDI_RSI | RCX | RAX_RDX,
		[0xb0 ... 0xbf] = OPCODE,
		[0xc0 ... 0xc1] = RM,
		[0xc2 ... 0xc3] = NOTHING,
		[0xc6 ... 0xc7] = RM,
		[0xc8] = ALL,
		[0xc9] = NOTHING,
		[0xca ... 0xcf] = NOTHING,
		[0xd0 ... 0xd3] = RM,
		[0xd4 ... 0xd7] = ALL,
		[0xd8 ... 0xdf] = RM_WIDE | RAX_RDX,
		[0xe0 ... 0xe3] = RCX,
		[0xe4 ... 0xe7] = ALL,
		[0xe8 ... 0xeb] = NOTHING,
		[0xec ... 0xef] = ALL,
		[0xf0 ... 0xf5] = NOTHING,
		[0xf6 ... 0xf7] = RM | RAX_RDX,
		[0xf8 ... 0xfd] = NOTHING,
		[0xfe ... 0xff] = RM,
	};
	uint8_t extension = parts->modrm >> 3 & 7;

	if (parts->opcode < 0x40)
		return writes_of_arithmetic(parts->opcode);
	if (parts->opcode >= 0x80 && parts->opcode <= 0x83 && extension == 7)
		return NOTHING; /* a comparison */
	if (parts->opcode >= 0xf6 && parts->opcode <= 0xf7 && extension < 2)
		return NOTHING; /* a test */
	if (parts->opcode == 0xff && extension > 1)
		return NOTHING; /* calls, jumps, push */
	return table[parts->opcode];
}

static unsigned int writes_of_0f(uint8_t opcode)
{
	/* what is not here touches flags or vectors only */
	static const uint8_t table[256] = {
		[0x00 ... 0x01] = ALL,
		[0x02 ... 0x03] = REG,
		[0x05] = ALL,
		[0x07] = ALL,
		[0x20 ... 0x27] = ALL,
		[0x2c ... 0x2d] = REG,
		[0x30 ... 0x37] = ALL,
		[0x40 ... 0x4f] = REG,
		[0x50] = REG,
		[0x7e] = RM,
		[0x90 ... 0x9f] = RM,
		[0xa2] = ALL,
		[0xa4 ... 0xa5] = RM,
		[0xab] = RM,
		[0xac ... 0xad] = RM,
		[0xae] = RM,
		[0xaf] = REG,
		[0xb0 ... 0xb1] = RM | RAX_RDX,
		[0xb3] = RM,
		[0xb6 ... 0xb8] = REG,
		[0xba ... 0xbb] = RM,
		[0xbc ... 0xbf] = REG,
		[0xc0 ... 0xc1] = REG | RM,
		[0xc3] = RM,
		[0xc5] = REG,
		[0xc7] = RM | RAX_RDX,
		[0xc8 ... 0xcf] = OPCODE,
		[0xd7] = REG,
		/* stores of vectors */
		[0x11] = RM_WIDE,
		[0x13] = RM_WIDE,
		[0x17] = RM_WIDE,
		[0x29] = RM_WIDE,
		[0x2b] = RM_WIDE,
		[0x7f] = RM_WIDE,
		[0xd6] = RM_WIDE,
		[0xe7] = RM_WIDE,
	};

	return table[opcode];
}

static unsigned int writes_of(const struct parts *parts)
{
	switch (parts->map) {
	case MAP_ONE:
		return writes_of_one(parts);
	case MAP_0F:
		return writes_of_0f(parts->opcode);
	case MAP_0F38: /* crc32, movbe, and with VEX what writes a general register */
		if (parts->opcode >= 0xf0)
			return ALL;
		return parts->is_vector ? RM_WIDE : NOTHING;
	default: /* pextr and vextract; rorx */
		if (parts->opcode >= 0xf0)
			return ALL;
		return parts->is_vector || (parts->opcode & 0xf0) == 0x10 ? RM | RM_WIDE : NOTHING;
	}
}

/* ---- operands -------------------------------------------------------------------------------- */

static uint8_t reg_of(const struct parts *parts)
{
	return (uint8_t)((parts->modrm >> 3 & 7) | ((parts->rex & REX_R) != 0 ? 8 : 0));
}

static uint8_t rm_of(const struct parts *parts)
{
	return (uint8_t)((parts->modrm & 7) | ((parts->rex & REX_B) != 0 ? 8 : 0));
}

/* The memory that PARTS names, if it is relative to stack or frame pointer: *IS_KNOWN where. */
static bool is_in_frame(const struct parts *parts, struct effect_place *place, bool *is_known)
{
	uint8_t base = rm_of(parts), mod = parts->modrm >> 6;
	bool has_index = false;

	if (mod == 3)
		return false;
	if ((parts->modrm & 7) == 4) {
		base = (uint8_t)((parts->sib & 7) | ((parts->rex & REX_B) != 0 ? 8 : 0));
		has_index = (parts->sib >> 3 & 7) != 4 || (parts->rex & REX_X) != 0;
	}
	if ((base & 7) == 5 && mod == 0)
		return false; /* no base */
	*is_known = !has_index;
	*place = (struct effect_place){ base, true, parts->displacement };
	return base == CPU_RSP || base == CPU_RBP;
}

static void note_memory(const struct parts *parts, struct effect *effect, uint8_t size)
{
	struct effect_place place;
	bool is_known;

	if (!is_in_frame(parts, &place, &is_known))
		return;
	effect->writes_all_slots |= !is_known;
	effect->to = place;
	effect->to_size = size;
}

static void note_writes(const struct parts *parts, struct effect *effect)
{
	unsigned int writes = writes_of(parts);
	bool is_register = parts->modrm >> 6 == 3;

	if ((writes & ALL) != 0) {
		effect->writes = 0xffff;
		effect->writes_all_slots = true;
	}
	if ((writes & REG) != 0)
		effect->writes |= (uint16_t)(1u << reg_of(parts));
	if ((writes & RM) != 0 && is_register)
		effect->writes |= (uint16_t)(1u << rm_of(parts));
	if ((writes & RM) != 0)
		note_memory(parts, effect, 8);
	if ((writes & RM_WIDE) != 0)
		note_memory(parts, effect, parts->wide);
	if ((writes & OPCODE) != 0)
		effect->writes |= (uint16_t)(1u << ((parts->opcode & 7) |
						    ((parts->rex & REX_B) != 0 ? 8 : 0)));
	if ((writes & RAX_RDX) != 0)
		effect->writes |= 1u << CPU_RAX | 1u << CPU_RDX;
	if ((writes & RCX) != 0)
		effect->writes |= 1u << CPU_RCX;
	if ((writes & RDI_RSI) != 0)
		effect->writes |= 1u << CPU_RDI | 1u << CPU_RSI;
}

/* mov of 64 bits, between registers or with the frame. */
static void note_copy(const struct parts *parts, struct effect *effect)
{
	struct effect_place reg = { reg_of(parts), false, 0 }, rm = { rm_of(parts), false, 0 };
	bool is_store = parts->opcode == 0x89, is_known = true;

	if (parts->map != MAP_ONE || (parts->rex & REX_W) == 0 ||
	    (!is_store && parts->opcode != 0x8b))
		return;
	if (parts->modrm >> 6 != 3 && (!is_in_frame(parts, &rm, &is_known) || !is_known))
		return;
	effect->is_copy = true;
	effect->from = is_store ? reg : rm;
	effect->to = is_store ? rm : reg;
	effect->to_size = 8;
}

static bool is_call(const struct parts *parts)
{
	return parts->map == MAP_ONE &&
	       (parts->opcode == 0xe8 || (parts->opcode == 0xff && (parts->modrm >> 3 & 7) >= 2 &&
					  (parts->modrm >> 3 & 7) <= 3));
}

void effect_of(const uint8_t *bytes, size_t length, struct effect *effect)
{
	static const uint16_t scratch = 1u << CPU_RAX | 1u << CPU_RCX | 1u << CPU_RDX |
					1u << CPU_RSI | 1u << CPU_RDI | 0xf00;
	uint8_t padded[32] = { 0 };
	struct parts parts;

	memcpy(padded, bytes, length < 16 ? length : 16);
	split(padded, &parts);
	*effect = (struct effect){ .to = { .reg = CPU_COUNT }, .is_call = is_call(&parts) };
	note_writes(&parts, effect);
	if (effect->is_call)
		effect->writes |= scratch;
	note_copy(&parts, effect);
}
