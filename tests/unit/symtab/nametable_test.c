/* SPDX-License-Identifier: MIT */
/*
 * nametable_test.c - full names are found in metadata of any version, and nothing else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/nametable.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/fixture.h"

static struct image_tables *tables_of(const char *file, struct symbols *symbols)
{
	struct bytes bytes = bytes_of_file(file);
	struct memory memory = memory_of(&bytes);
	struct image_layout layout;
	struct image_tables *tables;

	assert_int_equal(image_probe(&memory, (uintptr_t)bytes.bytes, &layout), 0);
	tables = image_copy(&memory, &layout);
	assert_non_null(tables);
	assert_int_equal(symbols_read(tables, layout.text, layout.text_size, symbols), 0);
	bytes_free(&bytes);
	return tables;
}

static void check(const struct nametable *table, const struct image_tables *tables, uint32_t core,
		  uint32_t function, const char *expected)
{
	const struct nametable_entry *entry = nametable_find(table, core, function);

	if (expected == NULL) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_int_equal(entry->name.length, strlen(expected));
	assert_memory_equal(tables->names.bytes + entry->name.offset, expected, strlen(expected));
}

static void check_guest(const char *file)
{
	struct symbols symbols;
	struct image_tables *tables = tables_of(file, &symbols);
	struct nametable table;

	assert_int_equal(nametable_read(tables, &symbols, false, &table), 0);
	assert_int_equal(table.count, 6);
	check(&table, tables, 0, 0, "tick");
	check(&table, tables, 0, 1, NULL);
	check(&table, tables, 0, 2, "leaf");
	check(&table, tables, 0, 5, NULL);
	check(&table, tables, 0, 7,
	      "_ZN76_$LT$alloc..string..String$u20$as$u20$core..iter..traits..collect..Extend"
	      "$GT$6extend17h0123456789abcdefE");
	check(&table, tables, 0, 8, "with space, \xce\xbb");
	check(&table, tables, 1, 0, NULL);
	nametable_free(&table);
	symbols_free(&symbols);
	image_tables_free(tables);
}

static void finds_names_of_every_version(void **state)
{
	(void)state;
	check_guest("guest-25.cwasm");
	check_guest("guest-36.cwasm");
	check_guest("guest-43.cwasm");
	check_guest("guest-50.cwasm");
	check_guest("guest-49-nosymbols.cwasm");
}

static void check_component(const char *file)
{
	struct symbols symbols;
	struct image_tables *tables = tables_of(file, &symbols);
	struct nametable table;

	assert_int_equal(nametable_read(tables, &symbols, true, &table), 0);
	check(&table, tables, 0, 1, "work");
	check(&table, tables, 1, 0, "allocate");
	check(&table, tables, 1, 1, "length");
	check(&table, tables, 2, 0, NULL);
	check(&table, tables, 3, 2, "last:both");
	nametable_free(&table);
	symbols_free(&symbols);
	image_tables_free(tables);
}

static void finds_names_of_every_core_module(void **state)
{
	(void)state;
	check_component("component-36.cwasm");
	check_component("component-43.cwasm");
	check_component("component-50.cwasm");
}

/* One core module with a symbol for function 1, NAME in it (NULL: none). */
struct small {
	struct image_tables tables;
	struct symbols symbols;
	struct bytes symtab, strtab;
};

static struct small small_image(const char *symbol, const char *names, const char *info,
				size_t info_size)
{
	struct small small = { 0 };

	add_symbol(&small.symtab, &small.strtab, symbol, 0, 16);
	small.tables.symtab =
		(struct blob){ .bytes = small.symtab.bytes, .size = small.symtab.size };
	small.tables.strtab =
		(struct blob){ .bytes = small.strtab.bytes, .size = small.strtab.size };
	small.tables.names =
		(struct blob){ .bytes = (uint8_t *)strdup(names), .size = strlen(names) };
	small.tables.info = (struct blob){ .bytes = malloc(info_size), .size = info_size };
	memcpy(small.tables.info.bytes, info, info_size);
	assert_int_equal(symbols_read(&small.tables, 0, 16, &small.symbols), 0);
	return small;
}

static void small_free(struct small *small)
{
	symbols_free(&small->symbols);
	blob_free(&small->tables.names);
	blob_free(&small->tables.info);
	bytes_free(&small->symtab);
	bytes_free(&small->strtab);
}

/* Whether INFO has a table that names function 1 NAMES, for a symbol called SYMBOL. */
static bool is_found(const char *symbol, const char *names, const char *info, size_t info_size)
{
	struct small small = small_image(symbol, names, info, info_size);
	struct nametable table;
	bool found;

	assert_int_equal(nametable_read(&small.tables, &small.symbols, false, &table), 0);
	found = nametable_find(&table, 0, 1) != NULL;
	nametable_free(&table);
	small_free(&small);
	return found;
}

static void believes_only_tables_that_agree(void **state)
{
	(void)state;
	assert_true(is_found("wasm[0]::function[1]::main", "main", "\7\7\1\1\0\4", 6));
	assert_false(is_found("wasm[0]::function[1]::other", "main", "\7\7\1\1\0\4", 6));
	assert_false(is_found("wasm[0]::function[1]::main", "main", "\7\7\1\2\0\4", 6));
	assert_false(is_found("wasm[0]::function[1]::main", "main", "\7\7\1\1\0\3", 6));
	assert_false(is_found("wasm[0]::function[1]::main", "main", "\7\7\1\1\1\3", 6));
	assert_false(is_found("wasm[0]::function[1]::main", "main", "\7\7\2\1\0\4", 6));
	/* the engine before version 22 wrote no names into symbols: the shape must do */
	assert_true(is_found("wasm[0]::function[1]", "main", "\7\7\1\1\0\4", 6));
}

static void cleans_as_the_engine_does(void **state)
{
	static const char long_name[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
					"xxxxxxxxxxxxxxxxxxxxxxxxxx"
					"xxxxxxxxxxxxxxxx";
	char symbol[200];

	(void)state;
	assert_true(is_found("wasm[0]::function[1]::a?b",
			     "a \t\xce\xbb"
			     "b",
			     "\1\1\0\6", 4));
	assert_true(is_found("wasm[0]::function[1]::a?b", "a ?b", "\1\1\0\4", 4));
	assert_true(is_found("wasm[0]::function[1]::a??b", "a??b", "\1\1\0\4", 4));
	assert_false(is_found("wasm[0]::function[1]::a?", "a b", "\1\1\0\3", 4));
	assert_false(is_found("wasm[0]::function[1]::a?bc", "a b", "\1\1\0\3", 4));
	assert_int_equal(strlen(long_name), 100);
	snprintf(symbol, sizeof(symbol), "wasm[0]::function[1]::%.96s", long_name);
	assert_true(is_found(symbol, long_name, "\1\1\0\x64", 4));
	snprintf(symbol, sizeof(symbol), "wasm[0]::function[1]::%.95s", long_name);
	assert_false(is_found(symbol, long_name, "\1\1\0\x64", 4));
}

static void goes_back_when_a_chain_ends(void **state)
{
	/*
	 * Two core modules, "ab" and "cd". The first bytes look like a table of core module 0 that
	 * takes all names; the right ones follow.
	 */
	static const char info[] = "\1\1\0\4"
				   "\1\1\0\2"
				   "\x09"
				   "\1\1\2\2";
	struct small small =
		small_image("wasm[0]::function[1]::ab", "abcd", info, sizeof(info) - 1);
	struct nametable table;

	(void)state;
	symbols_free(&small.symbols);
	add_symbol(&small.symtab, &small.strtab, "wasm[1]::function[1]::cd", 16, 16);
	small.tables.symtab =
		(struct blob){ .bytes = small.symtab.bytes, .size = small.symtab.size };
	small.tables.strtab =
		(struct blob){ .bytes = small.strtab.bytes, .size = small.strtab.size };
	assert_int_equal(symbols_read(&small.tables, 0, 32, &small.symbols), 0);
	assert_int_equal(nametable_read(&small.tables, &small.symbols, true, &table), 0);
	assert_int_equal(table.count, 2);
	check(&table, &small.tables, 0, 1, "ab");
	check(&table, &small.tables, 1, 1, "cd");
	nametable_free(&table);
	small_free(&small);
}

/* Bytes that look like the beginning of a table at every offset. */
static void gives_up_on_hostile_metadata(void **state)
{
	enum { SIZE = 2 << 20 };
	char *info = malloc(SIZE);
	struct small small;
	struct nametable table;
	size_t i;

	(void)state;
	for (i = 0; i + 3 < SIZE; i += 3)
		memcpy(info + i, i % 2 == 0 ? "\1\1\0" : "\x7f\1\0", 3);
	small = small_image("glue", "abcd", info, SIZE);
	assert_int_equal(nametable_read(&small.tables, &small.symbols, true, &table), 0);
	nametable_free(&table);
	small_free(&small);
	memset(info, 0, SIZE); /* n = 1, function 0, offset 0, length 0: no end of tables */
	memset(info, 1, SIZE / 2);
	small = small_image("glue", "a", info, SIZE);
	assert_int_equal(nametable_read(&small.tables, &small.symbols, true, &table), 0);
	nametable_free(&table);
	small_free(&small);
	free(info);
}

static void survives_any_byte_being_wrong(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct symbols symbols;
	struct image_tables *tables = tables_of("component-50.cwasm", &symbols);
	size_t at, i;

	(void)state;
	for (at = 0; at < tables->info.size; at++) {
		uint8_t was = tables->info.bytes[at];

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			struct nametable table;

			tables->info.bytes[at] = values[i];
			assert_int_equal(nametable_read(tables, &symbols, true, &table), 0);
			nametable_free(&table);
		}
		tables->info.bytes[at] = was;
	}
	symbols_free(&symbols);
	image_tables_free(tables);
}

static void reports_short_memory(void **state)
{
	struct symbols symbols;
	struct image_tables *tables;
	struct nametable table;
	long nth;
	int error;

	(void)state;
	if (!failing_works)
		skip();
	tables = tables_of("component-50.cwasm", &symbols);
	for (nth = 1;; nth++) {
		failing_start(nth);
		error = nametable_read(tables, &symbols, true, &table);
		if (!failing_stop())
			break;
		assert_int_equal(error, -ENOMEM);
		assert_int_equal(table.count, 0);
	}
	assert_int_equal(error, 0);
	assert_int_equal(nth, 5);
	nametable_free(&table);
	symbols_free(&symbols);
	image_tables_free(tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_names_of_every_version),
		cmocka_unit_test(finds_names_of_every_core_module),
		cmocka_unit_test(believes_only_tables_that_agree),
		cmocka_unit_test(cleans_as_the_engine_does),
		cmocka_unit_test(goes_back_when_a_chain_ends),
		cmocka_unit_test(gives_up_on_hostile_metadata),
		cmocka_unit_test(survives_any_byte_being_wrong),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
