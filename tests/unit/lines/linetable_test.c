/* SPDX-License-Identifier: MIT */
/* linetable_test.c - line programs of versions 2 to 5, written by hand: rows, files, dead
 * sequences, damage, no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/lines/linetable.h"
#include "tests/unit/lines/fixture.h"
#include "tests/unit/symtab/failing.h"

#include <dwarf.h>
#include <errno.h>

enum { OPCODE_BASE = 13, LINE_BASE = -5, LINE_RANGE = 14, CODE_SIZE = 0x1000 };

static const uint8_t operand_counts[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

/* ---- building ---------------------------------------------------------------------------------
 */

static void add_old_files(struct bytes *head)
{
	bytes_text(head, "include");  /* 1 */
	bytes_text(head, "/usr/x");   /* 2 */
	bytes_text(head, "kit://v1"); /* 3 */
	bytes_byte(head, 0);
	bytes_text(head, "a.c"); /* 1: in the unit's directory */
	bytes_add(head, "\0\0\0", 3);
	bytes_text(head, "b.h"); /* 2 */
	bytes_add(head, "\1\0\0", 3);
	bytes_text(head, "c.h"); /* 3 */
	bytes_add(head, "\2\0\0", 3);
	bytes_text(head, "/d.h"); /* 4 */
	bytes_add(head, "\1\0\0", 3);
	bytes_text(head, "f.h"); /* 5 */
	bytes_add(head, "\3\0\0", 3);
	bytes_byte(head, 0);
}

/* Directories as strings, files as offsets in .debug_line_str, each with a checksum. */
static void add_new_files(struct bytes *head)
{
	static const uint8_t formats[] = { 1, DW_LNCT_path, DW_FORM_string };
	static const uint8_t file_formats[] = { 3,
						DW_LNCT_path,
						DW_FORM_line_strp,
						DW_LNCT_directory_index,
						DW_FORM_udata,
						DW_LNCT_MD5,
						DW_FORM_data16 };
	static const uint8_t sum[16];

	bytes_add(head, formats, sizeof(formats));
	bytes_uleb(head, 2);
	bytes_text(head, "/src");
	bytes_text(head, "include");
	bytes_add(head, file_formats, sizeof(file_formats));
	bytes_uleb(head, 2);
	bytes_u32(head, 0); /* 0: a.c */
	bytes_uleb(head, 0);
	bytes_add(head, sum, sizeof(sum));
	bytes_u32(head, 4); /* 1: b.h */
	bytes_uleb(head, 1);
	bytes_add(head, sum, sizeof(sum));
}

static const char line_str[] = "a.c\0b.h";

/* The table of PROGRAM, which it frees. */
static struct bytes table_of(unsigned int version, struct bytes program)
{
	struct bytes head = { 0 }, unit = { 0 }, table = { 0 };

	bytes_byte(&head, 1); /* bytes of an instruction */
	if (version >= 4)
		bytes_byte(&head, 1);
	bytes_byte(&head, 1);
	bytes_byte(&head, (uint8_t)LINE_BASE);
	bytes_byte(&head, LINE_RANGE);
	bytes_byte(&head, OPCODE_BASE);
	bytes_add(&head, operand_counts, sizeof(operand_counts));
	if (version == 5)
		add_new_files(&head);
	else
		add_old_files(&head);
	bytes_add(&unit, (uint8_t[]){ (uint8_t)version, 0 }, 2);
	if (version == 5)
		bytes_add(&unit, (uint8_t[]){ 4, 0 }, 2);
	bytes_u32(&unit, (uint32_t)head.size);
	bytes_add(&unit, head.bytes, head.size);
	bytes_add(&unit, program.bytes, program.size);
	bytes_u32(&table, (uint32_t)unit.size);
	bytes_add(&table, unit.bytes, unit.size);
	free(head.bytes);
	free(unit.bytes);
	free(program.bytes);
	return table;
}

static void set_address(struct bytes *program, uint32_t address)
{
	bytes_add(program, (uint8_t[]){ 0, 5, DW_LNE_set_address }, 3);
	bytes_u32(program, address);
}

static void end_sequence(struct bytes *program)
{
	bytes_add(program, (uint8_t[]){ 0, 1, DW_LNE_end_sequence }, 3);
}

/* Advances both and makes a row. */
static void special(struct bytes *program, unsigned int address, int line)
{
	bytes_byte(program, (unsigned int)(line - LINE_BASE) + LINE_RANGE * address + OPCODE_BASE);
}

static void advance_pc(struct bytes *program, unsigned int address)
{
	bytes_byte(program, DW_LNS_advance_pc);
	bytes_uleb(program, address);
}

/* A sequence at ADDRESS: lines 11, 12, 0, 13 at 0, 4, 8, 9; 0x10 bytes long. */
static void add_function(struct bytes *program, uint32_t address)
{
	set_address(program, address);
	bytes_add(program, (uint8_t[]){ DW_LNS_advance_line, 9, DW_LNS_set_column, 3 }, 4);
	special(program, 0, 1);
	special(program, 4, 1);
	bytes_add(program, (uint8_t[]){ DW_LNS_advance_line, 0x74 }, 2); /* -12 */
	special(program, 4, 0);
	bytes_add(program, (uint8_t[]){ DW_LNS_advance_line, 13, DW_LNS_set_file, 2 }, 4);
	special(program, 1, 0);
	advance_pc(program, 7);
	end_sequence(program);
}

static struct linetable *open_table(const struct bytes *table)
{
	struct linetable_source source = {
		.line = cursor_of(table->bytes, table->size),
		.line_str = cursor_of(line_str, sizeof(line_str)),
		.directory = "/src",
		.code_size = CODE_SIZE,
	};

	return linetable_new(&source);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void expect_row(const struct linetable *table, uint64_t address, uint32_t line,
		       uint32_t file)
{
	const struct linetable_row *row = linetable_find(table, address);

	assert_non_null(row);
	assert_int_equal(row->line, line);
	assert_int_equal(row->file, file);
	assert_int_equal(row->column, 3);
}

static void expect_function(const struct linetable *table, uint64_t at)
{
	assert_null(linetable_find(table, at - 1));
	expect_row(table, at, 11, 1);
	expect_row(table, at + 3, 11, 1);
	expect_row(table, at + 4, 12, 1);
	expect_row(table, at + 8, 0, 1);
	expect_row(table, at + 9, 13, 2);
	expect_row(table, at + 0xf, 13, 2);
	assert_null(linetable_find(table, at + 0x10));
}

static void finds_rows(void **state)
{
	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		struct bytes program = { 0 }, bytes;
		struct linetable *table;

		add_function(&program, 0x200); /* in no order */
		add_function(&program, 0x40);
		bytes = table_of(version, program);
		table = open_table(&bytes);
		assert_non_null(table);
		expect_function(table, 0x40);
		expect_function(table, 0x200);
		linetable_free(table);
		free(bytes.bytes);
	}
}

static void goes_back_in_a_sequence(void **state)
{
	struct bytes program = { 0 }, bytes;
	const struct linetable_row *row;
	struct linetable *table;

	(void)state;
	add_function(&program, 0x40);
	add_function(&program, 0x50); /* right behind */
	bytes = table_of(4, program);
	table = open_table(&bytes);
	row = linetable_find(table, 0x58);
	assert_int_equal(row->line, 0);
	row = linetable_before(table, row);
	assert_int_equal(row->line, 12);
	row = linetable_before(table, row);
	assert_int_equal(row->line, 11);
	assert_null(linetable_before(table, row));
	linetable_free(table);
	free(bytes.bytes);
}

/* At 0 before live code, at -1 and -2, beyond the code, or backwards: none of them is code. */
static void leaves_dead_sequences_out(void **state)
{
	static const uint32_t dead[] = { 0, UINT32_MAX, UINT32_MAX - 1, CODE_SIZE, CODE_SIZE - 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dead); i++) {
		struct bytes program = { 0 }, bytes;
		struct linetable *table;

		add_function(&program, dead[i]);
		add_function(&program, 8);
		add_function(&program, dead[i]);
		bytes = table_of(4, program);
		table = open_table(&bytes);
		assert_non_null(table);
		expect_function(table, 8);
		assert_null(linetable_find(table, dead[i]));
		linetable_free(table);
		free(bytes.bytes);
	}
}

static void a_sequence_that_goes_back_is_dead(void **state)
{
	struct bytes program = { 0 }, bytes;
	struct linetable *table;

	(void)state;
	set_address(&program, 0x100);
	special(&program, 0, 1);
	set_address(&program, 0x80);
	special(&program, 0, 1);
	end_sequence(&program);
	add_function(&program, 0x40);
	bytes = table_of(5, program);
	table = open_table(&bytes);
	assert_non_null(table);
	assert_null(linetable_find(table, 0x100));
	assert_null(linetable_find(table, 0x80));
	expect_function(table, 0x40);
	linetable_free(table);
	free(bytes.bytes);
}

static void other_opcodes_advance(void **state)
{
	struct bytes program = { 0 }, bytes;
	struct linetable *table;

	(void)state;
	set_address(&program, 0x40);
	bytes_add(&program, (uint8_t[]){ DW_LNS_set_column, 3, DW_LNS_copy }, 3);
	bytes_byte(&program, DW_LNS_const_add_pc); /* (255 - 13) / 14 = 17 */
	bytes_add(&program, (uint8_t[]){ DW_LNS_advance_line, 1, DW_LNS_copy }, 3);
	bytes_add(&program, (uint8_t[]){ DW_LNS_fixed_advance_pc, 1, 1 }, 3);
	bytes_add(&program,
		  (uint8_t[]){ DW_LNS_negate_stmt, DW_LNS_set_basic_block, DW_LNS_set_prologue_end,
			       DW_LNS_set_epilogue_begin, DW_LNS_set_isa, 7 },
		  6);
	bytes_add(&program, (uint8_t[]){ 0, 3, 0x80, 1, 2 }, 5); /* of a vendor */
	bytes_add(&program, (uint8_t[]){ DW_LNS_advance_line, 1, DW_LNS_copy }, 3);
	advance_pc(&program, 1);
	end_sequence(&program);
	bytes = table_of(4, program);
	table = open_table(&bytes);
	expect_row(table, 0x40 + 16, 1, 1);
	expect_row(table, 0x40 + 17, 2, 1);
	expect_row(table, 0x40 + 17 + 0x100, 2, 1);
	expect_row(table, 0x40 + 17 + 0x101, 3, 1);
	linetable_free(table);
	free(bytes.bytes);
}

static void names_files(void **state)
{
	static const char *const old[] = { NULL,	 "/src/a.c", "/src/include/b.h",
					   "/usr/x/c.h", "/d.h",     "kit://v1/f.h",
					   NULL };
	static const char *const new[] = { "/src/a.c", "/src/include/b.h", NULL };
	struct bytes program = { 0 }, bytes = table_of(4, program);
	struct linetable *table = open_table(&bytes);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		const char *file = linetable_file(table, i);

		if (old[i] == NULL)
			assert_null(file);
		else
			assert_string_equal(file, old[i]);
		assert_ptr_equal(file, linetable_file(table, i));
	}
	assert_null(linetable_file(table, UINT64_MAX));
	linetable_free(table);
	free(bytes.bytes);
	bytes = table_of(5, program);
	table = open_table(&bytes);
	for (size_t i = 0; i < ARRAY_SIZE(new); i++) {
		if (new[i] == NULL)
			assert_null(linetable_file(table, i));
		else
			assert_string_equal(linetable_file(table, i), new[i]);
	}
	linetable_free(table);
	free(bytes.bytes);
}

static void the_program_adds_files(void **state)
{
	static const uint8_t define[] = { 0, 8, DW_LNE_define_file, 'e', '.', 'h', 0, 1, 0, 0 };
	struct bytes program = { 0 }, bytes;
	struct linetable *table;

	(void)state;
	bytes_add(&program, define, sizeof(define));
	bytes = table_of(3, program);
	table = open_table(&bytes);
	assert_string_equal(linetable_file(table, 6), "/src/include/e.h");
	linetable_free(table);
	free(bytes.bytes);
}

/* Cut anywhere: a table or none, and no read outside (ASan looks). */
static void survives_every_cut(void **state)
{
	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		struct bytes program = { 0 }, whole;

		add_function(&program, 0x40);
		whole = table_of(version, program);
		for (size_t size = 0; size < whole.size; size++) {
			uint8_t *copy = malloc(size != 0 ? size : 1);
			struct bytes cut = { copy, size };
			struct linetable *table;

			memcpy(copy, whole.bytes, size);
			errno = 0;
			table = open_table(&cut);
			assert_null(table); /* its length says that there is more */
			assert_int_equal(errno, EBADMSG);
			free(copy);
		}
		free(whole.bytes);
	}
}

static void survives_any_changed_byte(void **state)
{
	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		struct bytes program = { 0 }, bytes;

		add_function(&program, 0x40);
		bytes = table_of(version, program);
		for (size_t at = 0; at < bytes.size * 255; at++) {
			uint8_t before = bytes.bytes[at / 255];
			struct linetable *table;

			bytes.bytes[at / 255] ^= (uint8_t)(1 + at % 255);
			table = open_table(&bytes);
			for (uint64_t address = 0; table != NULL && address < 0x60; address++)
				linetable_find(table, address);
			for (uint64_t file = 0; table != NULL && file < 6; file++)
				linetable_file(table, file);
			linetable_free(table);
			bytes.bytes[at / 255] = before;
		}
		free(bytes.bytes);
	}
}

/* A table of entries without bytes may claim any number of them. */
static void entries_of_nothing_are_damage(void **state)
{
	static const uint8_t table[] = { 28,
					 0,
					 0,
					 0,
					 5,
					 0,
					 4,
					 0,
					 18,
					 0,
					 0,
					 0,
					 1,
					 1,
					 1,
					 0xfb,
					 14,
					 1,
					 0 /* formats */,
					 0xff,
					 0xff,
					 0xff,
					 0xff,
					 0x0f,
					 0,
					 0,
					 0,
					 0,
					 0,
					 0,
					 0,
					 0 };
	struct bytes bytes = { (uint8_t *)table, sizeof(table) };

	(void)state;
	assert_null(open_table(&bytes));
	assert_int_equal(errno, EBADMSG);
}

static void survives_without_memory(void **state)
{
	struct bytes program = { 0 }, bytes;
	long nth = 0;
	bool did_fail;

	(void)state;
	if (!failing_works)
		skip();
	/* few enough for qsort() to need no memory, which it can do without */
	for (uint32_t at = 0x10; at < 0x400; at += 0x20)
		add_function(&program, at);
	bytes = table_of(5, program);
	do {
		struct linetable *table;

		failing_start(++nth);
		table = open_table(&bytes);
		did_fail = failing_stop();
		if (did_fail) {
			assert_null(table);
			assert_int_equal(errno, ENOMEM);
		}
		linetable_free(table);
	} while (did_fail);
	assert_true(nth > 8);
	free(bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_rows),
		cmocka_unit_test(goes_back_in_a_sequence),
		cmocka_unit_test(leaves_dead_sequences_out),
		cmocka_unit_test(a_sequence_that_goes_back_is_dead),
		cmocka_unit_test(other_opcodes_advance),
		cmocka_unit_test(names_files),
		cmocka_unit_test(the_program_adds_files),
		cmocka_unit_test(survives_every_cut),
		cmocka_unit_test(survives_any_changed_byte),
		cmocka_unit_test(entries_of_nothing_are_damage),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
