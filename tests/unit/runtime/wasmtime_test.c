/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_test.c - modules, instances and calls of Wasmtime's C API on a fake engine: what the
 * host asked for happens once and unchanged, and load/ hears of it.
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

/* Their addresses bring the wrappers' objects out of the archive. */
extern char wasmtime_module_new[], wasmtime_instance_new[], wasmtime_func_call[];
const void *const pulled[] = { wasmtime_module_new, wasmtime_instance_new, wasmtime_func_call };

static void *engine, *other_engine;

#define CALL(handle, name, type) ((type)dlsym(handle, name))
#define VARIABLE(handle, name, type) (*(type *)dlsym(handle, name))

typedef void *load_call(void *, const void *, size_t, void **);
typedef void *file_call(void *, const char *, void **);
typedef void body_call(void);
typedef void *one_call(const void *);
typedef void *pre_call(void *, const void *, void **);
typedef void *new_call(struct fake_context *, const void *, void *, size_t, wasmtime_instance_t *,
		       void **);
typedef void *link_call(void *, struct fake_context *, const void *, wasmtime_instance_t *,
			void **);
typedef void *pre_instantiate(void *, struct fake_context *, wasmtime_instance_t *, void **);
typedef bool export_call(struct fake_context *, wasmtime_instance_t *, const char *, size_t,
			 wasmtime_extern_t *);
typedef void *unchecked_call(struct fake_context *, wasmtime_func_t *, void *, size_t, void **);
typedef void *func_call(struct fake_context *, wasmtime_func_t *, void *, size_t, void *, size_t,
			void **);

static int set_up(void **context)
{
	const char *const parts[] = { fake_modules, fake_instances, NULL };

	(void)context;
	record_reset();
	state.on = true;
	engine = fake_open("one.so", parts);
	other_engine = fake_open("two.so", parts);
	return engine != NULL && other_engine != NULL ? 0 : -1;
}

static int close_engines(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine) | dlclose(other_engine);
}

static void *load(void *handle, const char *name)
{
	void *module = NULL;

	assert_null(CALL(handle, name, load_call *)(NULL, "\0asm\1\0\0\0", 8, &module));
	assert_non_null(module);
	record.text_start = (uintptr_t)dlsym(handle, "fake_image");
	record.text_end = record.text_start + 4096;
	return module;
}

static void loads_are_announced(void **context)
{
	void *module, *file = NULL;

	(void)context;
	errno = 3;
	module = load(engine, "wasmtime_module_new");
	assert_int_equal(errno, 3);
	assert_int_equal(record.announced, 1);
	assert_ptr_equal(record.event.handle, module);
	assert_string_equal(record.event.engine, "wasmtime");
	assert_int_equal(record.event.image, dlsym(engine, "fake_image"));
	assert_int_equal(record.bytes_begun, 1);
	assert_int_equal(record.bytes_ended, 1);
	assert_int_equal(record.bytes_freed, 0);
	load(engine, "wasmtime_module_deserialize");
	assert_null(record.event.bytes);
	assert_null(
		CALL(engine, "wasmtime_module_deserialize_file", file_call *)(NULL, "f", &file));
	assert_ptr_equal(record.event.handle, file);
	assert_int_equal(record.announced, 3);
	assert_int_equal(record.bytes_begun, 1);
	assert_int_equal(VARIABLE(engine, "fake_calls", int), 3);
}

static void failed_loads_leave_nothing(void **context)
{
	void *module = NULL;

	(void)context;
	assert_non_null(CALL(engine, "wasmtime_module_new", load_call *)(NULL, "x", 1, &module));
	assert_int_equal(record.announced, 0);
	assert_int_equal(record.bytes_begun, 1);
	assert_int_equal(record.bytes_ended, 1);
	assert_int_equal(record.bytes_freed, 1);
}

static void turn_off(void)
{
	state.on = false;
}

static void off_means_passing_on(void **context)
{
	struct fake_context store = { .store_id = 5 };
	wasmtime_instance_t instance;
	void *trap = NULL;

	(void)context;
	state.on = false;
	load(engine, "wasmtime_module_new");
	assert_null(CALL(engine, "wasmtime_instance_new", new_call *)(&store, NULL, NULL, 0,
								      &instance, &trap));
	assert_int_equal(VARIABLE(engine, "fake_calls", int), 2);
	assert_int_equal(record.bytes_begun + record.announced + record.entered + record.instances,
			 0);
	/* Off in the middle of a call: what was entered is left. */
	state.on = true;
	VARIABLE(engine, "fake_body", body_call *) = turn_off;
	assert_null(CALL(engine, "wasmtime_instance_new", new_call *)(&store, NULL, NULL, 0,
								      &instance, &trap));
	assert_int_equal(record.entered, 1);
	assert_int_equal(record.left, 1);
}

static void handles_are_followed(void **context)
{
	void *module = load(engine, "wasmtime_module_new"), *pre = NULL, *clone, *again;

	(void)context;
	clone = CALL(engine, "wasmtime_module_clone", one_call *)(module);
	assert_int_equal(load_of_handle(clone), 1);
	assert_null(
		CALL(engine, "wasmtime_linker_instantiate_pre", pre_call *)(NULL, module, &pre));
	assert_int_equal(load_of_handle(pre), 1);
	CALL(engine, "wasmtime_module_delete", one_call *)(module);
	assert_ptr_equal(record.forgotten, module);
	assert_int_equal(load_of_handle(module), 0);
	again = CALL(engine, "wasmtime_instance_pre_module", one_call *)(pre);
	assert_int_equal(load_of_handle(again), 1);
	CALL(engine, "wasmtime_instance_pre_delete", one_call *)(pre);
	assert_ptr_equal(record.forgotten, pre);
	CALL(engine, "wasmtime_module_delete", one_call *)(NULL);
	assert_ptr_equal(record.forgotten, pre);
}

static wasmtime_func_t function_of(struct fake_context *store, wasmtime_instance_t *instance)
{
	wasmtime_extern_t item = { 0 };

	assert_true(CALL(engine, "wasmtime_instance_export_get", export_call *)(store, instance,
										"f", 1, &item));
	return item.of.func;
}

/* Calls FUNCTION and returns the instance that was entered. */
static uint32_t call(struct fake_context *store, wasmtime_func_t function)
{
	int entered = record.entered, calls = VARIABLE(engine, "fake_calls", int);
	void *trap = NULL;

	assert_null(CALL(engine, "wasmtime_func_call", func_call *)(store, &function, NULL, 3, NULL,
								    4, &trap));
	assert_int_equal(VARIABLE(engine, "fake_calls", int), calls + 1);
	assert_int_equal(record.entered, entered + 1);
	assert_int_equal(record.left, record.entered);
	assert_int_equal(record.context, store);
	assert_int_equal(record.flags, 0);
	return record.instance;
}

static void make(struct fake_context *store, const void *module, wasmtime_instance_t *instance)
{
	void *trap = NULL;

	assert_null(CALL(engine, "wasmtime_instance_new", new_call *)(store, module, NULL, 0,
								      instance, &trap));
}

static void instances_are_told_apart(const char *version)
{
	struct fake_context stores[2] = { { .store_id = 7 }, { .store_id = 8 } };
	wasmtime_instance_t instances[3];
	wasmtime_func_t functions[3];
	void *module, *trap = NULL, *pre = NULL;

	record.version = version;
	VARIABLE(engine, "fake_old", bool) = atoi(version) < 34;
	module = load(engine, "wasmtime_module_new");
	make(&stores[0], module, &instances[0]);
	assert_null(CALL(engine, "wasmtime_linker_instantiate",
			 link_call *)(NULL, &stores[0], module, &instances[1], &trap));
	CALL(engine, "wasmtime_linker_instantiate_pre", pre_call *)(NULL, module, &pre);
	assert_null(CALL(engine, "wasmtime_instance_pre_instantiate",
			 pre_instantiate *)(pre, &stores[1], &instances[2], &trap));
	assert_int_equal(record.instances, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct fake_context *store = &stores[i / 2];

		functions[i] = function_of(store, &instances[i]);
		assert_int_equal(call(store, functions[i]), i + 1);
		assert_int_equal(record.loading_of[i + 1], 1);
	}
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(call(&stores[i % 3 / 2], functions[i % 3]), i % 3 + 1);
	assert_int_equal(record.instances, 3);
	CALL(engine, "wasmtime_store_delete", one_call *)(&stores[1]);
	assert_int_equal(record.store_forgotten & 0xffff, 8);
}

static void instances_by_their_contexts(void **context)
{
	(void)context;
	instances_are_told_apart("50");
	assert_non_null(record.layout);
	assert_int_equal(record.layout->exit_fp, 48);
	assert_int_equal(record.layout->offset, -1);
}

static void instances_by_their_exports(void **context)
{
	(void)context;
	instances_are_told_apart("25.0.0");
	assert_int_equal(record.layout->exit_fp, 24);
	assert_false(record.layout->exit_fp_is_trampoline);
}

static void unknown_versions_have_no_layout(void **context)
{
	(void)context;
	instances_are_told_apart("51.2.3");
	assert_null(record.layout);
}

static void failed_instantiations_make_nothing(void **context)
{
	struct fake_context store = { .store_id = 3, .fails = true };
	void *module = load(engine, "wasmtime_module_new"), *trap = NULL;
	wasmtime_instance_t instance;
	new_call *new = CALL(engine, "wasmtime_instance_new", new_call *);

	(void)context;
	assert_non_null(new (&store, module, NULL, 0, &instance, &trap));
	store.fails = false;
	store.traps = true;
	assert_null(new (&store, module, NULL, 0, &instance, &trap));
	assert_non_null(trap);
	assert_int_equal(record.instances, 0);
	assert_int_equal(record.entered, 2); /* start functions ran */
	assert_int_equal(record.left, 2);
}

static void host_functions_belong_to_nobody(void **context)
{
	struct fake_context store = { .store_id = 3 };
	uint32_t vmctx = 0x46484341; /* "ACHF" */
	struct vm_func_ref reference = { .vmctx = &vmctx };

	(void)context;
	load(engine, "wasmtime_module_new");
	assert_int_equal(call(&store, (wasmtime_func_t){ 3, (uintptr_t)&reference }), 0);
	reference.vmctx = NULL;
	assert_int_equal(call(&store, (wasmtime_func_t){ 3, (uintptr_t)&reference }), 0);
	assert_int_equal(call(&store, (wasmtime_func_t){ 0, 0 }), 0);
}

static int nested;
static struct fake_context *nested_store;
static wasmtime_func_t nested_function;

static void call_again(void)
{
	void *trap = NULL;

	if (nested++ < 3)
		CALL(engine, "wasmtime_func_call_unchecked", unchecked_call *)
	(nested_store, &nested_function, NULL, 0, &trap);
}

/* Host, guest, host, guest: a stack of entries, the inner ones below the outer. */
static void calls_nest(void **context)
{
	struct fake_context store = { .store_id = 3 };
	void *module = load(engine, "wasmtime_module_new"), *trap = NULL;
	wasmtime_instance_t instance;

	(void)context;
	make(&store, module, &instance);
	nested_store = &store;
	nested_function = function_of(&store, &instance);
	nested = 0;
	VARIABLE(engine, "fake_body", body_call *) = call_again;
	CALL(engine, "wasmtime_func_call_unchecked", unchecked_call *)
	(&store, &nested_function, NULL, 0, &trap);
	assert_int_equal(record.deepest, 4);
	assert_int_equal(record.depth, 0);
	assert_true(record.stack_pointer < (uintptr_t)__builtin_frame_address(0));
}

/* Both count stores and instances from the same numbers. */
static void engines_are_told_apart(void **context)
{
	struct fake_context store = { .store_id = 1 };
	wasmtime_instance_t a, b;
	void *trap = NULL, *module;

	(void)context;
	record.version = "25.0.0";
	VARIABLE(engine, "fake_old", bool) = VARIABLE(other_engine, "fake_old", bool) = true;
	module = load(engine, "wasmtime_module_new");
	make(&store, module, &a);
	store.instances = 0;
	module = load(other_engine, "wasmtime_module_new");
	assert_null(CALL(other_engine, "wasmtime_instance_new", new_call *)(&store, module, NULL, 0,
									    &b, &trap));
	assert_int_equal(a.index, b.index);
	assert_int_equal(record.instances, 2);
	assert_int_equal(VARIABLE(engine, "fake_calls", int), 2);
	assert_int_equal(VARIABLE(other_engine, "fake_calls", int), 2);
}

/* The same file again, perhaps at the same address: its counters start again, and so do we. */
static void a_reloaded_engine_is_another(void **context)
{
	struct fake_context store = { .store_id = 1 };
	wasmtime_instance_t instance;
	void *module = load(engine, "wasmtime_module_new");

	make(&store, module, &instance);
	assert_int_equal(record.instances, 1);
	close_engines(context);
	set_up(context);
	store.instances = 0;
	module = load(engine, "wasmtime_module_new");
	record.instances = 7; /* as if the first's were still there */
	make(&store, module, &instance);
	assert_int_equal(record.instances, 8);
}

static void without_a_module_calls_still_tell(void **context)
{
	struct fake_context store = { .store_id = 9 };
	wasmtime_instance_t instance;

	(void)context;
	load(engine, "wasmtime_module_new"); /* tells the version */
	make(&store, "unknown module", &instance);
	assert_int_equal(record.instances, 0);
	assert_int_equal(call(&store, function_of(&store, &instance)), 1);
	assert_int_equal(record.loading_of[1], 0);
	CALL(engine, "wasmtime_store_delete", one_call *)(&store);
	assert_int_equal(record.store_forgotten & 0xffff, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(loads_are_announced, set_up, close_engines),
		cmocka_unit_test_setup_teardown(failed_loads_leave_nothing, set_up, close_engines),
		cmocka_unit_test_setup_teardown(off_means_passing_on, set_up, close_engines),
		cmocka_unit_test_setup_teardown(handles_are_followed, set_up, close_engines),
		cmocka_unit_test_setup_teardown(instances_by_their_contexts, set_up, close_engines),
		cmocka_unit_test_setup_teardown(instances_by_their_exports, set_up, close_engines),
		cmocka_unit_test_setup_teardown(unknown_versions_have_no_layout, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(failed_instantiations_make_nothing, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(host_functions_belong_to_nobody, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(calls_nest, set_up, close_engines),
		cmocka_unit_test_setup_teardown(engines_are_told_apart, set_up, close_engines),
		cmocka_unit_test_setup_teardown(a_reloaded_engine_is_another, set_up,
						close_engines),
		cmocka_unit_test_setup_teardown(without_a_module_calls_still_tell, set_up,
						close_engines),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
