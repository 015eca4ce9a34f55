/* SPDX-License-Identifier: MIT */
/*
 * symbols_test.c - kinds, order and search of an image's functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symbols.h"
#include "tests/unit/symtab/fixture.h"

static struct symbols read_symbols(struct bytes *symtab, struct bytes *strtab, size_t text_size)
{
	struct image_tables tables = { .symtab = { symtab->bytes, symtab->size },
				       .strtab = { strtab->bytes, strtab->size } };
	struct symbols symbols;

	assert_int_equal(symbols_read(&tables, 0x1000, text_size, &symbols), 0);
	return symbols;
}

static void tells_kinds(void **state)
{
	static const struct {
		const char *name;
		enum symbol_kind kind;
		uint32_t core, function;
	} cases[] = {
		{ "wasm[0]::function[7]", SYMBOL_GUEST, 0, 7 },
		{ "wasm[12]::function[4000000]::a::b", SYMBOL_GUEST, 12, 4000000 },
		{ "wasm[0]::function[3]::", SYMBOL_GUEST, 0, 3 },
		{ "wasm[2]::array_to_wasm_trampoline[4]", SYMBOL_ENTRY, 2, UINT32_MAX },
		{ "module_start[1]::Array", SYMBOL_ENTRY, 1, UINT32_MAX },
		{ "module_start[1]::Wasm", SYMBOL_TRAMPOLINE, 1, UINT32_MAX },
		{ "signatures[1]::wasm_to_array_trampoline", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "component-trampolines[0]-array-call-component-lower-import[0]",
		  SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "wasmtime_builtin_memory_grow", SYMBOL_BUILTIN, 0, UINT32_MAX },
		{ "wasmtime_patchable_builtin_breakpoint", SYMBOL_BUILTIN, 0, UINT32_MAX },
		{ "wasm[0]::function[x]", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "wasm[0]::function[4294967295]", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "wasm[99999999999999999999]::function[1]", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "wasm[", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
		{ "", SYMBOL_TRAMPOLINE, 0, UINT32_MAX },
	};
	struct bytes symtab = { 0 }, strtab = { 0 };
	struct symbols symbols;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		add_symbol(&symtab, &strtab, cases[i].name, 16 * i, 16);
	symbols = read_symbols(&symtab, &strtab, 0x1000);
	assert_int_equal(symbols.count, ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct symbol *symbol = &symbols.records[i].symbol;

		assert_int_equal(symbol->kind, cases[i].kind);
		assert_int_equal(symbol->core, cases[i].core);
		assert_int_equal(symbol->function, cases[i].function);
		assert_int_equal(symbol->id, i);
	}
	assert_true(symbols.have_names);
	assert_int_equal(symbols.records[0].name.offset, SYMBOLS_NO_NAME);
	assert_int_equal(symbols.records[1].name.length, 4);
	assert_memory_equal(strtab.bytes + symbols.records[1].name.offset, "a::b", 4);
	assert_int_equal(symbols.records[2].name.length, 0);
	assert_int_not_equal(symbols.records[2].name.offset, SYMBOLS_NO_NAME);
	symbols_free(&symbols);
	bytes_free(&symtab);
	bytes_free(&strtab);
}

static void sorts_cuts_overlaps_and_finds(void **state)
{
	struct bytes symtab = { 0 }, strtab = { 0 };
	struct symbols symbols;

	(void)state;
	add_symbol(&symtab, &strtab, "wasm[0]::function[2]", 0x80, 0x20);
	add_symbol(&symtab, &strtab, "wasm[0]::function[1]", 0x20, 0x70); /* into the one before */
	add_symbol(&symtab, &strtab, "glue", 0x20, 0x10);		  /* same place: left out */
	symbols = read_symbols(&symtab, &strtab, 0x100);
	assert_int_equal(symbols.count, 2);
	assert_null(symbols_find(&symbols, 0x1f));
	assert_int_equal(symbols_find(&symbols, 0x20)->symbol.function, 1);
	assert_int_equal(symbols_find(&symbols, 0x7f)->symbol.function, 1);
	assert_int_equal(symbols_find(&symbols, 0x80)->symbol.function, 2);
	assert_int_equal(symbols_find(&symbols, 0x9f)->symbol.function, 2);
	assert_null(symbols_find(&symbols, 0xa0));
	assert_null(symbols_find(&symbols, UINT64_MAX));
	symbols_free(&symbols);
	assert_null(symbols_find(&symbols, 0));
	bytes_free(&symtab);
	bytes_free(&strtab);
}

static void leaves_out_what_is_damaged(void **state)
{
	struct bytes symtab = { 0 }, strtab = { 0 };
	struct symbols symbols;

	(void)state;
	add_symbol(&symtab, &strtab, "outside", 0x100, 1);
	add_symbol(&symtab, &strtab, "too long", 0x10, (uint64_t)1 << 63);
	add_symbol(&symtab, &strtab, "empty", 0x10, 0);
	add_symbol(&symtab, &strtab, "wraps", UINT64_MAX, 2);
	add_symbol(&symtab, &strtab, "good", 0xff, 1);
	add_symbol(&symtab, &strtab, "no name", 0x20, 1);
	memset(symtab.bytes + 5 * sizeof(Elf64_Sym), 0xff, 4); /* st_name */
	bytes_add(&symtab, "cut", 3);
	symbols = read_symbols(&symtab, &strtab, 0x100);
	assert_int_equal(symbols.count, 1);
	assert_int_equal(symbols.records[0].symbol.start, 0xff);
	symbols_free(&symbols);
	strtab.bytes[strtab.size - 1] = 'x'; /* no terminator: nothing is safe to read */
	symbols = read_symbols(&symtab, &strtab, 0x100);
	assert_int_equal(symbols.count, 0);
	symbols_free(&symbols);
	bytes_free(&symtab);
	bytes_free(&strtab);
}

static void time_does_not_depend_on_shared_long_names(void **state)
{
	struct bytes symtab = { 0 }, strtab = { 0 };
	struct symbols symbols;
	Elf64_Sym symbol = { .st_name = 1, .st_info = STT_FUNC, .st_size = 1 };

	(void)state;
	/* a million characters under 100,000 symbols: in the square this would take minutes */
	bytes_byte(&strtab, 0);
	strtab.bytes = realloc(strtab.bytes, 1000002);
	memset(strtab.bytes + 1, 'x', 1000000);
	strtab.bytes[1000001] = 0;
	strtab.size = 1000002;
	symtab.bytes = malloc(100000 * sizeof(symbol));
	for (; symbol.st_value < 100000; symbol.st_value++) {
		memcpy(symtab.bytes + symtab.size, &symbol, sizeof(symbol));
		symtab.size += sizeof(symbol);
	}
	symbols = read_symbols(&symtab, &strtab, 100000);
	assert_int_equal(symbols.count, 100000);
	assert_true(symbols.records[0].name.length <= 1024);
	symbols_free(&symbols);
	bytes_free(&symtab);
	bytes_free(&strtab);
}

static bool cleaned(const char *name, const char *clean)
{
	return symbols_cleaned((const uint8_t *)name, strlen(name), clean, strlen(clean));
}

static void knows_how_the_engine_cleans_names(void **state)
{
	char name[120], clean[120];

	(void)state;
	assert_true(cleaned("", ""));
	assert_true(cleaned("a::b", "a::b"));
	assert_false(cleaned("a::b", "a::c"));
	assert_false(cleaned("a::b", "a::"));
	assert_true(cleaned("a??b", "a??b")); /* all graphic: as it is */
	assert_true(cleaned("a?? b", "a?b")); /* else every run of marks is one */
	assert_false(cleaned("a?? b", "a??b"));
	memset(name, 'x', sizeof(name));
	memset(clean, 'x', sizeof(clean));
	name[119] = clean[96] = '\0';
	assert_true(cleaned(name, clean));
	name[110] = ' '; /* behind the cut */
	assert_true(cleaned(name, clean));
	name[3] = name[4] = '?';
	clean[3] = '?';
	assert_true(cleaned(name, clean));
	clean[4] = '?';
	assert_false(cleaned(name, clean));
	clean[95] = '\0';
	assert_false(cleaned(name, clean));
}

static void falls_back_to_frames(void **state)
{
	struct bytes file = bytes_of_file("guest-49-nosymbols.cwasm");
	struct memory memory = memory_of(&file);
	struct image_layout layout;
	struct image_tables *tables;
	struct symbols symbols;

	(void)state;
	assert_int_equal(image_probe(&memory, (uintptr_t)file.bytes, &layout), 0);
	tables = image_copy(&memory, &layout);
	assert_non_null(tables);
	assert_int_equal(symbols_read(tables, layout.text, layout.text_size, &symbols), 0);
	assert_true(symbols.from_frames);
	assert_int_equal(symbols.count, 20);
	assert_int_equal(symbols.records[0].symbol.start, 0);
	assert_int_equal(symbols.records[0].symbol.end, 0x2b);
	symbols_free(&symbols);
	image_tables_free(tables);
	bytes_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_kinds),
		cmocka_unit_test(sorts_cuts_overlaps_and_finds),
		cmocka_unit_test(leaves_out_what_is_damaged),
		cmocka_unit_test(time_does_not_depend_on_shared_long_names),
		cmocka_unit_test(knows_how_the_engine_cleans_names),
		cmocka_unit_test(falls_back_to_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
