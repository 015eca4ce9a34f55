/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_func_test.c - host functions on a fake engine: named by what they are given for, and,
 * if that is asked for, counted call by call without the host noticing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "preload/base/config.h"
#include "preload/hook/hook.h"
#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

extern char wasmtime_func_new[], wasmtime_instance_new[], wasm_instance_new[],
	wasmtime_linker_define_func[], wasmtime_component_linker_instance_add_func[];
const void *const pulled[] = { wasmtime_func_new, wasmtime_instance_new, wasm_instance_new,
			       wasmtime_linker_define_func,
			       wasmtime_component_linker_instance_add_func };

/* What the engine was given last, the modules' imports, and functions of wasm.h. */
static const char fake_functions[] =
	"struct given { void *callback, *data; void (*finalizer)(void *); } fake_given;\n"
	"int fake_refuse; static uint64_t made_functions;\n"
	"static void *give(void *cb, void *d, void *f) { fake_given = (struct given){ cb, d, f };\n"
	"	if (fake_refuse == 2 && f) fake_given.finalizer(d); return fake_refuse ? modules : "
	"0; }\n"
	"void wasmtime_func_new(context *c, void *t, void *cb, void *d, void *f, pair *o) {\n"
	"	give(cb, d, f); o->store = c->store_id; o->word = 500 + made_functions++; }\n"
	"void wasmtime_func_new_unchecked(context *c, void *t, void *cb, void *d, void *f, pair "
	"*o) { wasmtime_func_new(c, t, cb, d, f, o); }\n"
	"void *wasmtime_linker_define_func(void *l, char *m, size_t z, char *n, size_t s, void *t, "
	"void *cb, void *d, void *f) { return give(cb, d, f); }\n"
	"void *wasmtime_linker_define_func_unchecked(void *l, char *m, size_t z, char *n, size_t "
	"s, void *t, void *cb, void *d, void *f) { return give(cb, d, f); }\n"
	"void *wasmtime_linker_define_async_func(void *l, char *m, size_t z, char *n, size_t s, "
	"void *t, void *cb, void *d, void *f) { return give(cb, d, f); }\n"
	"void *wasmtime_component_linker_instance_add_instance(void *p, char *n, size_t s, void "
	"**o) { *o = &modules[made++ % 64]; return 0; }\n"
	"void wasmtime_component_linker_instance_delete(void *p) { body(); }\n"
	"void *wasmtime_component_linker_instance_add_func(void *i, char *n, size_t s, void *cb, "
	"void *d, void *f) { return give(cb, d, f); }\n"
	"void *wasmtime_component_linker_instance_add_func_async(void *i, char *n, size_t s, void "
	"*cb, void *d, void *f) { return give(cb, d, f); }\n"
	"struct text { size_t size; char *data; }; struct import { struct text module, name; };\n"
	"struct imports { size_t size; struct import **data; };\n"
	"static struct import imports[3] = { { { 3, \"env\" }, { 1, \"a\" } }, { { 3, \"env\" }, { "
	"3, \"mem\" } }, { { 3, \"env\" }, { 1, \"b\" } } };\n"
	"int fake_lists, fake_deleted;\n"
	"void wasmtime_module_imports(void *m, struct imports *v) { fake_lists++; v->size = 3;\n"
	"	v->data = malloc(3 * sizeof(void *)); for (int i = 0; i < 3; i++) v->data[i] = "
	"&imports[i]; }\n"
	"void wasm_module_imports(void *m, struct imports *v) { wasmtime_module_imports(m, v); }\n"
	"void *wasm_importtype_module(struct import *i) { return &i->module; }\n"
	"void *wasm_importtype_name(struct import *i) { return &i->name; }\n"
	"void wasm_importtype_vec_delete(struct imports *v) { fake_deleted++; free(v->data); }\n"
	"void *wasm_func_new_with_env(context *c, void *t, void *cb, void *d, void *f) {\n"
	"	struct ext *x = &exts[made_exts++ % 32]; give(cb, d, f); x->kind = 0; x->store = "
	"c->store_id;\n"
	"	x->word = 900 + made_functions++; return fake_refuse ? 0 : x; }\n"
	"void *wasm_func_new(context *c, void *t, void *cb) { return wasm_func_new_with_env(c, t, "
	"cb, 0, 0); }\n";

struct given {
	void (*callback)(void);
	void *data;
	void (*finalizer)(void *);
};

static struct config config;
static void *engine;
static struct given *given;
static int *refuse;

#define CALL(name, type) ((type)dlsym(engine, name))

typedef void func_new(struct fake_context *, const void *, void (*)(void), void *, void (*)(void *),
		      wasmtime_func_t *);
typedef void *define_func(void *, const char *, size_t, const char *, size_t, const void *,
			  void (*)(void), void *, void (*)(void *));
typedef void *add_func(void *, const char *, size_t, void (*)(void), void *, void (*)(void *));
typedef void *add_instance(void *, const char *, size_t, void **);
typedef void *instance_new(struct fake_context *, const void *, const void *, size_t,
			   wasmtime_instance_t *, void **);
typedef wasm_func_t *wasm_new(struct fake_context *, const void *, void (*)(void));
typedef wasm_func_t *wasm_new_env(struct fake_context *, const void *, void (*)(void), void *,
				  void (*)(void *));
typedef void *wasm_instance(struct fake_context *, const void *, const wasm_extern_vec_t *,
			    void **);

/* ---- what the host gives --------------------------------------------------------------------- */

static int calls, ends;

static void *on_call(void *data, void *caller, const void *arguments, size_t count, void *results,
		     size_t result_count)
{
	assert_ptr_equal(data, &calls);
	assert_ptr_equal(caller, &record);
	assert_ptr_equal(arguments, &config);
	assert_int_equal(count, 3);
	assert_ptr_equal(results, &engine);
	assert_int_equal(result_count, 4);
	calls++;
	errno = 55;
	return &given;
}

static void *on_bare_call(const void *arguments, void *results)
{
	assert_ptr_equal(arguments, &config);
	assert_ptr_equal(results, &engine);
	calls++;
	return &given;
}

static void on_end(void *data)
{
	assert_ptr_equal(data, &calls);
	ends++;
}

/* As the engine calls what it was given. */
static void *call_given(void)
{
	return ((__typeof__(&on_call))given->callback)(given->data, &record, &config, 3, &engine,
						       4);
}

/* ---- what was counted ------------------------------------------------------------------------ */

static uint64_t counted;
static char counted_name[CALLBACKS_NAME];

static void count(void *context, const struct hostcalls_sum *sum)
{
	(void)context;
	counted += sum->count;
	snprintf(counted_name, sizeof(counted_name), "%s", hostcalls_text(sum->name));
}

static void expect_counted(uint64_t expected, const char *name)
{
	counted = 0;
	counted_name[0] = '\0';
	hostcalls_collect(count, NULL);
	assert_int_equal(counted, expected);
	assert_string_equal(counted_name, name);
}

static int set_up(void **context)
{
	const char *const parts[] = { fake_modules, fake_instances, fake_wasm_h, fake_functions,
				      NULL };

	(void)context;
	state.on = true;
	config_set_current(&config);
	engine = fake_open("functions.so", parts);
	if (engine == NULL)
		return -1;
	given = dlsym(engine, "fake_given");
	refuse = dlsym(engine, "fake_refuse");
	return 0;
}

static int be_sampled(void **context)
{
	(void)context;
	record_reset();
	config.exact_hostcalls = false;
	calls = ends = *refuse = 0;
	return 0;
}

static int be_exact(void **context)
{
	be_sampled(context);
	config.exact_hostcalls = true;
	return 0;
}

static void expect_name(void (*callback)(void), const char *expected)
{
	char name[CALLBACKS_NAME];

	assert_true(callbacks_find((uintptr_t)callback, name));
	assert_string_equal(name, expected);
}

/* Addresses that no two tests share: names are for ever. */
static void (*address(int number))(void)
{
	return (void (*)(void))(uintptr_t)(0x1000 * (number + 1));
}

static void load_module(const void **module)
{
	typedef void *load_call(void *, const void *, size_t, void **);

	CALL("wasmtime_module_new", load_call *)(NULL, "12345678", 8, (void **)module);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Functions get the names of the imports at whose places they are given. */
static void test_by_position(void **context)
{
	struct fake_context store = { .store_id = 1 };
	struct {
		uint64_t kind, store, word, rest;
	} items[3] = { { 0 }, { .kind = 3 }, { 0 } };
	int *lists = dlsym(engine, "fake_lists"), *deleted = dlsym(engine, "fake_deleted");
	wasmtime_instance_t instance;
	wasmtime_func_t function;
	const void *module;

	(void)context;
	load_module(&module);
	for (int i = 0; i < 3; i += 2) {
		func_new *make = i == 0 ? CALL("wasmtime_func_new", func_new *)
					: CALL("wasmtime_func_new_unchecked", func_new *);

		make(&store, NULL, address(i), &calls, on_end, &function);
		assert_ptr_equal(given->callback, address(i));
		assert_ptr_equal(given->data, &calls);
		assert_ptr_equal(given->finalizer, on_end);
		items[i].store = function.store_id;
		items[i].word = function.function;
	}
	CALL("wasmtime_instance_new", instance_new *)(&store, module, items, 3, &instance, NULL);
	expect_name(address(0), "env.a");
	expect_name(address(2), "env.b");
	/* a second time there is nothing to ask */
	CALL("wasmtime_instance_new", instance_new *)(&store, module, items, 3, &instance, NULL);
	assert_int_equal(*lists, 1);
	assert_int_equal(*deleted, 1);
	/* the same function for another import: which one is meant cannot be told any more */
	items[2] = items[0];
	CALL("wasmtime_instance_new", instance_new *)(&store, module, items, 3, &instance, NULL);
	assert_false(callbacks_find((uintptr_t)address(0), (char[CALLBACKS_NAME]){ 0 }));
	assert_int_equal(*lists, 2);
}

static void test_wasm_h_by_position(void **context)
{
	struct fake_context store = { .store_id = 2 };
	wasm_func_t *functions[3];
	wasm_extern_vec_t imports = { 3, (wasm_extern_t **)functions };
	const void *module;

	(void)context;
	load_module(&module);
	functions[0] = CALL("wasm_func_new", wasm_new *)(&store, NULL, address(10));
	functions[1] = NULL;
	functions[2] = CALL("wasm_func_new_with_env", wasm_new_env *)(&store, NULL, address(12),
								      &calls, on_end);
	CALL("wasm_instance_new", wasm_instance *)(&store, module, &imports, NULL);
	expect_name(address(10), "env.a");
	expect_name(address(12), "env.b");
}

/* Nothing is wrapped unless that was asked for. */
static void test_not_wrapped(void **context)
{
	(void)context;
	CALL("wasmtime_linker_define_func", define_func *)
	(NULL, "env", 3, "plain", 5, NULL, address(20), &calls, on_end);
	assert_ptr_equal(given->callback, address(20));
	assert_ptr_equal(given->data, &calls);
	expect_name(address(20), "env.plain");
	CALL("wasmtime_linker_define_async_func", define_func *)
	(NULL, "env", 3, "later", 5, NULL, address(21), &calls, on_end);
	assert_ptr_equal(given->callback, address(21));
	expect_name(address(21), "env.later");
}

/* Arguments, result, errno and finalizer are the host's own; the calls are counted. */
static void test_exact(void **context)
{
	static const char *const define[] = { "wasmtime_linker_define_func",
					      "wasmtime_linker_define_func_unchecked" };

	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(define); i++) {
		calls = ends = 0;
		CALL(define[i], define_func *)
		(NULL, "env", 3, i == 0 ? "one" : "two", 3, NULL, (void (*)(void))on_call, &calls,
		 on_end);
		assert_ptr_not_equal(given->callback, on_call);
		for (int n = 1; n <= 3; n++) {
			errno = 0;
			assert_ptr_equal(call_given(), &given);
			assert_int_equal(errno, 55);
			assert_int_equal(calls, n);
		}
		assert_int_equal(ends, 0);
		given->finalizer(given->data);
		assert_int_equal(ends, 1);
		expect_counted(3, i == 0 ? "env.one" : "env.two");
	}
}

static void test_exact_without_finalizer(void **context)
{
	(void)context;
	CALL("wasmtime_linker_define_func", define_func *)
	(NULL, "env", 3, "bare", 4, NULL, (void (*)(void))on_call, &calls, NULL);
	call_given();
	given->finalizer(given->data);
	expect_counted(1, "env.bare");
}

/* The engine refused the name, before or after it took the environment. */
static void test_refused(void **context)
{
	(void)context;
	for (*refuse = 1; *refuse <= 2; (*refuse)++) {
		ends = 0;
		assert_non_null(CALL("wasmtime_linker_define_func", define_func *)(
			NULL, "env", 3, "no", 2, NULL, (void (*)(void))on_call, &calls, on_end));
		assert_int_equal(ends, *refuse - 1);
	}
}

/* Made without a name, wrapped all the same, and named by what it is given for. */
static void test_exact_by_position(void **context)
{
	struct fake_context store = { .store_id = 3 };
	struct {
		uint64_t kind, store, word, rest;
	} item = { 0 };
	wasmtime_instance_t instance;
	wasmtime_func_t function;
	const void *module;

	(void)context;
	load_module(&module);
	CALL("wasmtime_func_new", func_new *)
	(&store, NULL, (void (*)(void))on_call, &calls, on_end, &function);
	item.store = function.store_id;
	item.word = function.function;
	call_given();
	expect_counted(1, "(host function)");
	CALL("wasmtime_instance_new", instance_new *)(&store, module, &item, 1, &instance, NULL);
	call_given();
	expect_counted(1, "env.a");
	given->finalizer(given->data);
	assert_int_equal(ends, 1);
}

/* A callback of wasm.h without an environment. */
static void test_exact_bare(void **context)
{
	struct fake_context store = { .store_id = 4 };

	(void)context;
	assert_non_null(
		CALL("wasm_func_new", wasm_new *)(&store, NULL, (void (*)(void))on_bare_call));
	assert_ptr_not_equal(given->callback, on_bare_call);
	assert_ptr_equal(((void *(*)(void *, const void *, void *))given->callback)(
				 given->data, &config, &engine),
			 &given);
	assert_int_equal(calls, 1);
	given->finalizer(given->data);
	expect_counted(1, "(host function)");
	*refuse = 1;
	assert_null(CALL("wasm_func_new", wasm_new *)(&store, NULL, (void (*)(void))on_bare_call));
}

static void test_component(void **context)
{
	void *instance;

	(void)context;
	CALL("wasmtime_component_linker_instance_add_instance", add_instance *)
	(NULL, "wasi:io/streams", 15, &instance);
	CALL("wasmtime_component_linker_instance_add_func", add_func *)
	(instance, "read", 4, (void (*)(void))on_call, &calls, on_end);
	call_given();
	given->finalizer(given->data);
	assert_int_equal(ends, 1);
	expect_counted(1, "wasi:io/streams.read");
	CALL("wasmtime_component_linker_instance_delete", void (*)(void *))(instance);
	/* not an instance that was named: the root */
	CALL("wasmtime_component_linker_instance_add_func", add_func *)
	(instance, "top", 3, (void (*)(void))on_call, &calls, on_end);
	call_given();
	given->finalizer(given->data);
	expect_counted(1, "top");
}

/* ---- asynchronous ---------------------------------------------------------------------------- */

struct continuation {
	bool (*callback)(void *);
	void *data;
	void (*finalizer)(void *);
};

static int polls;

static bool on_poll(void *data)
{
	assert_ptr_equal(data, &calls);
	return ++polls == 3;
}

static void on_async_call(void *data, void *caller, const void *arguments, size_t argument_count,
			  void *results, size_t result_count, void **trap,
			  struct continuation *continuation)
{
	(void)caller, (void)arguments, (void)argument_count, (void)results, (void)result_count;
	assert_ptr_equal(data, &calls);
	assert_null(trap);
	*continuation = (struct continuation){ on_poll, &calls, on_end };
}

static void start_async(struct continuation *continuation)
{
	polls = ends = 0;
	((__typeof__(&on_async_call))given->callback)(given->data, NULL, NULL, 0, NULL, 0, NULL,
						      continuation);
}

/* The call lasts until its continuation is done, or given up. */
static void test_async(void **context)
{
	struct continuation continuation;

	(void)context;
	CALL("wasmtime_linker_define_async_func", define_func *)
	(NULL, "env", 3, "wait", 4, NULL, (void (*)(void))on_async_call, &calls, NULL);
	start_async(&continuation);
	assert_false(continuation.callback(continuation.data));
	assert_false(continuation.callback(continuation.data));
	expect_counted(0, "");
	assert_true(continuation.callback(continuation.data));
	expect_counted(1, "env.wait");
	continuation.finalizer(continuation.data);
	assert_int_equal(ends, 1);
	expect_counted(0, "");
	start_async(&continuation);
	assert_false(continuation.callback(continuation.data));
	continuation.finalizer(continuation.data);
	assert_int_equal(ends, 1);
	expect_counted(1, "env.wait");
	given->finalizer(given->data);
}

/* More at once than there is room for: those are the host's own. */
static void test_many_async(void **context)
{
	static struct continuation many[1100];
	uint64_t plain = 0;

	(void)context;
	CALL("wasmtime_linker_define_async_func", define_func *)
	(NULL, "env", 3, "wait", 4, NULL, (void (*)(void))on_async_call, &calls, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		start_async(&many[i]);
		plain += many[i].data == &calls;
	}
	assert_true(plain > 0);
	expect_counted(plain, "env.wait");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i].finalizer(many[i].data);
	expect_counted(ARRAY_SIZE(many) - plain, "env.wait");
	given->finalizer(given->data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_by_position, be_sampled),
		cmocka_unit_test_setup(test_wasm_h_by_position, be_sampled),
		cmocka_unit_test_setup(test_not_wrapped, be_sampled),
		cmocka_unit_test_setup(test_exact, be_exact),
		cmocka_unit_test_setup(test_exact_without_finalizer, be_exact),
		cmocka_unit_test_setup(test_refused, be_exact),
		cmocka_unit_test_setup(test_exact_by_position, be_exact),
		cmocka_unit_test_setup(test_exact_bare, be_exact),
		cmocka_unit_test_setup(test_component, be_exact),
		cmocka_unit_test_setup(test_async, be_exact),
		cmocka_unit_test_setup(test_many_async, be_exact),
	};

	return cmocka_run_group_tests(tests, set_up, fake_remove);
}
