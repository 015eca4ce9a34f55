/* SPDX-License-Identifier: MIT */
/* jitdump.c - a header, and records of which each says how long it is. */
#include "symtab/jitdump.h"

#include <errno.h>
#include <string.h>

#include "symtab/cursor.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD", as a number of this machine's */
	VERSION = 1,
	FLAG_OWN_CLOCK = 1, /* JITDUMP_FLAGS_ARCH_TIMESTAMP */
	PREFIX = 16,	    /* id, size, time */
};
/* JIT_CODE_LOAD, JIT_CODE_MOVE, JIT_CODE_CLOSE; between them the debug and unwinding ones */
enum record_id { ID_LOAD = 0, ID_MOVE = 1, ID_CLOSE = 3 };

int jitdump_header(const uint8_t *bytes, struct jitdump_header *header)
{
	struct cursor cursor = cursor_of(bytes, JITDUMP_HEADER);
	bool is_ours = cursor_u32le(&cursor) == MAGIC && cursor_u32le(&cursor) == VERSION;

	*header = (struct jitdump_header){ .size = cursor_u32le(&cursor) };
	cursor_u64le(&cursor); /* machine, padding */
	header->pid = cursor_u32le(&cursor);
	cursor_u64le(&cursor); /* time */
	header->has_own_clock = cursor_u64le(&cursor) & FLAG_OWN_CLOCK;
	return is_ours && header->size >= JITDUMP_HEADER ? 0 : -EINVAL;
}

/* pid, tid, address, address of the code, its size, number; name, code */
static void read_load(struct cursor *cursor, struct jitdump_record *record)
{
	cursor_bytes(cursor, 16);
	record->start = cursor_u64le(cursor);
	record->code_size = cursor_u64le(cursor);
	cursor_u64le(cursor);
	record->name_length = cursor_left(cursor);
	record->name = (const char *)cursor_bytes(cursor, record->name_length);
	if (record->name != NULL)
		record->name_length = strnlen(record->name, record->name_length);
}

/* pid, tid, address, old and new address of the code, size, number */
static void read_move(struct cursor *cursor, struct jitdump_record *record)
{
	cursor_bytes(cursor, 16);
	record->start = cursor_u64le(cursor);
	record->to = cursor_u64le(cursor);
	record->code_size = cursor_u64le(cursor);
	cursor_u64le(cursor);
}

int jitdump_record(const uint8_t *bytes, size_t size, uint64_t left, struct jitdump_record *record)
{
	struct cursor cursor = cursor_of(bytes, size);
	uint32_t id = cursor_u32le(&cursor);

	*record = (struct jitdump_record){ .kind = JITDUMP_OTHER };
	record->size = cursor_u32le(&cursor);
	record->time = cursor_u64le(&cursor);
	if (cursor.failed)
		return -EAGAIN;
	if (record->size < PREFIX)
		return -EINVAL;
	if (record->size > left)
		return -EAGAIN;
	if (cursor.size > record->size)
		cursor.size = (size_t)record->size;
	if (id == ID_LOAD) {
		record->kind = JITDUMP_LOAD;
		read_load(&cursor, record);
	} else if (id == ID_MOVE) {
		record->kind = JITDUMP_MOVE;
		read_move(&cursor, record);
	} else if (id == ID_CLOSE) {
		record->kind = JITDUMP_CLOSE;
	}
	return cursor.failed ? -EINVAL : 0;
}
