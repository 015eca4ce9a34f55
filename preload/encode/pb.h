/* SPDX-License-Identifier: MIT */
/*
 * pb.h - the protobuf wire format (protobuf.dev/programming-guides/encoding): a growing buffer to
 * write to with a sticky error, and a bounded cursor to read from with a sticky error.
 */
#ifndef PRELOAD_ENCODE_PB_H
#define PRELOAD_ENCODE_PB_H

#include "symtab/base.h"

/* ---- writing --------------------------------------------------------------------------------- */

struct pb_writer {
	uint8_t *bytes; /* owned; free() */
	size_t size, capacity;
	int error; /* 0, or -ENOMEM: everything after it is dropped */
};

void pb_varint(struct pb_writer *writer, uint32_t field, uint64_t value); /* written even when 0 */
void pb_bytes(struct pb_writer *writer, uint32_t field, const void *bytes, size_t size);
void pb_string(struct pb_writer *writer, uint32_t field, const char *text);
/* Packed repeated varints. */
void pb_packed(struct pb_writer *writer, uint32_t field, const uint64_t *values, size_t count);
/* Whole fields that were written before. */
void pb_append(struct pb_writer *writer, const void *bytes, size_t size);
/* A nested message: everything between begin and end. Returns a mark for pb_end(). */
size_t pb_begin(struct pb_writer *writer, uint32_t field);
void pb_end(struct pb_writer *writer, size_t mark);
/* An unknown field FIELD that brings the size to a multiple of PAGE. */
void pb_pad(struct pb_writer *writer, uint32_t field, size_t page);
void pb_free(struct pb_writer *writer);

/* ---- reading --------------------------------------------------------------------------------- */

struct pb_reader {
	const uint8_t *at, *end;
	int error; /* 0 or -EINVAL (torn or damaged); then there are no more fields */
};

struct pb_field {
	uint32_t number;
	uint32_t wire;	      /* 0 varint, 1 fixed64, 2 bytes, 5 fixed32 */
	uint64_t value;	      /* of wire 0, 1, 5 */
	const uint8_t *bytes; /* of wire 2 */
	size_t size;
};

/* The next field; false at the end or on an error: then AT is where the bad field starts. */
bool pb_next(struct pb_reader *reader, struct pb_field *field);

/* Values of a repeated varint, packed or not: calls VISIT for each. Returns 0 or -EINVAL. */
int pb_each_varint(const struct pb_field *field, void (*visit)(void *context, uint64_t value),
		   void *context);

#endif /* PRELOAD_ENCODE_PB_H */
