/* SPDX-License-Identifier: MIT */
/*
 * wasmcode_test.c - what identifies a wasm binary, and where its functions are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/sha256.h"
#include "symtab/symtab.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/fixture.h"

static struct wasmbin *parse_file(const char *name)
{
	struct bytes file = bytes_of_file(name);
	struct wasmbin *bin = wasmbin_parse_bodies(file.bytes, file.size);

	bytes_free(&file);
	assert_non_null(bin);
	return bin;
}

static void assert_sha256(const char *hex, const uint8_t *bytes, size_t size)
{
	char expected[2 * SHA256_SIZE + 1];
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, bytes, size);
	sha256_end(&sha, digest);
	sha256_hex(digest, expected);
	assert_string_equal(hex, expected);
}

/* Two functions, of 2 and of 5 bytes, then whatever is in TAIL. */
static struct bytes small(const struct bytes *tail)
{
	struct bytes wasm = { 0 }, code = { 0 };

	bytes_add(&wasm, WASM_PREAMBLE, 8);
	wasm_functions(&wasm, 2);
	bytes_add(&code, "\2\2\0\x0b\5\0\1\1\1\x0b", 10);
	wasm_section(&wasm, 10, &code);
	if (tail != NULL)
		bytes_add(&wasm, tail->bytes, tail->size);
	wasm.bytes = realloc(wasm.bytes, wasm.size);
	return wasm;
}

static struct bytes build_id(const char *bytes, size_t size)
{
	struct bytes section = { 0 }, body = { 0 };

	bytes_name(&body, "build_id");
	bytes_uleb(&body, size);
	bytes_add(&body, bytes, size);
	wasm_section(&section, 0, &body);
	return section;
}

static void identifies_a_core_module(void **state)
{
	struct bytes id = build_id("\xfe\xed\x00\x01", 4), wasm = small(&id), bare = small(NULL);
	struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size);
	struct wasmbin *other = wasmbin_parse(bare.bytes, bare.size);
	struct identity identity, same;

	(void)state;
	wasmbin_identity(bin, &identity);
	assert_sha256(identity.wasm, wasm.bytes, wasm.size);
	assert_int_equal(identity.code_offset, bare.size - 10);
	assert_sha256(identity.code, bare.bytes + bare.size - 10, 10);
	assert_string_equal(identity.build_id, "feed0001");
	assert_string_equal(identity.image, "");
	assert_int_equal(identity.defined_functions, 2);
	wasmbin_core_identity(bin, 0, &same);
	assert_memory_equal(&same, &identity, sizeof(same));
	wasmbin_core_identity(bin, 1, &same);
	assert_string_equal(same.wasm, "");
	assert_int_equal(same.defined_functions, 0);
	/* the same code in another file */
	wasmbin_identity(other, &same);
	assert_string_equal(same.code, identity.code);
	assert_string_not_equal(same.wasm, identity.wasm);
	assert_string_equal(same.build_id, "");
	wasmbin_unref(bin);
	wasmbin_unref(other);
	bytes_free(&id);
	bytes_free(&wasm);
	bytes_free(&bare);
}

static void bounds_build_ids(void **state)
{
	static const char long_id[100] = { 1 };
	struct bytes id = build_id(long_id, sizeof(long_id)), wasm = small(&id);
	struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size);
	struct identity identity;

	(void)state;
	wasmbin_identity(bin, &identity);
	assert_int_equal(strlen(identity.build_id), 2 * BUILD_ID_MAX);
	wasmbin_unref(bin);
	bytes_free(&id);
	bytes_free(&wasm);
	/* one that says it is longer than it is */
	id = build_id("", 0);
	id.bytes[id.size - 1] = 9;
	wasm = small(&id);
	bin = wasmbin_parse(wasm.bytes, wasm.size);
	wasmbin_identity(bin, &identity);
	assert_string_equal(identity.build_id, "");
	wasmbin_unref(bin);
	bytes_free(&id);
	bytes_free(&wasm);
}

static void identifies_a_component(void **state)
{
	struct wasmbin *bin = parse_file("component.wasm");
	struct identity whole, core;
	uint32_t i, functions = 0;

	(void)state;
	assert_true(wasmbin_is_component(bin));
	wasmbin_identity(bin, &whole);
	assert_int_equal(whole.code_offset, 0);
	for (i = 0; i < wasmbin_core_count(bin); i++) {
		wasmbin_core_identity(bin, i, &core);
		assert_string_equal(core.wasm, "");
		assert_int_equal(strlen(core.code), 64);
		assert_string_not_equal(core.code, whole.code);
		functions += core.defined_functions;
	}
	assert_int_equal(whole.defined_functions, functions);
	wasmbin_unref(bin);
}

static void finds_functions_by_position(void **state)
{
	struct wasmbin *bin = parse_file("component.wasm");
	uint64_t start, end, position;
	uint32_t core, function;

	(void)state;
	assert_true(wasmbin_body(bin, 3, 2, &start, &end));
	assert_int_equal(start, 559);
	assert_int_equal(end, 572);
	for (position = start; position < end; position++) {
		assert_true(wasmbin_find(bin, position, &core, &function));
		assert_int_equal(core, 3);
		assert_int_equal(function, 2);
	}
	assert_false(wasmbin_find(bin, start - 1, &core, &function)); /* its size */
	assert_false(wasmbin_find(bin, end, &core, &function));
	assert_false(wasmbin_find(bin, 0, &core, &function));
	assert_false(wasmbin_find(bin, UINT64_MAX, &core, &function));
	assert_false(wasmbin_body(bin, 3, 1, &start, &end)); /* imported */
	assert_false(wasmbin_body(bin, 3, 3, &start, &end));
	assert_false(wasmbin_body(bin, 9, 0, &start, &end));
	wasmbin_unref(bin);
}

static void keeps_bodies_only_when_asked(void **state)
{
	struct bytes wasm = small(NULL);
	struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size);
	uint64_t start, end;
	uint32_t core, function;

	(void)state;
	assert_false(wasmbin_body(bin, 0, 0, &start, &end));
	assert_false(wasmbin_find(bin, wasm.size - 1, &core, &function));
	wasmbin_unref(bin);
	bytes_free(&wasm);
}

static void says_which_bodies_are_damaged(void **state)
{
	struct bytes wasm = small(NULL);
	struct wasmbin *bin;
	uint64_t start, end;

	(void)state;
	wasm.bytes[wasm.size - 6] = 100; /* the size of the second body */
	bin = wasmbin_parse_bodies(wasm.bytes, wasm.size);
	assert_true(wasmbin_body(bin, 0, 0, &start, &end));
	assert_false(wasmbin_body(bin, 0, 1, &start, &end));
	assert_non_null(strstr(wasmbin_problem(bin), "function body is damaged or missing"));
	wasmbin_unref(bin);
	bytes_free(&wasm);
}

static void counts_names_of_the_name_section(void **state)
{
	struct wasmbin *bin = parse_file("guest.wasm");

	(void)state;
	/* wasm-objdump -x: functions 0, 2, 3, 4, 7 and 8; the export's and the import's are not
	 * there */
	assert_int_equal(wasmbin_named_functions(bin, 0), 6);
	assert_int_equal(wasmbin_named_functions(bin, 1), 0);
	wasmbin_unref(bin);
}

static void survives_being_cut_anywhere(void **state)
{
	struct bytes file = bytes_of_file("component.wasm");
	uint32_t core, function;
	size_t size;

	(void)state;
	for (size = 8; size < file.size; size++) {
		uint8_t *cut = malloc(size);
		struct identity identity;
		struct wasmbin *bin;
		uint64_t position;

		memcpy(cut, file.bytes, size);
		bin = wasmbin_parse_bodies(cut, size);
		assert_non_null(bin);
		wasmbin_identity(bin, &identity);
		for (position = 0; position <= size; position += 3)
			wasmbin_find(bin, position, &core, &function);
		wasmbin_unref(bin);
		free(cut);
	}
	bytes_free(&file);
}

static void reports_short_memory(void **state)
{
	struct wasmbin *bin;
	struct bytes file;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	file = bytes_of_file("component.wasm");
	for (nth = 1;; nth++) {
		failing_start(nth);
		errno = 0;
		bin = wasmbin_parse_bodies(file.bytes, file.size);
		if (!failing_stop())
			break;
		if (bin == NULL)
			assert_int_equal(errno, ENOMEM);
		wasmbin_unref(bin);
	}
	assert_true(nth > 10);
	wasmbin_unref(bin);
	bytes_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifies_a_core_module),
		cmocka_unit_test(bounds_build_ids),
		cmocka_unit_test(identifies_a_component),
		cmocka_unit_test(finds_functions_by_position),
		cmocka_unit_test(keeps_bodies_only_when_asked),
		cmocka_unit_test(says_which_bodies_are_damaged),
		cmocka_unit_test(counts_names_of_the_name_section),
		cmocka_unit_test(survives_being_cut_anywhere),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
