/* SPDX-License-Identifier: MIT */
/*
 * linehead.h - the header of a line program: how its opcodes are made, and its files.
 */
#ifndef PRELOAD_LINES_LINEHEAD_H
#define PRELOAD_LINES_LINEHEAD_H

#include "preload/lines/linetable.h"

/* A name in one of the sections: bytes without a zero. */
struct linehead_text {
	const char *bytes; /* NULL: none */
	size_t size;
};

struct linehead_file {
	struct linehead_text name;
	uint64_t directory;
};

struct linehead {
	unsigned int version; /* 2 to 5 */
	bool is_64;	      /* offsets of 8 bytes */
	uint8_t instruction_size, operations_max, opcode_base, line_range;
	bool is_statement;
	int8_t line_base;
	uint8_t operand_counts[256];
	struct cursor program;
	/* By index: version 5 counts from 0, the others from 1 (their entry 0 is the unit's own).
	 */
	struct linehead_text *directories; /* owned */
	struct linehead_file *files;	   /* owned */
	size_t directory_count, file_count;
	size_t directory_room, file_room;
};

/* 0, -EBADMSG, -ENOMEM; linehead_free() in all cases. */
int linehead_read(struct linehead *head, const struct linetable_source *source);
void linehead_free(struct linehead *head);

/* Adds a file that the program itself defines (DW_LNE_define_file). 0 or -ENOMEM. */
int linehead_add_file(struct linehead *head, struct cursor *cursor);

#endif /* PRELOAD_LINES_LINEHEAD_H */
