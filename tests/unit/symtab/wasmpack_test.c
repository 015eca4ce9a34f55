/* SPDX-License-Identifier: MIT */
/*
 * wasmpack_test.c - what was read of a binary, written and read again, and read from bad bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/wasmpack.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/fixture.h"

enum { SUM_AT = 24, HEADER_SIZE = 32 };

static const char *const files[] = { "guest.wasm", "component.wasm" };

static void set_sum(uint8_t *bytes, size_t size)
{
	uint64_t sum = wasmpack_sum(bytes + HEADER_SIZE, size - HEADER_SIZE);

	memcpy(bytes + SUM_AT, &sum, sizeof(sum));
}

static void check_function(const struct wasmbin *a, const struct wasmbin *b, uint32_t core,
			   uint32_t function)
{
	size_t length = 0, other_length = 0;
	const char *name = wasmbin_function_name(a, core, function, &length);
	const char *other = wasmbin_function_name(b, core, function, &other_length);

	assert_int_equal(name == NULL, other == NULL);
	assert_int_equal(length, other_length);
	if (name != NULL)
		assert_memory_equal(name, other, length);
}

static void check_same(const struct wasmbin *a, const struct wasmbin *b)
{
	struct identity identity, other;

	wasmbin_identity(a, &identity);
	wasmbin_identity(b, &other);
	assert_memory_equal(&identity, &other, sizeof(identity));
	assert_int_equal(wasmbin_is_component(a), wasmbin_is_component(b));
	assert_int_equal(wasmbin_core_count(a), wasmbin_core_count(b));
	assert_string_equal(wasmbin_name(a), wasmbin_name(b));
	for (uint32_t core = 0; core < wasmbin_core_count(a); core++) {
		assert_string_equal(wasmbin_core_name(a, core), wasmbin_core_name(b, core));
		assert_int_equal(wasmbin_named_functions(a, core),
				 wasmbin_named_functions(b, core));
		for (uint32_t i = 0; i < 100; i++)
			check_function(a, b, core, i);
	}
}

static void comes_back_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes wasm = bytes_of_file(files[i]);
		struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size), *read;
		uint8_t digest[32], *packed;
		char call[2][100];
		size_t size;

		wasmbin_hash(wasm.bytes, wasm.size, digest);
		assert_memory_equal(digest, wasmbin_sha256(bin), sizeof(digest));
		packed = wasmpack_write(bin, &size);
		assert_non_null(packed);
		read = wasmpack_read(packed, size, digest);
		assert_non_null(read);
		check_same(bin, read);
		for (uint64_t at = 0; at < wasm.size; at++) {
			size_t length = wasmbin_called_import(bin, at, call[0], sizeof(call[0]));

			assert_int_equal(wasmbin_called_import(read, at, call[1], sizeof(call[1])),
					 length);
			if (length > 0)
				assert_string_equal(call[0], call[1]);
		}
		wasmbin_unref(read);
		read = wasmbin_parse_hashed(wasm.bytes, wasm.size, digest);
		check_same(bin, read);
		wasmbin_unref(read);
		free(packed);
		wasmbin_unref(bin);
		bytes_free(&wasm);
	}
}

static void refuses_what_is_damaged(void **state)
{
	struct bytes wasm = bytes_of_file(files[0]);
	struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size);
	uint8_t digest[32], *packed, *cut;
	size_t size, at;

	(void)state;
	memcpy(digest, wasmbin_sha256(bin), sizeof(digest));
	packed = wasmpack_write(bin, &size);
	for (at = 0; at < size; at++) {
		packed[at] ^= 0x40;
		assert_null(wasmpack_read(packed, size, digest));
		assert_int_equal(errno, EINVAL);
		packed[at] ^= 0x40;
	}
	for (at = 0; at < size; at++) {
		cut = malloc(at + 1); /* so that a byte too far is seen */
		memcpy(cut, packed, at);
		assert_null(wasmpack_read(cut, at, digest));
		free(cut);
	}
	digest[31] ^= 1;
	assert_null(wasmpack_read(packed, size, digest)); /* another binary's */
	free(packed);
	wasmbin_unref(bin);
	bytes_free(&wasm);
}

/* Whoever damages on purpose makes the sum right: whatever is then read must be in bounds. */
static void survives_what_was_damaged_on_purpose(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes wasm = bytes_of_file(files[1]);
	struct wasmbin *bin = wasmbin_parse(wasm.bytes, wasm.size), *read;
	uint8_t digest[32], *packed, *bad;
	char call[100];
	size_t size;

	(void)state;
	memcpy(digest, wasmbin_sha256(bin), sizeof(digest));
	packed = wasmpack_write(bin, &size);
	bad = malloc(size);
	for (size_t at = HEADER_SIZE + sizeof(digest); at < size; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			memcpy(bad, packed, size);
			bad[at] = values[i];
			set_sum(bad, size);
			read = wasmpack_read(bad, size, digest);
			if (read == NULL)
				continue;
			for (uint32_t core = 0; core < wasmbin_core_count(read); core++)
				wasmbin_named_functions(read, core);
			wasmbin_called_import(read, 100, call, sizeof(call));
			wasmbin_unref(read);
		}
	}
	free(bad);
	free(packed);
	wasmbin_unref(bin);
	bytes_free(&wasm);
}

static void survives_short_memory(void **state)
{
	struct wasmbin *bin, *read = NULL;
	struct bytes wasm;
	uint8_t *packed;
	size_t size;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	wasm = bytes_of_file(files[1]);
	bin = wasmbin_parse(wasm.bytes, wasm.size);
	packed = wasmpack_write(bin, &size);
	for (nth = 1; failing_start(nth), read = wasmpack_read(packed, size, wasmbin_sha256(bin)),
	    failing_stop();
	     nth++) {
		/* a text that could not give back what it took in advance is whole */
		if (read == NULL)
			assert_int_equal(errno, ENOMEM);
		wasmbin_unref(read);
	}
	assert_true(nth > 4);
	assert_non_null(read);
	wasmbin_unref(read);
	free(packed);
	wasmbin_unref(bin);
	bytes_free(&wasm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_whole),
		cmocka_unit_test(refuses_what_is_damaged),
		cmocka_unit_test(survives_what_was_damaged_on_purpose),
		cmocka_unit_test(survives_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
