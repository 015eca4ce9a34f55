/* SPDX-License-Identifier: MIT */
/*
 * wasm_c_api_test.c - wasm.h on a fake Wasmtime, on another engine and on one without a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "preload/hook/hook.h"
#include "preload/runtime/wasmtime_instance.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

extern char wasm_module_new[];
const void *const pulled[] = { wasm_module_new };

static void *engine, *stranger, *wasmer, *registry;

#define CALL(handle, name, type) ((type)dlsym(handle, name))

typedef void *load_call(struct fake_context *, const wasm_byte_vec_t *);
typedef void *one_call(const void *);
typedef void *obtain_call(struct fake_context *, const void *);
typedef void *new_call(struct fake_context *, const void *, const void *, void **);
typedef void exports_call(const void *, wasm_extern_vec_t *);
typedef void *func_call(const wasm_func_t *, const void *, void *);
typedef void register_call(const void *);

static const wasm_byte_vec_t wasm = { 8, (uint8_t *)"\0asm\1\0\0\0" };

/* What wasmer exports beside wasm.h; functions are deleted by address alone. */
static const char fake_wasmer[] =
	"const char *wasmer_version(void) { return \"7.4.2\"; }\n"
	"void *wasi_get_start_function(struct handle *h) { return &exts[31]; }\n"
	"void wasm_func_delete(void *f) { body(); }\n"
	"void wasm_extern_delete(void *f) { body(); }\n"
	"void wasm_extern_vec_delete(struct vec *v) { body(); }\n";

static int set_up(void **context)
{
	const char *const parts[] = { fake_modules, fake_wasm_h, NULL };
	const char *const strange[] = { fake_wasm_h, NULL };
	const char *const others[] = { fake_wasm_h, fake_wasmer, NULL };
	const char *const frames[] = { "void __register_frame(const void *p) { fake_calls++; }\n",
				       NULL };

	(void)context;
	record_reset();
	state.on = true;
	engine = fake_open("wasm.so", parts);
	stranger = fake_open("stranger.so", strange);
	wasmer = fake_open("wasmer.so", others);
	registry = fake_open("registry.so", frames);
	if (engine == NULL || stranger == NULL || wasmer == NULL || registry == NULL)
		return -1;
	*(register_call **)dlsym(engine, "fake_register") =
		(register_call *)dlsym(registry, "__register_frame");
	*(register_call **)dlsym(wasmer, "fake_register") =
		(register_call *)dlsym(registry, "__register_frame");
	record.text_start = (uintptr_t)dlsym(engine, "fake_image");
	record.text_end = record.text_start + 4096;
	return 0;
}

static int close_engines(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine) | dlclose(stranger) | dlclose(wasmer) | dlclose(registry);
}

static void modules_are_announced_and_followed(void **context)
{
	struct fake_context store = { .store_id = 1 };
	void *module = CALL(engine, "wasm_module_new", load_call *)(&store, &wasm);
	void *copy, *shared, *obtained;

	(void)context;
	assert_int_equal(record.announced, 1);
	assert_ptr_equal(record.event.handle, module);
	assert_int_equal(record.event.image, record.registered);
	assert_int_equal(record.bytes_ended, 1);
	copy = CALL(engine, "wasm_module_copy", one_call *)(module);
	shared = CALL(engine, "wasm_module_share", one_call *)(copy);
	obtained = CALL(engine, "wasm_module_obtain", obtain_call *)(&store, shared);
	assert_int_equal(load_of_handle(obtained), 1);
	CALL(engine, "wasm_module_delete", one_call *)(module);
	assert_ptr_equal(record.forgotten, module);
	CALL(engine, "wasm_shared_module_delete", one_call *)(shared);
	assert_ptr_equal(record.forgotten, shared);
	assert_int_equal(load_of_handle(obtained), 1);
}

static wasm_func_t *function_of(const void *instance)
{
	wasm_extern_vec_t exports;

	CALL(engine, "wasm_instance_exports", exports_call *)(instance, &exports);
	assert_int_equal(exports.size, 2);
	return (wasm_func_t *)exports.data[1];
}

static void instances_are_told_apart(const char *version)
{
	struct fake_context store = { .store_id = 5 };
	void *module, *trap = NULL, *instances[2];
	wasm_func_t *functions[2];

	record.version = version;
	*(bool *)dlsym(engine, "fake_old") = atoi(version) < 34;
	module = CALL(engine, "wasm_module_deserialize", load_call *)(&store, &wasm);
	for (uint32_t i = 0; i < 2; i++) {
		instances[i] =
			CALL(engine, "wasm_instance_new", new_call *)(&store, module, NULL, &trap);
		functions[i] = function_of(instances[i]);
		assert_int_equal(record.instances, i + 1);
		assert_int_equal(record.loading_of[i + 1], 1);
	}
	for (uint32_t i = 0; i < 6; i++) {
		CALL(engine, "wasm_func_call", func_call *)(functions[i & 1], NULL, NULL);
		assert_int_equal(record.instance, (i & 1) + 1);
	}
	assert_int_equal(record.entered, 8); /* two start functions */
	assert_int_equal(record.left, 8);
	function_of(CALL(engine, "wasm_instance_copy", one_call *)(instances[1]));
	assert_int_equal(record.instances, 2);
	CALL(engine, "wasm_instance_delete", one_call *)(instances[0]);
	CALL(engine, "wasm_store_delete", one_call *)(&store);
	assert_int_equal(record.store_forgotten & 0xffff, 5);
}

static void instances_by_their_contexts(void **context)
{
	(void)context;
	instances_are_told_apart("43");
}

static void instances_by_their_exports(void **context)
{
	(void)context;
	instances_are_told_apart("25.0.0");
}

/* A handle of guestprof.h's callers: known once the exports were listed, by its own store only. */
static void instances_are_found_by_their_handles(void **context)
{
	struct fake_context store = { .store_id = 5 }, other = { .store_id = 6 };
	wasmtime_instance_t stranger_to_both = { 6, 0 };
	void *module, *instance, *trap = NULL;

	(void)context;
	module = CALL(engine, "wasm_module_new", load_call *)(&store, &wasm);
	instance = CALL(engine, "wasm_instance_new", new_call *)(&store, module, NULL, &trap);
	assert_int_equal(runtime_wasm_instance_behind(instance), 0);
	assert_int_equal(runtime_store_behind(&store), 0);
	function_of(instance);
	assert_int_equal(runtime_wasm_instance_behind(instance), 1);
	assert_int_equal(runtime_store_behind(&store) & 0xffffffffffff, 5);
	assert_int_equal(runtime_store_behind(&other), 0);
	assert_int_equal(runtime_instance_behind(&store, &stranger_to_both), 0);
	CALL(engine, "wasm_instance_delete", one_call *)(instance);
	assert_int_equal(runtime_wasm_instance_behind(instance), 0);
	CALL(engine, "wasm_store_delete", one_call *)(&store);
	assert_int_equal(runtime_store_behind(&store), 0);
}

static void a_store_stands_for_its_engine(void **context)
{
	struct fake_context store = { .store_id = 1 }; /* the fake's engine and store are one */

	(void)context;
	CALL(engine, "wasm_module_new", load_call *)(&store, &wasm);
	assert_null(record.event.owner); /* it was there before us */
	CALL(engine, "wasm_store_new", one_call *)(&store);
	assert_ptr_equal(record.owner, &store);
	CALL(engine, "wasm_module_new", load_call *)(&store, &wasm);
	assert_ptr_equal(record.event.owner, &store);
	CALL(engine, "wasm_store_delete", one_call *)(&store);
	CALL(engine, "wasm_module_deserialize", load_call *)(&store, &wasm);
	assert_null(record.event.owner);
}

static void failed_instances_make_nothing(void **context)
{
	struct fake_context store = { .store_id = 1, .traps = true };
	void *trap = NULL;

	(void)context;
	assert_null(CALL(engine, "wasm_instance_new", new_call *)(&store, "module", NULL, &trap));
	assert_int_equal(record.entered, 1);
	assert_int_equal(record.left, 1);
	assert_int_equal(record.instances, 0);
}

/* The same names with other insides: passed on, and nothing is read. */
static void other_engines_are_passed_on(void **context)
{
	struct fake_context store = { .store_id = 5 };
	void *module, *instance, *trap = NULL;
	wasm_extern_vec_t exports;

	(void)context;
	CALL(stranger, "wasm_store_new", one_call *)(&store);
	module = CALL(stranger, "wasm_module_new", load_call *)(&store, &wasm);
	instance = CALL(stranger, "wasm_instance_new", new_call *)(&store, module, NULL, &trap);
	CALL(stranger, "wasm_instance_exports", exports_call *)(instance, &exports);
	CALL(stranger, "wasm_func_call", func_call *)((wasm_func_t *)exports.data[1], NULL, NULL);
	CALL(stranger, "wasm_instance_delete", one_call *)(instance);
	CALL(stranger, "wasm_module_delete", one_call *)(module);
	CALL(stranger, "wasm_store_delete", one_call *)(&store);
	assert_int_equal(*(int *)dlsym(stranger, "fake_calls"), 7);
	assert_null(record.owner);
	assert_int_equal(record.bytes_begun + record.announced + record.entered + record.instances +
				 record.handle_count,
			 0);
	assert_null(record.forgotten);
}

static uint32_t instance_entered(const void *function)
{
	int before = record.entered;

	CALL(wasmer, "wasm_func_call", func_call *)(function, NULL, NULL);
	assert_int_equal(record.entered, before + 1);
	return record.instance;
}

/* Handles are known by their addresses, until those are another's. */
static void another_engine(void **context)
{
	struct fake_context store = { .store_id = 9 };
	wasm_extern_vec_t exports, others;
	void *module, *instance, *other, *trap = NULL;
	uint32_t first, second;

	(void)context;
	record_reset();
	CALL(wasmer, "wasm_store_new", one_call *)(&store);
	module = CALL(wasmer, "wasm_module_new", load_call *)(&store, &wasm);
	assert_int_equal(record.announced, 1);
	assert_string_equal(record.event.engine, "wasmer");
	assert_string_equal(record.event.version, "7.4.2");
	assert_int_equal(record.event.image, 0); /* what was registered last */
	assert_int_equal(record.bytes_ended, 1);
	instance = CALL(wasmer, "wasm_instance_new", new_call *)(&store, module, NULL, &trap);
	other = CALL(wasmer, "wasm_instance_new", new_call *)(&store, module, NULL, &trap);
	CALL(wasmer, "wasm_instance_exports", exports_call *)(instance, &exports);
	exports.data = memcpy(calloc(2, sizeof(void *)), exports.data, 2 * sizeof(void *));
	CALL(wasmer, "wasm_instance_exports", exports_call *)(other, &others);
	first = instance_entered(exports.data[1]);
	second = instance_entered(others.data[1]);
	assert_int_not_equal(first, 0);
	assert_int_not_equal(second, 0);
	assert_int_not_equal(first, second);
	assert_int_equal(runtime_wasm_instance_behind(other), second);
	assert_int_equal(
		instance_entered(CALL(wasmer, "wasi_get_start_function", one_call *)(other)),
		second);
	CALL(wasmer, "wasm_extern_vec_delete", one_call *)(&exports);
	assert_int_equal(instance_entered(exports.data[1]), 0);
	assert_int_equal(instance_entered(others.data[1]), second);
	CALL(wasmer, "wasm_func_delete", one_call *)(others.data[1]);
	assert_int_equal(instance_entered(others.data[1]), 0);
	CALL(wasmer, "wasm_store_delete", one_call *)(&store);
	assert_int_not_equal(record.store_forgotten, 0);
	free(exports.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(modules_are_announced_and_followed, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(instances_by_their_contexts, set_up, close_engines),
		cmocka_unit_test_setup_teardown(instances_by_their_exports, set_up, close_engines),
		cmocka_unit_test_setup_teardown(instances_are_found_by_their_handles, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(a_store_stands_for_its_engine, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(failed_instances_make_nothing, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(other_engines_are_passed_on, set_up, close_engines),
		cmocka_unit_test_setup_teardown(another_engine, set_up, close_engines),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
