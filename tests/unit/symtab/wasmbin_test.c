/* SPDX-License-Identifier: MIT */
/*
 * wasmbin_test.c - what is kept of a wasm binary: counts, names, identity, damage and all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symtab.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/fixture.h"

/* A module of two functions and a name section with SUBSECTIONS, which it frees. */
static struct bytes module_with(struct bytes *subsections)
{
	struct bytes wasm = { 0 }, names = { 0 }, exports = { 0 };

	bytes_add(&wasm, WASM_PREAMBLE, 8);
	wasm_functions(&wasm, 2);
	bytes_uleb(&exports, 1);
	bytes_name(&exports, "run");
	bytes_add(&exports, "\0\1", 2);
	wasm_section(&wasm, 7, &exports);
	bytes_name(&names, "name");
	bytes_add(&names, subsections->bytes, subsections->size);
	bytes_free(subsections);
	wasm_section(&wasm, 0, &names);
	wasm.bytes = realloc(wasm.bytes, wasm.size);
	return wasm;
}

static struct wasmbin *parse(struct bytes *wasm)
{
	struct wasmbin *bin = wasmbin_parse(wasm->bytes, wasm->size);

	assert_non_null(bin);
	bytes_free(wasm);
	return bin;
}

static void check_name(const struct wasmbin *bin, uint32_t core, uint32_t function,
		       const char *expected)
{
	size_t length = 0;
	const char *name = wasmbin_function_name(bin, core, function, &length);

	if (expected == NULL) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(name, expected, length);
}

/* COUNT says how many (index, name) pairs the map announces; PAIRS are its bytes. */
static struct wasmbin *parse_map(uint64_t count, const char *pairs, size_t size)
{
	struct bytes map = { 0 }, subsections = { 0 }, wasm;

	bytes_uleb(&map, count);
	bytes_add(&map, pairs, size);
	wasm_section(&subsections, 1, &map);
	wasm = module_with(&subsections);
	return parse(&wasm);
}

static void reads_a_real_module(void **state)
{
	struct bytes file = bytes_of_file("guest.wasm");
	struct wasmbin *bin = parse(&file);

	(void)state;
	assert_int_equal(wasmbin_core_count(bin), 1);
	assert_string_equal(wasmbin_name(bin), "tiny-guest");
	assert_int_equal(wasmbin_imported_functions(bin, 0), 2);
	assert_int_equal(wasmbin_defined_functions(bin, 0), 7);
	check_name(bin, 0, 0, "tick");
	check_name(bin, 0, 1, "host.unnamed");
	check_name(bin, 0, 2, "leaf");
	check_name(bin, 0, 3, "_ZN5guest6middle17h0123456789abcdefE");
	check_name(bin, 0, 5, "only exported");
	check_name(bin, 0, 6, NULL);
	check_name(bin, 0, 9, NULL);
	check_name(bin, 1, 0, NULL);
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void numbers_core_modules_depth_first(void **state)
{
	struct bytes file = bytes_of_file("component.wasm");
	struct wasmbin *bin = parse(&file);

	(void)state;
	assert_int_equal(wasmbin_core_count(bin), 4);
	assert_string_equal(wasmbin_name(bin), "parts");
	assert_string_equal(wasmbin_core_name(bin, 0), "first");
	assert_string_equal(wasmbin_core_name(bin, 1), "text");
	assert_string_equal(wasmbin_core_name(bin, 2), "");
	assert_string_equal(wasmbin_core_name(bin, 3), "last");
	assert_string_equal(wasmbin_core_name(bin, 4), "");
	check_name(bin, 0, 1, "work");
	check_name(bin, 1, 1, "length");
	check_name(bin, 2, 0, "realloc");
	check_name(bin, 3, 2, "last:both");
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void hashes_all_bytes(void **state)
{
	/* sha256sum of the 8 bytes of an empty module */
	static const uint8_t expected[4] = { 0x93, 0xa4, 0x4b, 0xbb };
	struct wasmbin *bin = wasmbin_parse((const uint8_t *)WASM_PREAMBLE, 8);

	(void)state;
	assert_non_null(bin);
	assert_memory_equal(wasmbin_sha256(bin), expected, sizeof(expected));
	assert_int_equal(wasmbin_defined_functions(bin, 0), 0);
	wasmbin_unref(wasmbin_ref(bin));
	wasmbin_unref(bin);
	wasmbin_unref(NULL);
}

static void refuses_what_is_not_wasm(void **state)
{
	static const char *const not_wasm[] = { "(module)", "\xef\xbb\xbf(module", "\0asm\2\0\0\0",
						"\0asm\1\0\2\0" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(not_wasm); i++) {
		errno = 0;
		assert_null(wasmbin_parse((const uint8_t *)not_wasm[i], 8));
		assert_int_equal(errno, EINVAL);
	}
	for (i = 0; i < 8; i++)
		assert_null(wasmbin_parse((const uint8_t *)WASM_PREAMBLE, i));
	assert_null(wasmbin_parse(NULL, 0));
	assert_int_equal(errno, EINVAL);
}

static void later_and_unordered_names_count(void **state)
{
	struct wasmbin *bin = parse_map(3, "\1\1b\0\1a\0\6second", 14);

	(void)state;
	check_name(bin, 0, 0, "second");
	check_name(bin, 0, 1, "b");
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void empty_and_equal_names(void **state)
{
	struct wasmbin *bin = parse_map(2, "\0\0\1\0", 4);

	(void)state;
	check_name(bin, 0, 0, NULL);
	check_name(bin, 0, 1, "run"); /* its export */
	wasmbin_unref(bin);
	bin = parse_map(2, "\0\4same\1\4same", 12);
	check_name(bin, 0, 0, "same");
	check_name(bin, 0, 1, "same");
	wasmbin_unref(bin);
}

static void survives_hostile_name_maps(void **state)
{
	static const char huge_index[] = "\0\1a\xff\xff\xff\xff\x0f\1z\1\1b";
	static const struct {
		uint64_t count;
		const char *pairs;
		size_t size;
		const char *first, *second;
		bool is_damaged;
	} cases[] = {
		{ UINT32_MAX, "\0\1a", 3, "a", "run", true },
		{ 1, "\0\xff\xff\xff\xff\x0fname", 10, NULL, "run", true },
		{ 1, "\0\xff\xff\xff\xff\xff\xff\1a", 9, NULL, "run", true },
		{ 3, huge_index, sizeof(huge_index) - 1, "a", "b", false },
		{ 2, "\0\1a\x80", 4, "a", "run", true },
		{ 0, "", 0, NULL, "run", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wasmbin *bin = parse_map(cases[i].count, cases[i].pairs, cases[i].size);

		check_name(bin, 0, 0, cases[i].first);
		check_name(bin, 0, 1, cases[i].second);
		assert_int_equal(wasmbin_problem(bin) != NULL, cases[i].is_damaged);
		wasmbin_unref(bin);
	}
}

static void skips_what_it_does_not_know(void **state)
{
	struct bytes map = { 0 }, subsections = { 0 }, locals = { 0 }, unknown = { 0 }, wasm;
	struct wasmbin *bin;

	(void)state;
	bytes_add(&unknown, "xyz", 3);
	bytes_add(&locals, "\xff\xff\xff\xff\x0f", 5); /* a count that must not matter */
	wasm_section(&subsections, 0x63, &unknown);
	wasm_section(&subsections, 2, &locals);
	bytes_add(&map, "\1\0\1a", 4);
	wasm_section(&subsections, 1, &map);
	wasm = module_with(&subsections);
	bytes_add(&unknown, "future", 6);
	wasm_section(&wasm, 0x40, &unknown);
	bin = parse(&wasm);
	check_name(bin, 0, 0, "a");
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void takes_names_from_a_section_that_is_cut(void **state)
{
	struct bytes map = { 0 }, subsections = { 0 }, wasm;
	struct wasmbin *bin;

	(void)state;
	bytes_add(&map, "\2\0\1a\1\1b", 7);
	wasm_section(&subsections, 1, &map);
	wasm = module_with(&subsections);
	wasm.size -= 2;
	bin = parse(&wasm);
	check_name(bin, 0, 0, "a");
	check_name(bin, 0, 1, "run");
	assert_non_null(strstr(wasmbin_problem(bin), "at offset"));
	wasmbin_unref(bin);
}

static void counts_only_functions_among_imports(void **state)
{
	static const char imports[] = "\6"
				      "\3env\3mem\2\3\1\2"     /* shared memory with a maximum */
				      "\3env\1t\1\x63\x70\0\1" /* table of a (ref null func) */
				      "\3env\1g\3\x7f\1"       /* mutable global */
				      "\3env\1f\0\0"	       /* function */
				      "\3env\1e\4\0\0"	       /* tag */
				      "\3env\1x\x20\0";	       /* exact function */
	struct bytes wasm = { 0 }, body = { 0 };
	struct wasmbin *bin;

	(void)state;
	bytes_add(&wasm, WASM_PREAMBLE, 8);
	bytes_add(&body, imports, sizeof(imports) - 1);
	wasm_section(&wasm, 2, &body);
	wasm_functions(&wasm, 1);
	bin = parse(&wasm);
	assert_null(wasmbin_problem(bin));
	assert_int_equal(wasmbin_imported_functions(bin, 0), 2);
	assert_int_equal(wasmbin_defined_functions(bin, 0), 1);
	check_name(bin, 0, 0, "env.f");
	check_name(bin, 0, 1, "env.x");
	check_name(bin, 0, 2, NULL);
	wasmbin_unref(bin);
}

static void names_survive_imports_of_an_unknown_kind(void **state)
{
	struct bytes wasm = { 0 }, body = { 0 }, map = { 0 };
	struct wasmbin *bin;

	(void)state;
	bytes_add(&wasm, WASM_PREAMBLE, 8);
	bytes_add(&body, "\2\3env\1x\x30\0\3env\1f\0\0", 18);
	wasm_section(&wasm, 2, &body);
	wasm_functions(&wasm, 1);
	bytes_name(&body, "name");
	bytes_add(&map, "\1\2\5third", 8);
	wasm_section(&body, 1, &map);
	wasm_section(&wasm, 0, &body);
	bin = parse(&wasm);
	check_name(bin, 0, 2, "third");
	assert_non_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void takes_no_more_memory_than_the_file_accounts_for(void **state)
{
	struct bytes wasm = { 0 }, body = { 0 };
	struct wasmbin *bin;

	(void)state;
	bytes_add(&wasm, WASM_PREAMBLE, 8);
	bytes_uleb(&body, UINT32_MAX); /* functions, in no bytes */
	wasm_section(&wasm, 3, &body);
	bin = parse(&wasm);
	assert_int_equal(wasmbin_defined_functions(bin, 0), 0);
	assert_non_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void bounds_nesting(void **state)
{
	struct bytes inner = { 0 };
	struct wasmbin *bin;
	int i;

	(void)state;
	bytes_add(&inner, COMPONENT_PREAMBLE, 8);
	for (i = 0; i < 10000; i++) {
		struct bytes outer = { 0 };

		bytes_add(&outer, COMPONENT_PREAMBLE, 8);
		wasm_section(&outer, 4, &inner);
		inner = outer;
	}
	bin = parse(&inner);
	assert_int_equal(wasmbin_core_count(bin), 0);
	assert_string_equal(wasmbin_name(bin), "");
	assert_non_null(strstr(wasmbin_problem(bin), "too deeply"));
	wasmbin_unref(bin);
}

static void bounds_the_number_of_core_modules(void **state)
{
	struct bytes wasm = { 0 };
	struct wasmbin *bin;
	int i;

	(void)state;
	bytes_add(&wasm, COMPONENT_PREAMBLE, 8);
	for (i = 0; i < 20000; i++)
		bytes_add(&wasm, "\1\x08" WASM_PREAMBLE, 10);
	bin = parse(&wasm);
	assert_int_equal(wasmbin_core_count(bin), 10000);
	assert_non_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
}

static void shows_a_module_name_safely(void **state)
{
	struct bytes name = { 0 }, subsections = { 0 }, wasm;
	struct wasmbin *bin;

	(void)state;
	bytes_name(&name, "a\nb\xff");
	wasm_section(&subsections, 0, &name);
	wasm = module_with(&subsections);
	bin = parse(&wasm);
	assert_string_equal(wasmbin_name(bin), "a\\x0ab\\xff");
	wasmbin_unref(bin);
}

/* Every prefix, in a block of its own size, so that a sanitizer sees a step past its end. */
static void survives_being_cut_anywhere(void **state)
{
	static const char *const files[] = { "guest.wasm", "component.wasm" };
	size_t i, size;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes file = bytes_of_file(files[i]);

		for (size = 0; size < file.size; size++) {
			uint8_t *cut = malloc(size > 0 ? size : 1);

			memcpy(cut, file.bytes, size);
			wasmbin_unref(wasmbin_parse(cut, size));
			free(cut);
		}
		bytes_free(&file);
	}
}

static void survives_any_byte_being_wrong(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes file = bytes_of_file("component.wasm");
	size_t at, i;

	(void)state;
	for (at = 0; at < file.size; at++) {
		uint8_t was = file.bytes[at];

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			file.bytes[at] = values[i];
			wasmbin_unref(wasmbin_parse(file.bytes, file.size));
		}
		file.bytes[at] = was;
	}
	bytes_free(&file);
}

static void reports_short_memory(void **state)
{
	struct bytes file;
	struct wasmbin *bin = NULL;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	file = bytes_of_file("component.wasm");
	for (nth = 1;; nth++) {
		failing_start(nth);
		errno = 0;
		bin = wasmbin_parse(file.bytes, file.size);
		if (!failing_stop())
			break;
		if (bin == NULL)
			assert_int_equal(errno, ENOMEM);
		wasmbin_unref(bin); /* only giving back spare room may fail unseen */
	}
	assert_true(nth > 10);
	assert_non_null(bin);
	wasmbin_unref(bin);
	bytes_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_real_module),
		cmocka_unit_test(numbers_core_modules_depth_first),
		cmocka_unit_test(hashes_all_bytes),
		cmocka_unit_test(refuses_what_is_not_wasm),
		cmocka_unit_test(later_and_unordered_names_count),
		cmocka_unit_test(empty_and_equal_names),
		cmocka_unit_test(survives_hostile_name_maps),
		cmocka_unit_test(skips_what_it_does_not_know),
		cmocka_unit_test(takes_names_from_a_section_that_is_cut),
		cmocka_unit_test(counts_only_functions_among_imports),
		cmocka_unit_test(names_survive_imports_of_an_unknown_kind),
		cmocka_unit_test(takes_no_more_memory_than_the_file_accounts_for),
		cmocka_unit_test(bounds_nesting),
		cmocka_unit_test(bounds_the_number_of_core_modules),
		cmocka_unit_test(shows_a_module_name_safely),
		cmocka_unit_test(survives_being_cut_anywhere),
		cmocka_unit_test(survives_any_byte_being_wrong),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
