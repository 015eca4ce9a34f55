/* SPDX-License-Identifier: MIT */
/*
 * wamr_native_test.c - host functions that a fake WAMR calls through our thunks get all arguments,
 * and give all results; meanwhile their caller is in the host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"
#include "tests/unit/runtime/fake_engine.h"
#include "tests/unit/runtime/load_record.h"

#include "preload/runtime/wamr_abi.h"

extern char wasm_runtime_register_natives[];
const void *const pulled[] = { wasm_runtime_register_natives };

static const char fake_wamr[] =
	"typedef void *p; p fake_list; unsigned fake_count, fake_taken; int fake_fails;\n"
	"struct frame { p i; unsigned m, f, o; p rest[4]; }; struct frame fake_stack[40];\n"
	"unsigned fake_depth;\n"
	"int wasm_runtime_full_init(p a) { return 1; }\n"
	"void wasm_runtime_get_version(unsigned *a, unsigned *b, unsigned *c)\n"
	"{ *a = 2; *b = 4; *c = 3; }\n"
	"int wasm_runtime_register_natives(p m, p list, unsigned n)\n"
	"{ fake_list = list; fake_count = n; return !fake_fails; }\n"
	"int wasm_runtime_register_natives_raw(p m, p list, unsigned n)\n"
	"{ fake_list = list; fake_count = n; return !fake_fails; }\n"
	"int wasm_runtime_unregister_natives(p m, p list)\n"
	"{ if (list != fake_list) return 0; fake_taken++; return 1; }\n"
	"unsigned wasm_copy_callstack(p env, struct frame *to, unsigned n, unsigned skip, char "
	"*e,\n"
	"	unsigned s) { unsigned i = 0; for (; i < n && i < fake_depth; i++)\n"
	"	to[i] = fake_stack[40 - fake_depth + i]; return i; }\n";

typedef bool registers(const char *module, struct wamr_native *natives, uint32_t count);

static void *engine;

static void *of_engine(const char *name)
{
	return dlsym(engine, name);
}

static int open_engine(void **context)
{
	static const char *const parts[] = { fake_wamr, NULL };

	(void)context;
	record_reset();
	record.is_interpreted = true;
	state.on = true;
	engine = fake_open("wamr_native.so", parts);
	return engine != NULL ? 0 : -1;
}

static int close_engine(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(engine);
}

/* What the engine was given for NATIVE. */
static void *registered(struct wamr_native *native)
{
	registers *call = (registers *)of_engine("wasm_runtime_register_natives");

	assert_true(call("env", native, 1));
	return (*(struct wamr_native **)of_engine("fake_list"))->function;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static double many(void *env, int64_t a, int32_t b, double c, int64_t d, float e, int64_t f,
		   int64_t g, double h, double i, double j, double k, double l, double m, double n,
		   int64_t o, int64_t p, double q)
{
	assert_int_equal(record.called_out, 1);
	assert_int_equal((uintptr_t)env % 16, 0);
	return (double)a + b + c + (double)d + (double)e + (double)f + (double)g + h + i + j + k +
	       l + m + n + (double)o * 2 + (double)p * 3 + q * 5;
}

static int64_t whole(void *env, int64_t a)
{
	(void)env;
	errno = 55;
	return a * INT64_C(0x100000001);
}

static void all_arguments_and_results_pass(void **context)
{
	static struct wamr_native natives[] = { { "many", (void *)many, "(IiFIfIIFFFFFFFIIF)F",
						  NULL },
						{ "whole", (void *)whole, "(I)I", NULL } };
	void *env = (void *)0x1000;
	double sum;

	(void)context;
	sum = ((__typeof__(&many))registered(&natives[0]))(env, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
							   12, 13, 14, 15, 16, 17);
	assert_true(sum == 105 + 30 + 48 + 85);
	assert_ptr_not_equal(registered(&natives[0]), many);
	/* the runtime was destroyed and made again: the same list once more */
	assert_ptr_equal(registered(&natives[0]), registered(&natives[0]));
	errno = 3;
	assert_int_equal(((__typeof__(&whole))registered(&natives[1]))(env, 7),
			 7 * INT64_C(0x100000001));
	assert_int_equal(errno, 55);
	assert_int_equal(record.called_out, 2);
	assert_int_equal(record.left, 2);
	assert_string_equal(hostcalls_text(record.call), "env.whole");
}

static void what_cannot_be_passed_on_stays_the_hosts(void **context)
{
	static struct wamr_native natives[] = {
		{ "a", (void *)whole, NULL, NULL },
		{ "b", (void *)whole, "(IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII)", NULL }
	};

	(void)context;
	assert_ptr_equal(registered(&natives[0]), whole);
	assert_ptr_equal(registered(&natives[1]), whole);
}

static void the_hosts_list_is_not_touched(void **context)
{
	static struct wamr_native native = { "whole", (void *)whole, "(I)I", NULL };
	registers *raw = (registers *)of_engine("wasm_runtime_register_natives_raw");
	bool (*take)(const char *, struct wamr_native *) =
		(__typeof__(take))of_engine("wasm_runtime_unregister_natives");

	(void)context;
	assert_true(raw("env", &native, 1));
	assert_ptr_equal(native.function, whole);
	assert_ptr_not_equal(*(void **)of_engine("fake_list"), &native);
	assert_true(take("env", &native));
	assert_int_equal(*(unsigned int *)of_engine("fake_taken"), 1);
	*(void **)of_engine("fake_list") = NULL;
	assert_false(take("env", &native)); /* as the engine says */
	*(void **)of_engine("fake_list") = &native;
	assert_true(take("env", &native)); /* it has the host's own */
}

/* ---- who calls ------------------------------------------------------------------------------- */

static void *inner;

static int64_t outer(void *env, int64_t a)
{
	assert_int_equal(record.from_count, 3);
	assert_int_equal(record.from[0], 37);
	assert_int_equal(record.from[2], 39);
	*(unsigned int *)of_engine("fake_depth") = 5;
	return ((__typeof__(&whole))inner)(env, a);
}

static int64_t innermost(void *env, int64_t a)
{
	(void)env;
	assert_int_equal(record.from_count, 2);
	assert_int_equal(record.from[0], 35);
	return a;
}

/* A guest that the host enters from a host call has its own frames, and not those below. */
static void functions_are_those_of_the_activation(void **context)
{
	static struct wamr_native natives[] = { { "outer", (void *)outer, "(I)I", NULL },
						{ "inner", (void *)innermost, "(I)I", NULL } };
	struct {
		void *instance;
		unsigned int module, function, offset;
		void *rest[4];
	} * frames;
	int64_t (*first)(void *, int64_t);

	(void)context;
	inner = registered(&natives[1]);
	first = (__typeof__(first))registered(&natives[0]);
	frames = of_engine("fake_stack");
	for (unsigned int i = 0; i < 40; i++)
		frames[i].function = i;
	*(unsigned int *)of_engine("fake_depth") = 3;
	assert_int_equal(first((void *)0x2000, 9), 9);
	*(unsigned int *)of_engine("fake_depth") = 3;
	assert_int_equal(first((void *)0x2000, 9), 9);
	assert_int_equal(record.called_out, 4);
	assert_int_equal(record.left, 4);
}

#define WITH_ENGINE(test) cmocka_unit_test_setup_teardown(test, open_engine, close_engine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ENGINE(all_arguments_and_results_pass),
		WITH_ENGINE(what_cannot_be_passed_on_stays_the_hosts),
		WITH_ENGINE(the_hosts_list_is_not_touched),
		WITH_ENGINE(functions_are_those_of_the_activation),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
