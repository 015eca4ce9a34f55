/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_async_test.c - futures of a fake engine: what they were made for holds at each poll.
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

extern char wasmtime_module_new[], wasmtime_instance_new[], wasmtime_call_future_poll[];
const void *const pulled[] = { wasmtime_module_new, wasmtime_instance_new,
			       wasmtime_call_future_poll };

static void *engine;

#define CALL(name, type) ((type)dlsym(engine, name))

typedef void *load_call(void *, const void *, size_t, void **);
typedef void *call_async(struct fake_context *, wasmtime_func_t *, void *, size_t, void *, size_t,
			 void **, void **);
typedef void *link_async(void *, struct fake_context *, const void *, wasmtime_instance_t *,
			 void **, void **);
typedef void *pre_async(void *, struct fake_context *, wasmtime_instance_t *, void **, void **);
typedef void *component_async(void *, struct fake_context *, const void *,
			      wasmtime_component_instance_t *, void **);
typedef void *component_call(wasmtime_component_func_t *, struct fake_context *, void *, size_t,
			     void *, size_t, void **);
typedef bool poll_call(void *);
typedef void delete_call(void *);

static void *trap, *error, *module;

static int set_up(void **context)
{
	const char *const parts[] = { fake_modules, fake_instances, fake_futures, fake_components,
				      NULL };

	(void)context;
	record_reset();
	state.on = true;
	trap = error = NULL;
	engine = fake_open("async.so", parts);
	if (engine == NULL)
		return -1;
	CALL("wasmtime_module_new", load_call *)(NULL, "\0asm\1\0\0\0", 8, &module);
	record.text_start = (uintptr_t)dlsym(engine, "fake_image");
	record.text_end = record.text_start + 4096;
	return 0;
}

static int close_engine(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine);
}

static bool poll(void *future)
{
	int entered = record.entered;
	bool is_ready = CALL("wasmtime_call_future_poll", poll_call *)(future);

	assert_int_equal(record.entered, entered + 1);
	assert_int_equal(record.left, record.entered);
	assert_int_equal(record.flags, ENTRY_FIBER);
	return is_ready;
}

static void drop(void *future)
{
	CALL("wasmtime_call_future_delete", delete_call *)(future);
}

static void instantiation_is_learned_when_ready(void **context)
{
	struct fake_context store = { .store_id = 4 };
	wasmtime_instance_t instance;
	void *future = CALL("wasmtime_linker_instantiate_async",
			    link_async *)(NULL, &store, module, &instance, &trap, &error);

	(void)context;
	assert_int_equal(record.entered, 0);
	assert_false(poll(future));
	assert_int_equal(record.instances, 0);
	assert_int_equal(record.context, &store);
	assert_true(poll(future));
	assert_int_equal(record.instances, 1);
	assert_int_equal(record.loading_of[1], 1);
	drop(future);
	load_alias(&store, module); /* stands for a pre-instance */
	future = CALL("wasmtime_instance_pre_instantiate_async",
		      pre_async *)(&store, &store, &instance, &trap, &error);
	while (!poll(future))
		continue;
	assert_int_equal(record.instances, 2);
	drop(future);
}

static void failed_instantiation_is_not_learned(void **context)
{
	struct fake_context store = { .store_id = 4, .traps = true };
	wasmtime_instance_t instance;
	void *future;

	(void)context;
	for (int i = 0; i < 2; i++) {
		future = CALL("wasmtime_linker_instantiate_async",
			      link_async *)(NULL, &store, module, &instance, &trap, &error);
		while (!poll(future))
			continue;
		drop(future);
		assert_true(i == 0 ? trap != NULL : error != NULL);
		store = (struct fake_context){ .store_id = 4, .fails = true };
		trap = NULL;
	}
	assert_int_equal(record.instances, 0);
}

static void calls_enter_their_instance(void **context)
{
	struct fake_context store = { .store_id = 4 };
	uint32_t vmctx[2][8] = { { VMCTX_CORE }, { VMCTX_CORE } };
	struct vm_func_ref references[2] = { { .vmctx = vmctx[0] }, { .vmctx = vmctx[1] } };
	void *futures[2];

	(void)context;
	for (int i = 0; i < 2; i++) {
		wasmtime_func_t function = { 4, (uintptr_t)&references[i] };

		futures[i] = CALL("wasmtime_func_call_async",
				  call_async *)(&store, &function, NULL, 0, NULL, 0, &trap, &error);
	}
	assert_false(poll(futures[1]));
	assert_int_equal(record.instance, 2);
	assert_false(poll(futures[0]));
	assert_int_equal(record.instance, 1);
	assert_true(poll(futures[1]));
	assert_int_equal(record.instance, 2);
	drop(futures[1]);
	/* Forgotten: the address alone says nothing. */
	drop(futures[0]);
	futures[0] = calloc(1, 64);
	poll(futures[0]);
	assert_int_equal(record.instance, 0);
	free(futures[0]);
}

static void components_are_learned_and_entered(void **context)
{
	struct fake_context store = { .store_id = 6 };
	wasmtime_component_instance_t instance = { 0 };
	wasmtime_component_func_t function = { .store_id = 6, .instance = 0 };
	void *future = CALL("wasmtime_component_linker_instantiate_async",
			    component_async *)(NULL, &store, module, &instance, &error);

	(void)context;
	while (!poll(future))
		continue;
	assert_int_equal(record.instances, 1);
	assert_int_equal(record.loading_of[1], 1);
	drop(future);
	future = CALL("wasmtime_component_func_call_async",
		      component_call *)(&function, &store, NULL, 0, NULL, 0, &error);
	poll(future);
	assert_int_equal(record.instance, 1);
	drop(future);
}

/* More futures than we keep: they still run, of an unknown instance. */
static void too_many_futures_still_run(void **context)
{
	struct fake_context store = { .store_id = 4 };
	uint32_t vmctx[8] = { VMCTX_CORE };
	struct vm_func_ref reference = { .vmctx = vmctx };
	wasmtime_func_t function = { 4, (uintptr_t)&reference };
	enum { MANY = 6000 };
	void **futures = calloc(MANY, sizeof(*futures));
	int known = 0;

	(void)context;
	for (int i = 0; i < MANY; i++)
		futures[i] = CALL("wasmtime_func_call_async",
				  call_async *)(&store, &function, NULL, 0, NULL, 0, &trap, &error);
	for (int i = 0; i < MANY; i++) {
		poll(futures[i]);
		known += record.instance == 1;
		drop(futures[i]);
	}
	assert_in_range(known, 3000, 4096);
	free(futures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(instantiation_is_learned_when_ready, set_up,
						close_engine),
		cmocka_unit_test_setup_teardown(failed_instantiation_is_not_learned, set_up,
						close_engine),
		cmocka_unit_test_setup_teardown(calls_enter_their_instance, set_up, close_engine),
		cmocka_unit_test_setup_teardown(components_are_learned_and_entered, set_up,
						close_engine),
		cmocka_unit_test_setup_teardown(too_many_futures_still_run, set_up, close_engine),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
