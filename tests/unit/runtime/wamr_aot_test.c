/* SPDX-License-Identifier: MIT */
/* wamr_aot_test.c - files of compiled code, good and damaged, and the engine's list of addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "preload/runtime/wamr_aot.h"
#include "symtab/codeimage.h"

enum { FUNCTIONS = 3, IMPORTS = 2, LITERALS = 8, CODE = 0x60 };

static const uint32_t offsets[FUNCTIONS] = { 0, 0x40, 0x20 };

static struct file {
	_Alignas(8) uint8_t bytes[1024];
	size_t size;
} file;

static void put(const void *bytes, size_t size)
{
	memcpy(file.bytes + file.size, bytes, size);
	file.size += size;
}

static void put_word(uint32_t word)
{
	while (file.size % 4 != 0)
		file.bytes[file.size++] = 0;
	put(&word, sizeof(word));
}

static void put_name(const char *name)
{
	uint16_t length = (uint16_t)(strlen(name) + 1);

	file.size += file.size % 2;
	put(&length, sizeof(length));
	put(name, length);
}

static size_t open_section(uint32_t type)
{
	put_word(type);
	put_word(0);
	return file.size;
}

static void close_section(size_t start)
{
	uint32_t size = (uint32_t)(file.size - start);

	memcpy(file.bytes + start - 4, &size, sizeof(size));
}

static void fill_code(uint8_t *code)
{
	for (size_t i = 0; i < CODE; i++)
		code[i] = (uint8_t)(i * 7 + 1);
}

static void put_text(void)
{
	size_t start = open_section(2);
	uint8_t literals[LITERALS] = { 0 };

	put_word(LITERALS);
	put(literals, LITERALS);
	fill_code(file.bytes + file.size);
	file.size += CODE;
	close_section(start);
}

static void put_functions(uint32_t words_behind)
{
	size_t start = open_section(3);

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint64_t offset = offsets[i];

		put(&offset, sizeof(offset));
	}
	for (uint32_t i = 0; i < FUNCTIONS * words_behind; i++)
		put_word(5);
	close_section(start);
}

static void put_exports(void)
{
	size_t start = open_section(4);

	put_word(2);
	put_word(0);
	put("\2", 1); /* a memory */
	put_name("memory");
	put_word(IMPORTS + 1);
	put("\0", 1);
	put_name("run");
	close_section(start);
}

static void put_names(void)
{
	size_t start = open_section(100);

	put_word(3);
	put_word(4);
	put("name", 4);
	put_word(1);
	put_word(99);
	put_word(2);
	put_word(IMPORTS);
	put_name("first");
	put_word(IMPORTS + 2);
	put_name("third");
	close_section(start);
}

static void make(uint32_t version, uint32_t words_behind, bool has_names)
{
	memset(&file, 0, sizeof(file));
	put("\0aot", 4);
	put_word(version);
	close_section(open_section(0));
	put_text();
	put_functions(words_behind);
	put_exports();
	if (has_names)
		put_names();
}

/* The engine's: a module that has the list of addresses somewhere in it. */
static uint8_t code[CODE];
static uint64_t list[FUNCTIONS];
static uintptr_t module[256];

static void place(void)
{
	fill_code(code);
	for (size_t i = 0; i < FUNCTIONS; i++)
		list[i] = (uintptr_t)code + offsets[i];
	memset(module, 0, sizeof(module));
	module[3] = (uintptr_t)file.bytes; /* another pointer */
	module[40] = (uintptr_t)list;
}

static bool find(struct code_function *functions)
{
	struct wamr_aot *aot = wamr_aot_read(file.bytes, file.size);
	bool is_found;

	assert_non_null(aot);
	assert_int_equal(wamr_aot_count(aot), FUNCTIONS);
	is_found = wamr_aot_place(aot, (uintptr_t)module, IMPORTS, functions);
	for (size_t i = 0; is_found && i < FUNCTIONS; i++)
		if (functions[i].name != NULL) /* they are AOT's */
			assert_true(functions[i].name_length > 0);
	wamr_aot_free(aot);
	return is_found;
}

static void functions_are_found_by_their_list(void **state)
{
	static const uint32_t words[] = { 3, 1 };
	struct code_function functions[FUNCTIONS];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		make(6, words[i], false);
		place();
		assert_true(find(functions));
		/* by address: the second in the file comes last */
		assert_int_equal(functions[0].start, (uintptr_t)code);
		assert_int_equal(functions[0].size, 0x20);
		assert_int_equal(functions[1].index, IMPORTS + 2);
		assert_int_equal(functions[1].size, 0x20);
		assert_int_equal(functions[2].index, IMPORTS + 1);
		assert_int_equal(functions[2].start, (uintptr_t)code + 0x40);
		assert_int_equal(functions[2].size, CODE - 0x40);
	}
}

static void names_are_those_of_exports_and_of_the_name_section(void **state)
{
	struct code_function functions[FUNCTIONS];
	struct wamr_aot *aot;

	(void)state;
	make(6, 3, true);
	place();
	aot = wamr_aot_read(file.bytes, file.size);
	assert_true(wamr_aot_place(aot, (uintptr_t)module, IMPORTS, functions));
	assert_memory_equal(functions[0].name, "first", functions[0].name_length);
	assert_memory_equal(functions[1].name, "third", functions[1].name_length);
	assert_memory_equal(functions[2].name, "run", functions[2].name_length);
	assert_int_equal(functions[2].name_length, 3);
	wamr_aot_free(aot);
}

static void a_list_that_does_not_agree_is_not_taken(void **state)
{
	struct code_function functions[FUNCTIONS];

	(void)state;
	make(6, 3, false);
	place();
	list[FUNCTIONS - 1] += 8;
	assert_false(find(functions));
	place();
	code[offsets[1]] ^= 1;
	assert_false(find(functions));
	place();
	module[40] = 1;
	assert_false(find(functions));
	module[40] = 8; /* nothing is there */
	assert_false(find(functions));
}

static void other_files_are_none(void **state)
{
	(void)state;
	make(6, 3, false);
	assert_null(wamr_aot_read(NULL, 0));
	assert_null(wamr_aot_read(file.bytes, 7));
	file.bytes[4] = 7;
	assert_null(wamr_aot_read(file.bytes, file.size));
	file.bytes[4] = 2;
	assert_null(wamr_aot_read(file.bytes, file.size));
	assert_null(wamr_aot_read((const uint8_t *)"\0asm\1\0\0\0", 8));
}

/* Each cut, and each byte changed in turn, in memory of just that size. */
static void damaged_files_are_read_within_their_bounds(void **state)
{
	(void)state;
	make(6, 3, true);
	for (size_t size = 0; size <= file.size; size++) {
		uint8_t *copy = malloc(size + 1);

		memcpy(copy, file.bytes, size);
		wamr_aot_free(wamr_aot_read(copy, size));
		for (size_t i = 8; size == file.size && i < 4 * size; i++) {
			static const uint8_t masks[] = { 0xff, 0x80, 0x01, 0x40 };

			copy[i / 4] ^= masks[i % 4];
			wamr_aot_free(wamr_aot_read(copy, size));
			copy[i / 4] ^= masks[i % 4];
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_their_list),
		cmocka_unit_test(names_are_those_of_exports_and_of_the_name_section),
		cmocka_unit_test(a_list_that_does_not_agree_is_not_taken),
		cmocka_unit_test(other_files_are_none),
		cmocka_unit_test(damaged_files_are_read_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
