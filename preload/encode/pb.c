/* SPDX-License-Identifier: MIT */
/* pb.c - the protobuf wire format: varints, lengths, nested messages, padding. Threads: any. */
#include "preload/encode/pb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum { VARINT_MAX = 10, FIELD_MAX = (1 << 29) - 1, FIRST_CAPACITY = 4096 };

/* ---- writing --------------------------------------------------------------------------------- */

/* Room for SIZE more bytes, or NULL with the error set. */
static uint8_t *extend(struct pb_writer *writer, size_t size)
{
	size_t capacity = writer->capacity;
	uint8_t *bytes;

	if (writer->error != 0)
		return NULL;
	if (size > SIZE_MAX / 4 - writer->size)
		goto fail;
	if (capacity == 0)
		capacity = FIRST_CAPACITY;
	while (capacity < writer->size + size)
		capacity *= 2;
	if (capacity != writer->capacity) {
		bytes = realloc(writer->bytes, capacity);
		if (bytes == NULL)
			goto fail;
		writer->bytes = bytes;
		writer->capacity = capacity;
	}
	bytes = writer->bytes + writer->size;
	writer->size += size;
	return bytes;
fail:
	writer->error = -ENOMEM;
	return NULL;
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	while (value >= 0x80) {
		value >>= 7;
		size++;
	}
	return size;
}

/* Exactly SIZE bytes; more than VALUE needs is still a valid varint. */
static void put_varint(uint8_t *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		out[i] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[size - 1] = (uint8_t)value;
}

static void add_varint(struct pb_writer *writer, uint64_t value)
{
	size_t size = varint_size(value);
	uint8_t *out = extend(writer, size);

	if (out != NULL)
		put_varint(out, value, size);
}

static void add_tag(struct pb_writer *writer, uint32_t field, uint32_t wire)
{
	add_varint(writer, (uint64_t)field << 3 | wire);
}

void pb_varint(struct pb_writer *writer, uint32_t field, uint64_t value)
{
	add_tag(writer, field, WIRE_VARINT);
	add_varint(writer, value);
}

void pb_append(struct pb_writer *writer, const void *bytes, size_t size)
{
	uint8_t *out = extend(writer, size);

	if (out != NULL && size != 0)
		memcpy(out, bytes, size);
}

void pb_bytes(struct pb_writer *writer, uint32_t field, const void *bytes, size_t size)
{
	add_tag(writer, field, WIRE_BYTES);
	add_varint(writer, size);
	pb_append(writer, bytes, size);
}

void pb_string(struct pb_writer *writer, uint32_t field, const char *text)
{
	pb_bytes(writer, field, text, strlen(text));
}

void pb_packed(struct pb_writer *writer, uint32_t field, const uint64_t *values, size_t count)
{
	size_t mark = pb_begin(writer, field);

	for (size_t i = 0; i < count; i++)
		add_varint(writer, values[i]);
	pb_end(writer, mark);
}

/* One byte is kept for the length: most messages are short, and only the others move. */
size_t pb_begin(struct pb_writer *writer, uint32_t field)
{
	size_t mark;

	add_tag(writer, field, WIRE_BYTES);
	mark = writer->size;
	extend(writer, 1);
	return mark;
}

void pb_end(struct pb_writer *writer, size_t mark)
{
	size_t length, size;

	if (writer->error != 0)
		return;
	length = writer->size - mark - 1;
	size = varint_size(length);
	if (size > 1) {
		if (extend(writer, size - 1) == NULL)
			return;
		memmove(writer->bytes + mark + size, writer->bytes + mark + 1, length);
	}
	put_varint(writer->bytes + mark, length, size);
}

void pb_pad(struct pb_writer *writer, uint32_t field, size_t page)
{
	size_t tag_size = varint_size((uint64_t)field << 3);
	size_t room = page - writer->size % page, length_size = 1;
	uint8_t *out;

	if (writer->size % page == 0)
		return;
	if (room < tag_size + 1)
		room += page;
	/* At a length of 128 one byte is too few and two are one too many: then the longer form is
	 * used. */
	while (varint_size(room - tag_size - length_size) > length_size)
		length_size++;
	out = extend(writer, room);
	if (out == NULL)
		return;
	memset(out, 0, room);
	put_varint(out, (uint64_t)field << 3 | WIRE_BYTES, tag_size);
	put_varint(out + tag_size, room - tag_size - length_size, length_size);
}

void pb_free(struct pb_writer *writer)
{
	free(writer->bytes);
	*writer = (struct pb_writer){ 0 };
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Moves *AT over a varint that ends before END; false when it is torn or longer than 64 bits. */
static bool get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	uint64_t result = 0;

	for (int i = 0; i < VARINT_MAX && *at + i < end; i++) {
		uint8_t byte = (*at)[i];

		if (i == VARINT_MAX - 1 && byte > 1)
			return false;
		result |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*at += i + 1;
			*value = result;
			return true;
		}
	}
	return false;
}

static bool get_fixed(const uint8_t **at, const uint8_t *end, size_t size, uint64_t *value)
{
	if ((size_t)(end - *at) < size)
		return false;
	*value = 0;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)(*at)[i] << (8 * i);
	*at += size;
	return true;
}

static bool get_bytes(const uint8_t **at, const uint8_t *end, struct pb_field *field)
{
	uint64_t size;

	if (!get_varint(at, end, &size) || size > (size_t)(end - *at))
		return false;
	field->bytes = *at;
	field->size = (size_t)size;
	*at += size;
	return true;
}

static bool get_field(const uint8_t **at, const uint8_t *end, struct pb_field *field)
{
	uint64_t tag;

	*field = (struct pb_field){ 0 };
	if (!get_varint(at, end, &tag) || tag >> 3 == 0 || tag >> 3 > FIELD_MAX)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->wire = tag & 7;
	switch (field->wire) {
	case WIRE_VARINT:
		return get_varint(at, end, &field->value);
	case WIRE_FIXED64:
		return get_fixed(at, end, 8, &field->value);
	case WIRE_BYTES:
		return get_bytes(at, end, field);
	case WIRE_FIXED32:
		return get_fixed(at, end, 4, &field->value);
	default: /* groups: pprof has none */
		return false;
	}
}

bool pb_next(struct pb_reader *reader, struct pb_field *field)
{
	const uint8_t *at = reader->at;

	if (reader->error != 0 || at >= reader->end)
		return false;
	if (!get_field(&at, reader->end, field)) {
		reader->error = -EINVAL;
		return false;
	}
	reader->at = at;
	return true;
}

int pb_each_varint(const struct pb_field *field, void (*visit)(void *context, uint64_t value),
		   void *context)
{
	const uint8_t *at = field->bytes, *end;
	uint64_t value;

	if (field->wire == WIRE_VARINT) {
		visit(context, field->value);
		return 0;
	}
	if (field->wire != WIRE_BYTES)
		return -EINVAL;
	end = field->bytes + field->size;
	while (at < end) {
		if (!get_varint(&at, end, &value))
			return -EINVAL;
		visit(context, value);
	}
	return 0;
}
