/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_component_test.c - components of a fake engine: their image is what was registered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "preload/hook/hook.h"
#include "preload/runtime/register_frame.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

extern char wasmtime_component_new[];
const void *const pulled[] = { wasmtime_component_new };

static void *engine, *registry;

#define CALL(name, type) ((type)dlsym(engine, name))

typedef void *load_call(void *, const void *, size_t, void **);
typedef void *file_call(void *, const char *, void **);
typedef void *one_call(const void *);
typedef void *link_call(void *, struct fake_context *, const void *,
			wasmtime_component_instance_t *);
typedef void *func_call(wasmtime_component_func_t *, struct fake_context *, void *, size_t, void *,
			size_t);
typedef void *drop_call(struct fake_context *, void *);
typedef void register_call(const void *);

static int set_up(void **context)
{
	const char *const parts[] = { fake_modules, fake_components, NULL };
	const char *const frames[] = { "void __register_frame(const void *p) { fake_calls++; }\n",
				       NULL };

	(void)context;
	record_reset();
	state.on = true;
	engine = fake_open("component.so", parts);
	registry = fake_open("registry.so", frames);
	if (engine == NULL || registry == NULL)
		return -1;
	*(register_call **)dlsym(engine, "fake_register") =
		(register_call *)dlsym(registry, "__register_frame");
	return 0;
}

static int close_engine(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine) | dlclose(registry);
}

static void *load(void)
{
	void *component = NULL;

	assert_null(
		CALL("wasmtime_component_new", load_call *)(NULL, "\0asm\r\0\1\0", 8, &component));
	return component;
}

static void the_registered_image_is_the_components(void **context)
{
	void *component, *clone;

	(void)context;
	component = load();
	assert_int_equal(record.registrations, 1);
	assert_int_equal(record.announced, 1);
	assert_ptr_equal(record.event.handle, component);
	assert_int_equal(record.event.image, record.registered);
	assert_int_equal(record.bytes_begun, 1);
	clone = CALL("wasmtime_component_clone", one_call *)(component);
	assert_int_equal(load_of_handle(clone), 1);
	CALL("wasmtime_component_delete", one_call *)(component);
	assert_ptr_equal(record.forgotten, component);
}

/* Nothing registered by this call: the last image of the thread is another one's. */
static void without_registration_no_image_is_guessed(void **context)
{
	void *component = NULL;

	(void)context;
	load();
	*(register_call **)dlsym(engine, "fake_register") = NULL;
	load();
	assert_int_equal(record.announced, 1);
	assert_int_equal(record.bytes_begun, 2);
	assert_int_equal(record.bytes_ended, 2);
	assert_int_equal(record.bytes_freed, 1);
	assert_null(
		CALL("wasmtime_component_deserialize_file", file_call *)(NULL, "f", &component));
	assert_null(CALL("wasmtime_component_deserialize", load_call *)(NULL, "cw", 2, &component));
	assert_int_equal(record.announced, 1);
}

static void instances_are_known_by_their_number(void **context)
{
	struct fake_context store = { .store_id = 2 };
	wasmtime_component_instance_t instances[2] = { { 0 }, { 0 } };
	void *component = load();

	(void)context;
	for (uint32_t i = 0; i < 2; i++) {
		wasmtime_component_func_t function = { 0 };

		assert_null(CALL("wasmtime_component_linker_instantiate",
				 link_call *)(NULL, &store, component, &instances[i]));
		assert_int_equal(record.instances, i + 1);
		assert_int_equal(record.loading_of[i + 1], 1);
		function.store_id = instances[i].store_id;
		function.instance = instances[i].instance;
		CALL("wasmtime_component_func_call", func_call *)
		(&function, &store, NULL, 0, NULL, 0);
		assert_int_equal(record.instance, i + 1);
		assert_int_equal(record.context, &store);
	}
	CALL("wasmtime_component_resource_any_drop", drop_call *)(&store, NULL);
	assert_int_equal(record.instance, 0);
	assert_int_equal(record.entered, 5);
	assert_int_equal(record.left, 5);
	store.fails = true;
	assert_non_null(CALL("wasmtime_component_linker_instantiate",
			     link_call *)(NULL, &store, component, &instances[0]));
	assert_int_equal(record.instances, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_registered_image_is_the_components, set_up,
						close_engine),
		cmocka_unit_test_setup_teardown(without_registration_no_image_is_guessed, set_up,
						close_engine),
		cmocka_unit_test_setup_teardown(instances_are_known_by_their_number, set_up,
						close_engine),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
