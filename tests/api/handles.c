/* SPDX-License-Identifier: MIT */
/*
 * handles.c - guestprof.h with handles other than a plain module's, on a real wasmtime: components,
 * wasm.h, and the labels of instances and stores. Run under the preload.
 *
 * usage: handles FOLDER: profiles are written there, and read by tests/run/prepared.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include <wasmtime/component.h>

#include "tests/api/guest_host.h"

/* ---- labels -----------------------------------------------------------------------------------
 */

static int label(const struct host *host, const char *key, const char *value)
{
	return guestprof_instance_label(GUESTPROF_INSTANCE, host->context, &host->instance, key,
					value);
}

static void run_times(struct host *host, int times)
{
	for (int i = 0; i < times; i++)
		run(host);
}

/* Nothing waits in between: each sample has the labels of its own moment. */
static void test_samples_have_the_labels_of_their_time(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "labelled");
	warm_up(&host);
	set = prepare(&host, NULL);
	profile = start("labels", 10000000, set);
	sample_into(profile);
	run_times(&host, 1);
	assert_int_equal(label(&host, "tenant", "acme"), 0);
	run_times(&host, 2);
	assert_int_equal(label(&host, "tier", "free"), 0);
	run_times(&host, 4);
	assert_int_equal(label(&host, "tenant", "beta\n"), 0);
	assert_int_equal(label(&host, "tenant", "beta\n"), 0);
	run_times(&host, 8);
	assert_int_equal(label(&host, "tenant", NULL), 0);
	run_times(&host, 16);
	assert_int_equal(label(&host, "tier", ""), 0);
	run_times(&host, 32);
	sample_into(NULL);
	finish(profile, "labels");
	guestprof_set_unref(set);
	host_close(&host);
}

static void test_a_store_labels_what_it_has_and_will_have(void **unused)
{
	struct host host, other;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "stored");
	other = host;
	other.store = wasmtime_store_new(host.engine, NULL, NULL);
	other.context = wasmtime_store_context(other.store);
	assert_int_equal(guestprof_instance_label(GUESTPROF_STORE, other.context, NULL, "t", "x"),
			 -ENOENT);
	instantiate(&other);
	warm_up(&host);
	set = prepare(&host, NULL);
	profile = start("store", 10000000, set);
	assert_int_equal(guestprof_instance_label(GUESTPROF_STORE, host.context, NULL, "t", "all"),
			 0);
	sample_into(profile);
	run_times(&host, 1);
	instantiate(&host); /* the second in the store */
	run_times(&host, 2);
	assert_int_equal(label(&host, "t", "second"), 0);
	run_times(&host, 4);
	run_times(&other, 8);
	sample_into(NULL);
	finish(profile, "store");
	guestprof_set_unref(set);
	wasmtime_store_delete(other.store);
	host_close(&host);
}

static void test_bad_labels_are_answers(void **unused)
{
	struct host host, stranger;
	char key[80], value[300];

	(void)unused;
	host_open(&host, "bad");
	host_open(&stranger, "stranger");
	assert_int_equal(label(&host, "wasm_module", "x"), -EINVAL);
	assert_int_equal(label(&host, "", "x"), -EINVAL);
	assert_int_equal(label(&host, NULL, "x"), -EINVAL);
	assert_int_equal(label(&host, "a b", "x"), -EINVAL);
	memset(key, 'k', sizeof(key));
	key[79] = '\0';
	assert_int_equal(label(&host, key, "x"), -EINVAL);
	memset(value, 'v', sizeof(value));
	value[256] = '\0';
	assert_int_equal(label(&host, "key", value), -ENAMETOOLONG);
	for (int i = 0; i < 8; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_int_equal(label(&host, key, "x"), 0);
	}
	assert_int_equal(label(&host, "key8", "x"), -E2BIG);
	assert_int_equal(label(&host, "key7", "y"), 0);
	/* an instance of one store, the context of another */
	assert_int_equal(guestprof_instance_label(GUESTPROF_INSTANCE, stranger.context,
						  &host.instance, "k", "x"),
			 -ENOENT);
	assert_int_equal(guestprof_instance_label(GUESTPROF_INSTANCE, host.context, NULL, "k", "x"),
			 -ENOENT);
	assert_int_equal(
		guestprof_instance_label(GUESTPROF_INSTANCE, NULL, &host.instance, "k", "x"),
		-ENOENT);
	assert_int_equal(guestprof_instance_label((enum guestprof_handle)9, host.context,
						  &host.instance, "k", "x"),
			 -EINVAL);
	host_close(&stranger);
	host_close(&host);
}

/* ---- wasm.h -----------------------------------------------------------------------------------
 */

struct plain_host {
	wasm_store_t *store;
	wasm_module_t *module;
	wasm_instance_t *instance;
	wasm_extern_vec_t exports;
};

static wasm_trap_t *plain_tick(const wasm_val_vec_t *arguments, wasm_val_vec_t *results)
{
	(void)arguments, (void)results;
	if (on_tick != NULL)
		on_tick(tick_argument);
	return NULL;
}

static wasm_module_t *plain_module(wasm_store_t *store, const char *name)
{
	wasm_module_t *module;
	wasm_byte_vec_t wasm;
	char text[400];

	snprintf(text, sizeof(text), guest, name, name, name, name);
	assert_null(wasmtime_wat2wasm(text, strlen(text), &wasm));
	module = wasm_module_new(store, &wasm);
	assert_non_null(module);
	wasm_byte_vec_delete(&wasm);
	return module;
}

static void plain_open(struct plain_host *host, wasm_engine_t *engine, const char *name)
{
	wasm_functype_t *type = wasm_functype_new_0_0();
	wasm_extern_t *import[1];
	wasm_extern_vec_t imports = { 1, import };

	host->store = wasm_store_new(engine);
	host->module = plain_module(host->store, name);
	import[0] = wasm_func_as_extern(wasm_func_new(host->store, type, plain_tick));
	host->instance = wasm_instance_new(host->store, host->module, &imports, NULL);
	assert_non_null(host->instance);
	wasm_functype_delete(type);
	wasm_extern_delete(import[0]);
}

static void plain_run(struct plain_host *host)
{
	wasm_val_vec_t none = WASM_EMPTY_VEC;

	assert_null(wasm_func_call(wasm_extern_as_func(host->exports.data[0]), &none, &none));
}

static void plain_close(struct plain_host *host)
{
	wasm_extern_vec_delete(&host->exports);
	wasm_instance_delete(host->instance);
	wasm_module_delete(host->module);
	wasm_store_delete(host->store);
}

static int plain_label(const struct plain_host *host, const char *value)
{
	return guestprof_instance_label(GUESTPROF_WASM_INSTANCE, host->store, host->instance,
					"tenant", value);
}

static void test_handles_of_wasm_h(void **unused)
{
	wasm_engine_t *engine = wasm_engine_new();
	struct plain_host host;
	struct host warm;
	guestprof_module_set *set;
	guestprof_profile *profile;
	const void *modules[1];

	(void)unused;
	host_open(&warm, "warm");
	warm_up(&warm);
	plain_open(&host, engine, "plain");
	assert_int_equal(plain_label(&host, "early"), -ENOENT);
	wasm_instance_exports(host.instance, &host.exports);
	modules[0] = host.module;
	assert_int_equal(guestprof_set_new(engine, NULL, modules, 1, &set, NULL, 0), 0);
	profile = start("plain", 10000000, set);
	sample_into(profile);
	plain_run(&host);
	assert_int_equal(plain_label(&host, "acme"), 0);
	plain_run(&host);
	plain_run(&host);
	sample_into(NULL);
	finish(profile, "plain");
	guestprof_set_unref(set);
	plain_close(&host);
	wasm_engine_delete(engine);
	host_close(&warm);
}

static void test_another_engines_module_of_wasm_h_is_refused(void **unused)
{
	wasm_engine_t *one = wasm_engine_new(), *two = wasm_engine_new();
	wasm_store_t *first = wasm_store_new(one), *second = wasm_store_new(two);
	wasm_module_t *mine = plain_module(first, "mine");
	wasm_module_t *foreign = plain_module(second, "foreign");
	const void *modules[] = { mine, foreign };
	guestprof_module_set *set;
	char why[200];

	(void)unused;
	assert_int_equal(guestprof_set_new(one, NULL, modules, 2, &set, why, sizeof(why)), -EXDEV);
	assert_string_equal(why, "module 1 was made by another engine");
	assert_int_equal(guestprof_set_new(two, NULL, modules + 1, 1, &set, why, sizeof(why)), 0);
	guestprof_set_unref(set);
	/* the store goes first: the module is still its engine's */
	wasm_store_delete(first);
	assert_int_equal(guestprof_set_new(two, NULL, modules, 1, &set, why, sizeof(why)), -EXDEV);
	assert_int_equal(guestprof_set_new(one, NULL, modules, 1, &set, why, sizeof(why)), 0);
	guestprof_set_unref(set);
	wasm_module_delete(mine);
	wasm_module_delete(foreign);
	wasm_store_delete(second);
	wasm_engine_delete(one);
	wasm_engine_delete(two);
}

/* ---- components -------------------------------------------------------------------------------
 */

/* $front calls $back, which calls the host: each a core module of the component's own. */
static const char pair[] =
	"(component $pair (import \"tick\" (func $tick))"
	"(core module $back (import \"host\" \"tick\" (func $tick))"
	" (func $lower (export \"lower\") (call $tick)))"
	"(core module $front (import \"back\" \"lower\" (func $lower))"
	" (func $upper (export \"run\") (call $lower)))"
	"(core func $lowered (canon lower (func $tick)))"
	"(core instance $host (export \"tick\" (func $lowered)))"
	"(core instance $back (instantiate $back (with \"host\" (instance $host))))"
	"(core instance $front (instantiate $front (with \"back\" (instance $back))))"
	"(func (export \"run\") (canon lift (core func $front \"run\"))))";

struct component_host {
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_component_t *component;
	wasmtime_component_linker_t *linker;
	wasmtime_component_instance_t instance;
	wasmtime_component_func_t run;
};

static wasmtime_error_t *component_tick(void *env, wasmtime_context_t *context,
					const wasmtime_component_func_type_t *type,
					wasmtime_component_val_t *arguments, size_t argument_count,
					wasmtime_component_val_t *results, size_t result_count)
{
	(void)env, (void)context, (void)type, (void)arguments, (void)argument_count, (void)results;
	(void)result_count;
	if (on_tick != NULL)
		on_tick(tick_argument);
	return NULL;
}

static void component_open(struct component_host *host, wasm_engine_t *engine)
{
	wasmtime_component_linker_instance_t *root;
	wasmtime_component_export_index_t *index;
	wasm_byte_vec_t wasm;

	host->store = wasmtime_store_new(engine, NULL, NULL);
	host->context = wasmtime_store_context(host->store);
	host->linker = wasmtime_component_linker_new(engine);
	assert_null(wasmtime_wat2wasm(pair, strlen(pair), &wasm));
	assert_null(
		wasmtime_component_new(engine, (uint8_t *)wasm.data, wasm.size, &host->component));
	wasm_byte_vec_delete(&wasm);
	root = wasmtime_component_linker_root(host->linker);
	assert_null(wasmtime_component_linker_instance_add_func(root, "tick", 4, component_tick,
								NULL, NULL));
	wasmtime_component_linker_instance_delete(root);
	assert_null(wasmtime_component_linker_instantiate(host->linker, host->context,
							  host->component, &host->instance));
	index = wasmtime_component_instance_get_export_index(&host->instance, host->context, NULL,
							     "run", 3);
	assert_true(wasmtime_component_instance_get_func(&host->instance, host->context, index,
							 &host->run));
	wasmtime_component_export_index_delete(index);
}

static void component_run(struct component_host *host)
{
	assert_null(wasmtime_component_func_call(&host->run, host->context, NULL, 0, NULL, 0));
}

static void component_close(struct component_host *host)
{
	wasmtime_store_delete(host->store);
	wasmtime_component_linker_delete(host->linker);
	wasmtime_component_delete(host->component);
}

/* One handle brings the frames of both its core modules; the extra module is beside it. */
static void test_a_component_and_an_extra_module(void **unused)
{
	struct component_host host;
	struct host extra, other;
	guestprof_module_set *set;
	guestprof_profile *profile;
	const char *const names[] = { "pair", "extra" };
	const void *modules[2];
	char why[200];

	(void)unused;
	host_open(&extra, "extra");
	host_open(&other, "unwanted");
	warm_up(&extra);
	component_open(&host, extra.engine);
	modules[0] = host.component;
	modules[1] = extra.module;
	assert_int_equal(guestprof_set_new(other.engine, names, modules, 2, &set, why, sizeof(why)),
			 -EXDEV);
	assert_int_equal(guestprof_set_new(extra.engine, names, modules, 2, &set, why, sizeof(why)),
			 0);
	assert_int_equal(guestprof_get()->set_count(set), 2);
	profile = start("component", 10000000, set);
	sample_into(profile);
	component_run(&host);
	assert_int_equal(guestprof_instance_label(GUESTPROF_COMPONENT_INSTANCE, host.context,
						  &host.instance, "tenant", "acme"),
			 0);
	component_run(&host);
	component_run(&host);
	run_times(&extra, 4);
	run_times(&other, 8);
	sample_into(NULL);
	finish(profile, "component");
	guestprof_set_unref(set);
	component_close(&host);
	host_close(&other);
	host_close(&extra);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_have_the_labels_of_their_time),
		cmocka_unit_test(test_a_store_labels_what_it_has_and_will_have),
		cmocka_unit_test(test_bad_labels_are_answers),
		cmocka_unit_test(test_handles_of_wasm_h),
		cmocka_unit_test(test_another_engines_module_of_wasm_h_is_refused),
		cmocka_unit_test(test_a_component_and_an_extra_module),
	};

	if (argc != 2)
		return 2;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
