/* SPDX-License-Identifier: MIT */
/*
 * funckeys_test.c - the engine's table of functions is found, and nothing that looks like it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/funckeys.h"
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
	blob_free(&tables->symtab); /* so that symbols come from frames, whatever the image */
	assert_int_equal(symbols_read(tables, layout.text, layout.text_size, symbols), 0);
	assert_true(symbols->from_frames);
	bytes_free(&bytes);
	return tables;
}

/* What symbols say, and what the table says without them, must be the same. */
static void check_agrees(const char *file, uint32_t imports)
{
	struct bytes bytes = bytes_of_file(file);
	struct memory memory = memory_of(&bytes);
	struct image_layout layout;
	struct image_tables *tables, *frames_tables;
	struct symbols symbols, frames;
	uint32_t i;

	frames_tables = tables_of(file, &frames);
	assert_int_equal(image_probe(&memory, (uintptr_t)bytes.bytes, &layout), 0);
	tables = image_copy(&memory, &layout);
	assert_non_null(tables);
	assert_int_equal(symbols_read(tables, layout.text, layout.text_size, &symbols), 0);
	assert_true(funckeys_apply(&tables->info, &frames));
	assert_int_equal(frames.count, symbols.count);
	for (i = 0; i < frames.count; i++) {
		const struct symbol *one = &symbols.records[i].symbol;
		const struct symbol *other = &frames.records[i].symbol;

		assert_int_equal(one->kind, other->kind);
		assert_int_equal(one->core, other->core);
		if (one->kind == SYMBOL_GUEST && imports != UINT32_MAX)
			assert_int_equal(one->function, other->function + imports);
	}
	symbols_free(&symbols);
	symbols_free(&frames);
	image_tables_free(tables);
	image_tables_free(frames_tables);
	bytes_free(&bytes);
}

static void agrees_with_symbols(void **state)
{
	(void)state;
	check_agrees("guest-43.cwasm", 2);
	check_agrees("guest-50.cwasm", 2);
	check_agrees("component-43.cwasm", UINT32_MAX);
	check_agrees("component-50.cwasm", UINT32_MAX);
}

static void takes_no_table_of_other_ranges(void **state)
{
	struct symbols symbols;
	struct image_tables *tables = tables_of("guest-50.cwasm", &symbols);

	(void)state;
	symbols.records[5].symbol.end--;
	assert_false(funckeys_apply(&tables->info, &symbols));
	assert_int_equal(symbols.records[0].symbol.kind, SYMBOL_TRAMPOLINE);
	symbols.records[5].symbol.end++;
	symbols.count--;
	assert_false(funckeys_apply(&tables->info, &symbols));
	symbols.count++;
	assert_true(funckeys_apply(&tables->info, &symbols));
	symbols_free(&symbols);
	assert_false(funckeys_apply(&tables->info, &symbols));
	image_tables_free(tables);
}

static void gives_up_on_hostile_metadata(void **state)
{
	enum { SIZE = 4 << 20 };
	struct blob info = { .bytes = malloc(SIZE), .size = SIZE };
	struct symbols symbols;
	struct image_tables *tables = tables_of("guest-50.cwasm", &symbols);
	size_t i;

	(void)state;
	for (i = 0; i < SIZE; i++) /* long ascending runs at every offset */
		info.bytes[i] = (uint8_t)(i % 127);
	assert_false(funckeys_apply(&info, &symbols));
	memset(info.bytes, 1, SIZE);
	assert_false(funckeys_apply(&info, &symbols));
	symbols_free(&symbols);
	image_tables_free(tables);
	blob_free(&info);
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
			tables->info.bytes[at] = values[i];
			funckeys_apply(&tables->info, &symbols);
		}
		tables->info.bytes[at] = was;
	}
	symbols_free(&symbols);
	image_tables_free(tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_symbols),
		cmocka_unit_test(takes_no_table_of_other_ranges),
		cmocka_unit_test(gives_up_on_hostile_metadata),
		cmocka_unit_test(survives_any_byte_being_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
