/* SPDX-License-Identifier: MIT */
/*
 * jitdump.h - records of jit-PID.dump: functions that a JIT made, and moved.
 *
 * Version 1 (tools/perf/Documentation/jitdump-specification.txt of Linux), in the byte order of
 * this machine. The code's bytes, line tables and unwind tables in it are passed over. Threads:
 * any.
 */
#ifndef SYMTAB_JITDUMP_H
#define SYMTAB_JITDUMP_H

#include "symtab/base.h"

enum {
	JITDUMP_HEADER = 40,   /* bytes that jitdump_header() wants */
	JITDUMP_WINDOW = 2048, /* of a record, for jitdump_record(): longer names are cut */
};

struct jitdump_header {
	uint64_t size; /* where the first record begins */
	uint32_t pid;
	bool has_own_clock; /* times are of the processor's counter */
};

/* Reads the first JITDUMP_HEADER bytes. 0; -EINVAL: not such a file, or of another version. */
int jitdump_header(const uint8_t *bytes, struct jitdump_header *header);

enum jitdump_kind { JITDUMP_LOAD, JITDUMP_MOVE, JITDUMP_CLOSE, JITDUMP_OTHER };

struct jitdump_record {
	enum jitdump_kind kind;
	uint64_t size;	     /* of all of it: where the next one begins */
	uint64_t time;	     /* nanoseconds of CLOCK_MONOTONIC, unless the header says otherwise */
	uintptr_t start, to; /* of the code; to: where it was moved */
	size_t code_size;
	const char *name; /* LOAD: within the bytes, not terminated */
	size_t name_length;
};

/*
 * Reads the record of which the first SIZE bytes are at BYTES; LEFT are from there to the end of
 * the file, and SIZE is LEFT or JITDUMP_WINDOW at least. 0; -EAGAIN: it is not complete yet;
 * -EINVAL: it contradicts itself, and what follows cannot be found.
 */
int jitdump_record(const uint8_t *bytes, size_t size, uint64_t left, struct jitdump_record *record);

#endif /* SYMTAB_JITDUMP_H */
