/* SPDX-License-Identifier: MIT */
/* embed_test.c - a module's debug information, deflated, is what was kept of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/embed.h"
#include "tests/unit/lines/fixture.h"
#include "tests/unit/symtab/failing.h"

#include <zlib.h>

/* Stands in for symtab's, of which only this is asked. */
struct module {
	struct wasmbin *wasm;
};

const struct wasmbin *module_wasm(const struct module *module)
{
	return module->wasm;
}

const char *module_name(const struct module *module)
{
	(void)module;
	return "app.wasm";
}

static int put(void *context, const void *bytes, size_t size)
{
	bytes_add(context, bytes, size);
	return 0;
}

/* Many copies of a real one, in a component: more than one buffer of zlib. */
static struct bytes large_file(void)
{
	static const uint8_t preamble[] = { 0, 'a', 's', 'm', 0x0d, 0, 1, 0 };
	struct bytes module = fixture_read("shapes.wasm"), file = { 0 };

	bytes_add(&file, preamble, sizeof(preamble));
	for (int i = 0; i < 200; i++) {
		module.bytes[module.size - 1 - i] ^= (uint8_t)(i * 77);
		bytes_section(&file, 1, &module);
	}
	free(module.bytes);
	return file;
}

static void is_what_was_kept(void **state)
{
	struct bytes file = large_file(), kept = { 0 };
	struct module module = { wasmbin_parse(file.bytes, file.size) };
	struct chunk_mapping mapping = { 0 };
	uint8_t *inflated = malloc(file.size);
	uLongf size = file.size;

	(void)state;
	assert_int_equal(wasmbin_keep_debug(module.wasm, file.bytes, file.size, 1 << 30), 0);
	assert_int_equal(wasmbin_debug_write(module.wasm, put, &kept), 0);
	embed_debug(&module, &mapping);
	assert_non_null(mapping.debug);
	assert_int_equal(mapping.debug_inflated_size, file.size);
	assert_true(mapping.debug_size < file.size);
	assert_int_equal(uncompress(inflated, &size, mapping.debug, mapping.debug_size), Z_OK);
	assert_int_equal(size, kept.size);
	assert_memory_equal(inflated, kept.bytes, kept.size);
	free(mapping.debug);
	free(inflated);
	wasmbin_unref(module.wasm);
	free(kept.bytes);
	free(file.bytes);
}

static void is_nothing_where_nothing_was_kept(void **state)
{
	struct bytes file = fixture_read("inline-4.wasm");
	struct module module = { NULL };
	struct chunk_mapping mapping = { 0 };

	(void)state;
	embed_debug(&module, &mapping);
	assert_null(mapping.debug);
	module.wasm = wasmbin_parse(file.bytes, file.size);
	embed_debug(&module, &mapping);
	assert_null(mapping.debug);
	wasmbin_unref(module.wasm);
	free(file.bytes);
}

static void is_nothing_without_memory(void **state)
{
	struct chunk_mapping mapping = { 0 };
	struct module module;
	struct bytes file;
	long nth = 0;
	bool did_fail;

	(void)state;
	if (!failing_works)
		skip();
	file = large_file();
	module.wasm = wasmbin_parse(file.bytes, file.size);
	assert_int_equal(wasmbin_keep_debug(module.wasm, file.bytes, file.size, 1 << 30), 0);
	do {
		failing_start(++nth);
		embed_debug(&module, &mapping);
		did_fail = failing_stop();
		assert_int_equal(mapping.debug == NULL, did_fail);
	} while (did_fail);
	assert_true(nth > 3);
	free(mapping.debug);
	wasmbin_unref(module.wasm);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_was_kept),
		cmocka_unit_test(is_nothing_where_nothing_was_kept),
		cmocka_unit_test(is_nothing_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
