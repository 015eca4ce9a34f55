/* SPDX-License-Identifier: MIT */
/*
 * perfmap.h - a line of /tmp/perf-PID.map: a function that a JIT made.
 *
 * "START SIZE NAME", both numbers hexadecimal, the name to the end of the line
 * (tools/perf/Documentation/jit-interface.txt of Linux). Threads: any.
 */
#ifndef SYMTAB_PERFMAP_H
#define SYMTAB_PERFMAP_H

#include "symtab/base.h"

struct perfmap_entry {
	uintptr_t start;
	size_t size;
	const char *name; /* within the line, not terminated */
	size_t name_length;
};

/*
 * Reads LENGTH bytes at LINE, any bytes, without their newline. False when they are no entry: no
 * numbers, no name, no code, or an end beyond the address space.
 */
bool perfmap_line(const char *line, size_t length, struct perfmap_entry *entry);

#endif /* SYMTAB_PERFMAP_H */
