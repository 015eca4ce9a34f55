/* SPDX-License-Identifier: MIT */
/*
 * extism_test.c - plugins of a fake Extism are instances; its kernel is told apart; an Extism of
 * 0.x gets its arguments and nothing else happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "preload/hook/hook.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

extern char extism_plugin_new[];
const void *const pulled[] = { extism_plugin_new };

/* Notes what came; answers fake_next, which counts on. */
static const char fake_extism[] =
	"long fake_args[8], fake_next, fake_sum; typedef long w;\n"
	"static w note(w a, w b, w c, w d, w e, w f, w g) { long all[8] = { a, b, c, d, e, f, g "
	"};\n"
	"	body(); for (int i = 0; i < 8; i++) fake_args[i] = all[i];\n"
	"	return fake_next ? fake_next++ : 0; }\n"
	"w extism_plugin_new(w a, w b, w c, w d, w e, w f) { return note(a, b, c, d, e, f, 0); }\n"
	"w extism_plugin_new_with_fuel_limit(w a, w b, w c, w d, w e, w f, w g)\n"
	"{ return note(a, b, c, d, e, f, g); }\n"
	"w extism_compiled_plugin_new(w a, w b, w c, w d, w e, w f)\n"
	"{ return note(a, b, c, d, e, f, 0); }\n"
	"w extism_compiled_plugin_new_with_fuel_limit(w a, w b, w c, w d, w e, w f, w g)\n"
	"{ return note(a, b, c, d, e, f, g); }\n"
	"w extism_plugin_new_from_compiled(w a, w b) { return note(a, b, 0, 0, 0, 0, 0); }\n"
	"void extism_compiled_plugin_free(w a) { note(a, 0, 0, 0, 0, 0, 0); }\n"
	"w extism_plugin_call(w a, w b, w c, w d, w e) { return note(a, b, c, d, e, 0, 0); }\n"
	"w extism_plugin_call_with_host_context(w a, w b, w c, w d, w e)\n"
	"{ return note(a, b, c, d, e, 0, 0); }\n"
	"w extism_plugin_reset(w a) { return note(a, 0, 0, 0, 0, 0, 0); }\n"
	"w extism_plugin_error(w a) { return note(a, 0, 0, 0, 0, 0, 0); }\n"
	"w extism_plugin_output_length(w a) { return note(a, 0, 0, 0, 0, 0, 0); }\n"
	"w extism_plugin_output_data(w a) { return note(a, 0, 0, 0, 0, 0, 0); }\n"
	"void extism_plugin_free(w a, w b) { note(a, b, 0, 0, 0, 0, 0); }\n";
static const char fake_contexts[] = "void *extism_context_new(void) { return 0; }\n";

typedef uintptr_t call(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const uint8_t wasm[] = "\0asm\1\0\0\0";
static void *engine;

static uintptr_t ask(const char *name, uintptr_t a, uintptr_t b)
{
	return ((call *)dlsym(engine, name))(a, b, 3, 4, 5, 6, 7);
}

static long argument(int number)
{
	return ((long *)dlsym(engine, "fake_args"))[number];
}

static void answer_from(long next)
{
	*(long *)dlsym(engine, "fake_next") = next;
}

static int open_with(const char *name, const char *more)
{
	const char *const parts[] = { fake_extism, more, NULL };

	record_reset();
	state.on = true;
	engine = fake_open(name, parts);
	if (engine == NULL)
		return -1;
	answer_from(0x1000);
	return 0;
}

static int open_extism(void **context)
{
	(void)context;
	return open_with("extism.so", NULL);
}

static int open_old(void **context)
{
	(void)context;
	return open_with("old.so", fake_contexts);
}

static int close_engine(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine);
}

static void plugins_of_one_compiled_are_instances(void **context)
{
	static const char *const entries[] = {
		"extism_plugin_call",	       "extism_plugin_call_with_host_context",
		"extism_plugin_reset",	       "extism_plugin_error",
		"extism_plugin_output_length", "extism_plugin_output_data"
	};
	uintptr_t compiled = ask("extism_compiled_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	uintptr_t plugins[2];

	(void)context;
	assert_int_equal(record.announced, 1);
	assert_int_equal(record.event.handle, compiled);
	assert_int_equal(record.bytes_ended, 1);
	for (uint32_t i = 0; i < 2; i++) {
		plugins[i] = ask("extism_plugin_new_from_compiled", compiled, 0);
		assert_int_equal(record.loading_of[i + 1], 1);
	}
	assert_int_equal(record.instances, 2);
	for (uint32_t i = 0; i < 2 * ARRAY_SIZE(entries); i++) {
		ask(entries[i / 2], plugins[i & 1], 2);
		assert_int_equal(record.instance, (i & 1) + 1);
	}
	assert_int_equal(record.entered, 2 * ARRAY_SIZE(entries));
	assert_int_equal(record.left, record.entered);
	ask("extism_plugin_free", plugins[0], 0);
	assert_int_equal(record.store_forgotten >> 48, 0xffff);
	ask("extism_plugin_call", plugins[0], 2); /* the host's mistake: nobody is entered */
	ask("extism_compiled_plugin_free", compiled, 0);
	assert_int_equal(record.forgotten, compiled);
	assert_int_equal(record.entered, 2 * ARRAY_SIZE(entries));
}

/* The address of a plugin that was freed comes back. */
static void an_address_that_comes_back_is_another_plugin(void **context)
{
	uintptr_t plugin = ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	uint64_t store;

	(void)context;
	ask("extism_plugin_call", plugin, 2);
	assert_int_equal(record.instance, 1);
	ask("extism_plugin_free", plugin, 0);
	store = record.store_forgotten;
	answer_from((long)plugin);
	assert_int_equal(ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1), plugin);
	ask("extism_plugin_call", plugin, 2);
	assert_int_equal(record.instance, 2);
	answer_from((long)plugin);
	ask("extism_plugin_free", plugin, 0);
	assert_true(record.store_forgotten != store);
}

static void a_failed_load_leaves_nothing(void **context)
{
	(void)context;
	answer_from(0);
	assert_int_equal(ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1), 0);
	assert_int_equal(ask("extism_compiled_plugin_new", (uintptr_t) "{}", 2), 0);
	assert_int_equal(ask("extism_plugin_new_from_compiled", 0, 0), 0);
	assert_int_equal(record.announced + (int)record.instances, 0);
	assert_int_equal(record.bytes_freed, record.bytes_begun);
}

static void switch_off(void)
{
	state.on = false;
}

/* The process ends while a plugin is made: the bytes are not read any more. */
static void switched_off_meanwhile(void **context)
{
	(void)context;
	*(void (**)(void))dlsym(engine, "fake_body") = switch_off;
	ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	assert_int_equal(record.bytes_begun, 1);
	assert_int_equal(record.bytes_ended, 1);
	assert_int_equal(record.bytes_freed, 1);
	assert_int_equal(record.announced, 0);
}

static void only_the_kernel_is_named_so(void **context)
{
	char image[512] = "memory_bytes and input_set";

	(void)context;
	record.first_held = 9;
	record.image_start = (uintptr_t)image;
	record.image_end = (uintptr_t)image + sizeof(image);
	ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	assert_null(record.name); /* not all of its exports */
	strcpy(image + 200, "output_offset");
	record.image_end = (uintptr_t)image + (64 << 20);
	ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	assert_null(record.name); /* too large */
	record.image_start = 4096;
	record.image_end = 8192;
	ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	assert_null(record.name); /* not there */
	record.image_start = (uintptr_t)image;
	record.image_end = (uintptr_t)image + sizeof(image);
	ask("extism_plugin_new", (uintptr_t)wasm, sizeof(wasm) - 1);
	assert_string_equal(record.name, "extism kernel");
}

static void all_words_pass(void **context)
{
	static const char *const seven[] = { "extism_plugin_new_with_fuel_limit",
					     "extism_compiled_plugin_new_with_fuel_limit" };

	(void)context;
	errno = 9;
	for (size_t i = 0; i < ARRAY_SIZE(seven); i++) {
		assert_int_equal(ask(seven[i], (uintptr_t)wasm, 8), 0x1000 + i);
		assert_int_equal(argument(0), (uintptr_t)wasm);
		for (int number = 2; number < 7; number++)
			assert_int_equal(argument(number), number + 1);
	}
	assert_int_equal(errno, 9);
}

static void old_ones_are_only_passed_on(void **context)
{
	/* 0.5: a context, then bytes */
	uintptr_t plugin = ask("extism_plugin_new", 1, (uintptr_t)wasm);

	(void)context;
	assert_int_equal(argument(0), 1);
	assert_int_equal(argument(5), 6);
	ask("extism_plugin_call", 1, plugin);
	assert_int_equal(argument(4), 5);
	ask("extism_plugin_free", 1, plugin);
	assert_int_equal(argument(1), plugin);
	assert_int_equal(record.bytes_begun + record.announced + record.entered, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plugins_of_one_compiled_are_instances, open_extism,
						close_engine),
		cmocka_unit_test_setup_teardown(an_address_that_comes_back_is_another_plugin,
						open_extism, close_engine),
		cmocka_unit_test_setup_teardown(a_failed_load_leaves_nothing, open_extism,
						close_engine),
		cmocka_unit_test_setup_teardown(switched_off_meanwhile, open_extism, close_engine),
		cmocka_unit_test_setup_teardown(only_the_kernel_is_named_so, open_extism,
						close_engine),
		cmocka_unit_test_setup_teardown(all_words_pass, open_extism, close_engine),
		cmocka_unit_test_setup_teardown(old_ones_are_only_passed_on, open_old,
						close_engine),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
