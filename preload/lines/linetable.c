/* SPDX-License-Identifier: MIT */
/* linetable.c - runs a line program (DWARF 5, 6.2.5) and keeps the rows of live code. Threads: one
 * at a time. */
#include "preload/lines/linetable.h"

#include "preload/lines/array.h"
#include "preload/lines/linehead.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of one function, as a rule, by rising address. */
struct sequence {
	uint32_t low, high; /* addresses: [low, high) */
	size_t first, count;
};

struct linetable {
	struct linetable_source source;
	struct linehead head;
	struct linetable_row *rows;
	struct sequence *sequences; /* by low */
	size_t row_count, row_room, sequence_count, sequence_room;
	char **paths; /* by file; NULL: not asked for yet */
};

/* The state machine's registers. */
struct registers {
	uint64_t address;
	uint64_t operation, file, line, column;
	size_t first_row; /* of the sequence */
	bool is_dead;	  /* the sequence went back in addresses, or left the code */
};

static void reset(struct registers *registers, const struct linetable *table)
{
	*registers = (struct registers){ .file = 1, .line = 1, .first_row = table->row_count };
}

static uint32_t fit(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int add_row(struct linetable *table, struct registers *registers)
{
	bool is_first = table->row_count == registers->first_row;
	int error;

	/* Address 0 is the section's function count: no code is there. */
	if (registers->address == 0 || registers->address > table->source.code_size ||
	    (!is_first && registers->address < table->rows[table->row_count - 1].address))
		registers->is_dead = true;
	if (registers->is_dead)
		return 0;
	error = array_reserve(&table->rows, &table->row_room, table->row_count,
			      sizeof(*table->rows));
	if (error == 0)
		table->rows[table->row_count++] = (struct linetable_row){
			(uint32_t)registers->address,
			fit(registers->file),
			fit(registers->line),
			fit(registers->column),
		};
	return error;
}

static int end_sequence(struct linetable *table, struct registers *registers)
{
	size_t first = registers->first_row;
	int error = add_row(table, registers);

	if (error == 0 && !registers->is_dead && table->row_count - first >= 2) {
		error = array_reserve(&table->sequences, &table->sequence_room,
				      table->sequence_count, sizeof(*table->sequences));
		if (error == 0)
			table->sequences[table->sequence_count++] = (struct sequence){
				table->rows[first].address,
				table->rows[table->row_count - 1].address,
				first,
				table->row_count - first - 1,
			};
	} else {
		table->row_count = first;
	}
	reset(registers, table);
	return error;
}

static void advance(const struct linehead *head, struct registers *registers, uint64_t operations)
{
	uint64_t sum = registers->operation + operations;

	if (head->operations_max <= 1) {
		registers->address += operations * head->instruction_size;
		return;
	}
	registers->address += sum / head->operations_max * head->instruction_size;
	registers->operation = sum % head->operations_max;
}

static int run_special(struct linetable *table, struct registers *registers, uint8_t opcode)
{
	const struct linehead *head = &table->head;
	uint8_t adjusted = opcode - head->opcode_base;

	advance(head, registers, adjusted / head->line_range);
	registers->line += (uint64_t)(int64_t)(head->line_base + adjusted % head->line_range);
	return add_row(table, registers);
}

static uint64_t read_address(struct cursor *cursor, size_t size)
{
	return size == 8 ? cursor_u64le(cursor) : cursor_u32le(cursor);
}

static int run_extended(struct linetable *table, struct registers *registers, struct cursor *cursor)
{
	struct cursor rest = cursor_sub(cursor, cursor_uleb64(cursor));

	switch (cursor_u8(&rest)) {
	case DW_LNE_end_sequence:
		return end_sequence(table, registers);
	case DW_LNE_set_address:
		registers->address = read_address(&rest, cursor_left(&rest));
		registers->operation = 0;
		return 0;
	case DW_LNE_define_file:
		return linehead_add_file(&table->head, &rest);
	}
	return 0;
}

static int run_standard(struct linetable *table, struct registers *registers, struct cursor *cursor,
			uint8_t opcode)
{
	const struct linehead *head = &table->head;

	switch (opcode) {
	case DW_LNS_copy:
		return add_row(table, registers);
	case DW_LNS_advance_pc:
		advance(head, registers, cursor_uleb64(cursor));
		break;
	case DW_LNS_advance_line:
		registers->line += (uint64_t)cursor_sleb64(cursor);
		break;
	case DW_LNS_set_file:
		registers->file = cursor_uleb64(cursor);
		break;
	case DW_LNS_set_column:
		registers->column = cursor_uleb64(cursor);
		break;
	case DW_LNS_const_add_pc:
		advance(head, registers, (uint64_t)(255 - head->opcode_base) / head->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		registers->address += cursor_u8(cursor);
		registers->address += (uint64_t)cursor_u8(cursor) << 8;
		registers->operation = 0;
		break;
	default: /* flags that we do not keep, and what later versions may add */
		for (int i = 0; i < head->operand_counts[opcode]; i++)
			cursor_uleb64(cursor);
	}
	return 0;
}

static int run(struct linetable *table)
{
	struct cursor cursor = table->head.program;
	struct registers registers;
	int error = 0;

	reset(&registers, table);
	while (error == 0 && cursor_left(&cursor) != 0) {
		uint8_t opcode = cursor_u8(&cursor);

		if (opcode >= table->head.opcode_base)
			error = run_special(table, &registers, opcode);
		else if (opcode == 0)
			error = run_extended(table, &registers, &cursor);
		else
			error = run_standard(table, &registers, &cursor, opcode);
	}
	/* A sequence without an end is none. */
	table->row_count = registers.first_row;
	return error != 0 ? error : cursor.failed ? -EBADMSG : 0;
}

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

struct linetable *linetable_new(const struct linetable_source *source)
{
	struct linetable *table = calloc(1, sizeof(*table));
	int error;

	if (table == NULL)
		return NULL;
	table->source = *source;
	error = linehead_read(&table->head, source);
	if (error == 0)
		error = run(table);
	if (error == 0) {
		table->paths = calloc(table->head.file_count + 1, sizeof(*table->paths));
		error = table->paths == NULL ? -ENOMEM : 0;
	}
	if (error != 0) {
		linetable_free(table);
		errno = -error;
		return NULL;
	}
	if (table->sequence_count != 0)
		qsort(table->sequences, table->sequence_count, sizeof(*table->sequences),
		      compare_sequences);
	return table;
}

void linetable_free(struct linetable *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; table->paths != NULL && i < table->head.file_count; i++)
		free(table->paths[i]);
	free(table->paths);
	free(table->rows);
	free(table->sequences);
	linehead_free(&table->head);
	free(table);
}

/* The last of SEQUENCE's rows at or before ADDRESS. */
static const struct linetable_row *find_row(const struct linetable *table,
					    const struct sequence *sequence, uint64_t address)
{
	size_t low = sequence->first, high = sequence->first + sequence->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return &table->rows[low - 1];
}

/* The last sequence that begins at or before ADDRESS, if it reaches beyond it. */
static const struct sequence *find_sequence(const struct linetable *table, uint64_t address)
{
	size_t low = 0, high = table->sequence_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->sequences[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low != 0 && address < table->sequences[low - 1].high ? &table->sequences[low - 1]
								    : NULL;
}

const struct linetable_row *linetable_find(const struct linetable *table, uint64_t address)
{
	const struct sequence *sequence = find_sequence(table, address);

	return sequence != NULL ? find_row(table, sequence, address) : NULL;
}

const struct linetable_row *linetable_before(const struct linetable *table,
					     const struct linetable_row *row)
{
	const struct sequence *sequence = find_sequence(table, row->address);

	return sequence == NULL || row <= &table->rows[sequence->first] ? NULL : row - 1;
}

/* Also `C:/` and `scheme://`. */
static bool is_absolute(const struct linehead_text *text)
{
	size_t size = 0;

	while (size < text->size && text->bytes[size] != '/' && text->bytes[size] != '\\')
		size++;
	return size < text->size && (size == 0 || text->bytes[size - 1] == ':');
}

/* DIRECTORY/SUBDIRECTORY/NAME without what is not needed. */
static char *join(const char *directory, const struct linehead_text *subdirectory,
		  const struct linehead_text *name)
{
	bool has_subdirectory = subdirectory->size != 0 && !is_absolute(name);
	bool has_directory = directory != NULL && directory[0] != '\0' && !is_absolute(name) &&
			     !(has_subdirectory && is_absolute(subdirectory));
	char *path;

	if (asprintf(&path, "%s%s%.*s%s%.*s", has_directory ? directory : "",
		     has_directory ? "/" : "", has_subdirectory ? (int)subdirectory->size : 0,
		     has_subdirectory ? subdirectory->bytes : "", has_subdirectory ? "/" : "",
		     (int)name->size, name->bytes) < 0)
		return NULL;
	return path;
}

const char *linetable_file(struct linetable *table, uint64_t index)
{
	const struct linehead *head = &table->head;
	struct linehead_text none = { 0 };
	const struct linehead_file *file;

	if (index >= head->file_count || head->files[index].name.size == 0 ||
	    head->files[index].name.size > PATH_MAX)
		return NULL;
	file = &head->files[index];
	if (table->paths[index] == NULL)
		table->paths[index] = join(table->source.directory,
					   file->directory < head->directory_count
						   ? &head->directories[file->directory]
						   : &none,
					   &file->name);
	return table->paths[index];
}
