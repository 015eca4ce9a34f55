/* SPDX-License-Identifier: MIT */
/* linehead.c - decodes the header of a line program, versions 2 to 5 (DWARF 5, 6.2.4). Threads:
 * any.
 */
#include "preload/lines/linehead.h"

#include "preload/lines/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

enum { FORMATS_MAX = 255 };

/* Version 5: what an entry of a table is made of. */
struct format {
	uint64_t content, form;
};

struct formats {
	struct format list[FORMATS_MAX];
	uint8_t count;
};

/* Any value of an entry; what it is not stays empty. */
struct value {
	struct linehead_text text;
	uint64_t number;
};

static uint64_t read_offset(struct cursor *cursor, bool is_64)
{
	return is_64 ? cursor_u64le(cursor) : cursor_u32le(cursor);
}

/* Up to a zero byte, which is skipped. */
static struct linehead_text read_text(struct cursor *cursor)
{
	size_t left = cursor_left(cursor);
	const uint8_t *start, *end = NULL;

	if (left != 0) {
		start = cursor->bytes + cursor->at;
		end = memchr(start, 0, left);
	}
	if (end == NULL) {
		cursor_fail(cursor);
		return (struct linehead_text){ 0 };
	}
	cursor->at += (size_t)(end - start) + 1;
	return (struct linehead_text){ (const char *)start, (size_t)(end - start) };
}

static struct linehead_text text_at(struct cursor section, uint64_t offset)
{
	section.at = offset <= section.size ? (size_t)offset : section.size;
	return read_text(&section);
}

static struct value read_value(struct cursor *cursor, const struct linehead *head,
			       const struct linetable_source *source, uint64_t form)
{
	struct value value = { 0 };

	switch (form) {
	case DW_FORM_string:
		value.text = read_text(cursor);
		break;
	case DW_FORM_line_strp:
		value.text = text_at(source->line_str, read_offset(cursor, head->is_64));
		break;
	case DW_FORM_strp:
		value.text = text_at(source->str, read_offset(cursor, head->is_64));
		break;
	case DW_FORM_udata:
		value.number = cursor_uleb64(cursor);
		break;
	case DW_FORM_data1:
		value.number = cursor_u8(cursor);
		break;
	case DW_FORM_data2:
		value.number = cursor_u8(cursor);
		value.number |= (uint64_t)cursor_u8(cursor) << 8;
		break;
	case DW_FORM_data4:
		value.number = cursor_u32le(cursor);
		break;
	case DW_FORM_data8:
		value.number = cursor_u64le(cursor);
		break;
	case DW_FORM_data16: /* a checksum */
		cursor_bytes(cursor, 16);
		break;
	case DW_FORM_block:
		cursor_bytes(cursor, cursor_uleb64(cursor));
		break;
	default:
		cursor_fail(cursor);
	}
	return value;
}

static int add_directory(struct linehead *head, struct linehead_text name)
{
	int error = array_reserve(&head->directories, &head->directory_room, head->directory_count,
				  sizeof(*head->directories));

	if (error == 0)
		head->directories[head->directory_count++] = name;
	return error;
}

static int add_file(struct linehead *head, struct linehead_text name, uint64_t directory)
{
	int error = array_reserve(&head->files, &head->file_room, head->file_count,
				  sizeof(*head->files));

	if (error == 0)
		head->files[head->file_count++] = (struct linehead_file){ name, directory };
	return error;
}

static void read_formats(struct cursor *cursor, struct formats *formats)
{
	formats->count = cursor_u8(cursor);
	for (int i = 0; i < formats->count; i++) {
		formats->list[i].content = cursor_uleb64(cursor);
		formats->list[i].form = cursor_uleb64(cursor);
	}
}

/* One of the two tables of version 5. */
static int read_table(struct linehead *head, struct cursor *cursor,
		      const struct linetable_source *source, bool is_files)
{
	struct formats formats;
	uint64_t count;
	int error = 0;

	read_formats(cursor, &formats);
	count = cursor_uleb64(cursor);
	/* an entry of no formats takes no bytes, and any number of them may be claimed */
	if (formats.count == 0 && count != 0)
		return -EBADMSG;
	for (; count > 0 && error == 0 && !cursor->failed; count--) {
		struct linehead_text name = { 0 };
		uint64_t directory = 0;

		for (int i = 0; i < formats.count; i++) {
			struct value value = read_value(cursor, head, source, formats.list[i].form);

			if (formats.list[i].content == DW_LNCT_path)
				name = value.text;
			else if (formats.list[i].content == DW_LNCT_directory_index)
				directory = value.number;
		}
		if (!cursor->failed)
			error = is_files ? add_file(head, name, directory)
					 : add_directory(head, name);
	}
	return error;
}

int linehead_add_file(struct linehead *head, struct cursor *cursor)
{
	struct linehead_text name = read_text(cursor);
	uint64_t directory = cursor_uleb64(cursor);

	cursor_uleb64(cursor); /* time */
	cursor_uleb64(cursor); /* size */
	return cursor->failed ? -EBADMSG : add_file(head, name, directory);
}

/* Versions 2 to 4: texts, each table up to an empty one. */
static int read_old_tables(struct linehead *head, struct cursor *cursor)
{
	struct linehead_text name;
	int error = add_directory(head, (struct linehead_text){ 0 });

	while (error == 0 && (name = read_text(cursor)).size != 0)
		error = add_directory(head, name);
	if (error == 0)
		error = add_file(head, (struct linehead_text){ 0 }, 0);
	while (error == 0 && cursor_left(cursor) != 0 && cursor->bytes[cursor->at] != 0)
		error = linehead_add_file(head, cursor);
	return error;
}

static void read_opcodes(struct linehead *head, struct cursor *cursor)
{
	head->instruction_size = cursor_u8(cursor);
	head->operations_max = head->version >= 4 ? cursor_u8(cursor) : 1;
	head->is_statement = cursor_u8(cursor) != 0;
	head->line_base = (int8_t)cursor_u8(cursor);
	head->line_range = cursor_u8(cursor);
	head->opcode_base = cursor_u8(cursor);
	for (int i = 1; i < head->opcode_base; i++)
		head->operand_counts[i] = cursor_u8(cursor);
}

/* The unit's table, after its length. */
static struct cursor unit_of(struct linehead *head, const struct linetable_source *source)
{
	struct cursor cursor = source->line;
	uint64_t length;

	cursor.at = source->offset <= cursor.size ? (size_t)source->offset : cursor.size;
	length = cursor_u32le(&cursor);
	head->is_64 = length == UINT32_MAX;
	if (head->is_64)
		length = cursor_u64le(&cursor);
	return cursor_sub(&cursor, length);
}

int linehead_read(struct linehead *head, const struct linetable_source *source)
{
	struct cursor unit, tables;
	int error;

	*head = (struct linehead){ 0 };
	unit = unit_of(head, source);
	head->version = cursor_u8(&unit);
	head->version |= (unsigned int)cursor_u8(&unit) << 8;
	if (unit.failed || head->version < 2 || head->version > 5)
		return -EBADMSG;
	if (head->version == 5)
		cursor_bytes(&unit, 2); /* sizes of an address and of a segment selector */
	tables = cursor_sub(&unit, read_offset(&unit, head->is_64));
	head->program = cursor_sub(&unit, cursor_left(&unit));
	read_opcodes(head, &tables);
	if (tables.failed || head->line_range == 0 || head->opcode_base == 0)
		return -EBADMSG;
	if (head->version < 5)
		return read_old_tables(head, &tables);
	error = read_table(head, &tables, source, false);
	if (error == 0)
		error = read_table(head, &tables, source, true);
	/* files that could be read keep their numbers */
	return error;
}

void linehead_free(struct linehead *head)
{
	free(head->directories);
	free(head->files);
	head->directories = NULL;
	head->files = NULL;
}
