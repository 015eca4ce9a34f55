/* SPDX-License-Identifier: MIT */
/*
 * jitdump.c - the records of jit-PID.dump: functions by name, and when they came.
 *
 * Written by LLVM, V8, wasmtime, Julia and others, where each likes; all open it by that name, and
 * map a page of it as executable, for perf to see.
 */
#include "preload/runtime/jitdump.h"

#include <errno.h>

#include "preload/base/clock.h"
#include "preload/load/jitspace.h"
#include "symtab/jitdump.h"

enum state { AT_HEADER, HAS_TIMES, HAS_OTHER_TIMES };

static int64_t take_header(const struct followed_part *part, uint32_t *state)
{
	struct jitdump_header header;

	if (part->size < JITDUMP_HEADER)
		return 0;
	if (jitdump_header(part->bytes, &header) != 0)
		return -EINVAL;
	if (header.size > part->left)
		return 0;
	*state = header.has_own_clock ? HAS_OTHER_TIMES : HAS_TIMES;
	return (int64_t)header.size;
}

/* A time of its own is worth more than when we read it, if it can be one. */
static uint64_t time_of(const struct jitdump_record *record, uint32_t state)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return state == HAS_TIMES && record->time <= now_ns ? record->time : now_ns;
}

static void tell(const struct jitdump_record *record, uint32_t state)
{
	if (record->kind == JITDUMP_LOAD && record->name_length != 0)
		jitspace_add(&(struct jit_function){
			.start = record->start,
			.size = record->code_size,
			.time_ns = time_of(record, state),
			.name = record->name,
			.name_length = record->name_length,
		});
	else if (record->kind == JITDUMP_MOVE)
		jitspace_move(record->start, record->to, record->code_size);
}

static int64_t take_records(const struct followed_part *part, uint32_t state)
{
	uint64_t at = 0;

	while (at < part->size) {
		struct jitdump_record record;
		int error;

		/* the part ends within it, and not the file: next time it begins there */
		if (at != 0 && part->size - at < JITDUMP_WINDOW && part->left > part->size)
			break;
		error = jitdump_record(part->bytes + at, part->size - (size_t)at, part->left - at,
				       &record);
		if (error == -EAGAIN)
			break;
		if (error != 0)
			return error;
		tell(&record, state);
		at += record.size;
	}
	return (int64_t)at;
}

static int64_t take(const struct followed_part *part, uint32_t *state)
{
	return *state == AT_HEADER ? take_header(part, state) : take_records(part, *state);
}

const struct followed_format runtime_jitdump = { "jit-", ".dump", take };
