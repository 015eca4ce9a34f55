/* SPDX-License-Identifier: MIT */
/*
 * wamr_test.c - modules, instances and calls of a fake WAMR; its own calls of what we wrap count
 * once.
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

extern char wasm_runtime_load[];
const void *const pulled[] = { wasm_runtime_load };

/* An instance's first word is its module, an environment's its instance. */
static const char fake_wamr[] =
	"typedef void *p; void *fake_made; int (*fake_inner)(p, p, unsigned, unsigned *);\n"
	"void *(*fake_load)(p, unsigned, p, p, unsigned);\n"
	"void *(*fake_instantiate)(p, p, p, unsigned);\n"
	"int wasm_runtime_full_init(p a) { return 1; }\n"
	"void wasm_runtime_get_version(unsigned *a, unsigned *b, unsigned *c)\n"
	"{ *a = 2; *b = 4; *c = 3; }\n"
	"p wasm_runtime_get_module_inst(p env) { return *(p *)env; }\n"
	"p wasm_runtime_get_module(p instance) { return *(p *)instance; }\n"
	"p wasm_runtime_load_ex(p w, unsigned n, p a, p e, unsigned s)\n"
	"{ body(); return fake_made; }\n"
	"p wasm_runtime_load(p w, unsigned n, p e, unsigned s)\n"
	"{ return fake_load ? fake_load(w, n, 0, e, s) : fake_made; }\n"
	"void wasm_runtime_unload(p m) { body(); }\n"
	"p wasm_runtime_instantiate(p m, unsigned s, unsigned h, p e, unsigned n)\n"
	"{ body(); return fake_made; }\n"
	"p wasm_runtime_instantiate_ex2(p m, p a, p e, unsigned n) { body(); return fake_made; }\n"
	"p wasm_runtime_instantiate_ex(p m, p a, p e, unsigned n)\n"
	"{ return fake_instantiate(m, a, e, n); }\n"
	"void wasm_runtime_deinstantiate(p i) { body(); }\n"
	"int wasm_runtime_call_wasm(p env, p f, unsigned n, unsigned *v)\n"
	"{ body(); return n == 7; }\n"
	"int wasm_runtime_call_wasm_a(p env, p f, unsigned rn, p r, unsigned n, p v)\n"
	"{ return fake_inner(env, f, n, 0); }\n"
	"int wasm_runtime_call_indirect(p env, unsigned i, unsigned n, unsigned *v)\n"
	"{ body(); return n == 7; }\n"
	"int wasm_application_execute_main(p i, int n, char **v)\n"
	"{ return fake_inner(&i, 0, n, 0); }\n"
	"int wasm_application_execute_func(p i, char *name, int n, char **v)\n"
	"{ return n == 7; }\n";

typedef uintptr_t call(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static uint8_t wasm[] = "\0asm\1\0\0\0", aot[] = "\0aot\6\0\0\0";
static void *engine;
static uintptr_t module[2], instance[2], environment;

static uintptr_t ask(const char *name, uintptr_t a, uintptr_t b, uintptr_t c)
{
	return ((call *)dlsym(engine, name))(a, b, c, 4, 7, 6);
}

static void set(const char *name, const void *value)
{
	*(const void **)dlsym(engine, name) = value;
}

static int open_engine(void **context)
{
	static const char *const parts[] = { fake_wamr, NULL };

	(void)context;
	record_reset();
	state.on = true;
	engine = fake_open("wamr.so", parts);
	if (engine == NULL)
		return -1;
	set("fake_made", module);
	set("fake_load", dlsym(engine, "wasm_runtime_load_ex"));
	set("fake_instantiate", dlsym(engine, "wasm_runtime_instantiate_ex2"));
	set("fake_inner", dlsym(engine, "wasm_runtime_call_wasm"));
	return 0;
}

static int close_engine(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine);
}

static void load(void)
{
	assert_int_equal(ask("wasm_runtime_load", (uintptr_t)wasm, sizeof(wasm), 0), module);
}

static void make(size_t i)
{
	set("fake_made", &instance[i]);
	instance[i] = (uintptr_t)module;
	assert_int_equal(ask("wasm_runtime_instantiate_ex", (uintptr_t)module, 0, 0), &instance[i]);
}

static void a_module_is_announced_once(void **context)
{
	(void)context;
	load();
	assert_int_equal(record.announced, 1);
	assert_true(record.event.is_interpreted);
	assert_string_equal(record.event.engine, "wamr");
	assert_string_equal(record.event.version, "2.4.3");
	assert_ptr_equal(record.event.handle, module);
	assert_int_equal(record.bytes_begun, 1);
	assert_int_equal(record.bytes_ended, 1);
	ask("wasm_runtime_unload", (uintptr_t)module, 0, 0);
	assert_ptr_equal(record.forgotten, module);
}

static void a_load_that_fails_gives_the_bytes_back(void **context)
{
	(void)context;
	set("fake_made", NULL);
	assert_int_equal(ask("wasm_runtime_load", (uintptr_t)wasm, sizeof(wasm), 0), 0);
	assert_int_equal(record.announced, 0);
	assert_int_equal(record.bytes_freed, 1);
	set("fake_made", module);
	load();
	assert_int_equal(record.announced, 1);
}

/* Nothing in the module's memory is a list of its functions' addresses. */
static void compiled_code_that_is_not_found_is_no_module(void **context)
{
	(void)context;
	ask("wasm_runtime_load", (uintptr_t)aot, sizeof(aot) - 1, 0);
	assert_int_equal(record.announced, 0);
	assert_int_equal(record.bytes_begun, 0);
}

static void instances_are_told_apart(void **context)
{
	(void)context;
	load();
	make(0);
	make(1);
	assert_int_equal(record.instances, 2);
	assert_int_equal(record.loading_of[1], 1);
	environment = (uintptr_t)&instance[1];
	assert_int_equal(ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7), 1);
	assert_int_equal(record.instance, 2);
	assert_int_equal(ask("wasm_application_execute_func", (uintptr_t)&instance[0], 0, 6), 0);
	assert_int_equal(record.instance, 1);
	assert_int_equal(ask("wasm_runtime_call_indirect", (uintptr_t)&environment, 0, 7), 1);
	assert_int_equal(record.instance, 2);
	assert_int_equal(record.entered, 3);
	assert_int_equal(record.left, 3);
	ask("wasm_runtime_deinstantiate", (uintptr_t)&instance[0], 0, 0);
	assert_int_not_equal(record.store_forgotten, 0);
	make(0); /* at the same address */
	assert_int_equal(record.instances, 3);
}

static void what_calls_what_we_wrap_counts_once(void **context)
{
	(void)context;
	load();
	make(0);
	environment = (uintptr_t)&instance[0];
	ask("wasm_runtime_call_wasm_a", (uintptr_t)&environment, 0, 0);
	ask("wasm_application_execute_main", (uintptr_t)&instance[0], 0, 0);
	assert_int_equal(record.entered, 2);
	assert_int_equal(record.left, 2);
	assert_int_equal(record.deepest, 1);
	/* and what comes after is its own */
	ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7);
	assert_int_equal(record.entered, 3);
}

static void call_again(void)
{
	if (record.depth < 3)
		ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7);
}

static void a_guest_that_calls_the_host_that_calls_it_is_entered_twice(void **context)
{
	(void)context;
	load();
	make(0);
	environment = (uintptr_t)&instance[0];
	set("fake_body", (const void *)call_again);
	ask("wasm_runtime_call_wasm_a", (uintptr_t)&environment, 0, 0);
	set("fake_body", NULL);
	assert_int_equal(record.deepest, 3);
	assert_int_equal(record.entered, 3);
	assert_int_equal(record.left, 3);
	assert_int_equal(record.depth, 0);
}

/* A thread of the guest has an instance that the engine made for itself. */
static void an_instance_that_nobody_saw_made_is_its_modules(void **context)
{
	static uintptr_t own;

	(void)context;
	load();
	own = (uintptr_t)module;
	environment = (uintptr_t)&own;
	ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7);
	assert_int_equal(record.instance, 1);
	assert_int_equal(record.loading_of[1], 1);
	own = (uintptr_t)&module[1]; /* another module's, at the same address */
	ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7);
	assert_int_equal(record.instance, 0);
}

static void errno_stays(void **context)
{
	(void)context;
	errno = 77;
	load();
	make(0);
	environment = (uintptr_t)&instance[0];
	ask("wasm_runtime_call_wasm", (uintptr_t)&environment, 0, 7);
	ask("wasm_runtime_deinstantiate", (uintptr_t)&instance[0], 0, 0);
	ask("wasm_runtime_unload", (uintptr_t)module, 0, 0);
	assert_int_equal(errno, 77);
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, open_engine, close_engine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ENGINE(a_module_is_announced_once),
		WITH_ENGINE(a_load_that_fails_gives_the_bytes_back),
		WITH_ENGINE(compiled_code_that_is_not_found_is_no_module),
		WITH_ENGINE(instances_are_told_apart),
		WITH_ENGINE(what_calls_what_we_wrap_counts_once),
		WITH_ENGINE(a_guest_that_calls_the_host_that_calls_it_is_entered_twice),
		WITH_ENGINE(an_instance_that_nobody_saw_made_is_its_modules),
		WITH_ENGINE(errno_stays),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
