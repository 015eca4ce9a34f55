/* SPDX-License-Identifier: MIT */
/*
 * prepared.c - a host that takes its own profiles (guestprof.h) on a real wasmtime: the contract of
 * a prepared set, point by point. Run under the preload; without it, test_not_loaded is all there
 * is.
 *
 * usage: prepared FOLDER: profiles are written there, and read by tests/run/prepared.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/api/guest_host.h"

static void test_stacks_of_listed_modules(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "listed");
	warm_up(&host);
	set = prepare(&host, NULL);
	profile = start("listed", 10000000, set);
	guestprof_set_unref(set); /* the profile holds it */
	sample_into(profile);
	for (int i = 0; i < 50; i++)
		run(&host);
	sample_into(NULL);
	finish(profile, "listed");
	host_close(&host);
}

static __thread guestprof_profile *ticked;

static void sample_ticked(void *unused)
{
	(void)unused;
	/* 16 MB wait for our thread, which comes by 20 times a second */
	while (ticked != NULL && guestprof_profile_sample(ticked, 1000) != 1)
		usleep(50000);
}

struct both {
	guestprof_profile *first, *second;
	int ticks;
};

static void sample_both(void *argument)
{
	struct both *both = argument;

	guestprof_profile_sample(both->first, 1);
	if (both->ticks++ % 4 == 0)
		guestprof_profile_sample(both->second, 1);
}

static void test_two_profiles_from_one_set_are_independent(void **unused)
{
	struct host host;
	struct both both = { 0 };
	guestprof_module_set *set;

	(void)unused;
	host_open(&host, "shared");
	warm_up(&host);
	set = prepare(&host, "called by the host");
	both.first = start("first", 1000000, set);
	both.second = start("second", 4000000, set);
	on_tick = sample_both;
	tick_argument = &both;
	for (int i = 0; i < 40; i++)
		run(&host);
	sample_into(NULL);
	/* The other way round than they were started. */
	finish(both.second, "second");
	finish(both.first, "first");
	guestprof_set_unref(set);
	host_close(&host);
}

/* A host thread with a store of its own: the guest's module and the set are everybody's. */
struct sampler {
	struct host host;
	guestprof_profile *own, *common;
	pthread_t thread;
};

static pthread_barrier_t both_ready;

static void *sample_on_a_thread(void *argument)
{
	struct sampler *sampler = argument;
	struct host *host = &sampler->host;

	host->store = wasmtime_store_new(host->engine, NULL, NULL);
	host->context = wasmtime_store_context(host->store);
	instantiate(host);
	pthread_barrier_wait(&both_ready);
	for (int i = 0; i < 1500; i++) {
		ticked = i % 3 == 0 ? sampler->common : sampler->own;
		run(host);
	}
	ticked = NULL;
	wasmtime_store_delete(host->store);
	return NULL;
}

/* Each of two threads samples into a profile of its own and one of both. */
static void test_two_threads_and_three_profiles(void **unused)
{
	struct sampler samplers[2];
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *common;

	(void)unused;
	host_open(&host, "threaded");
	warm_up(&host);
	set = prepare(&host, NULL);
	common = start("common", 3000000, set);
	on_tick = sample_ticked;
	pthread_barrier_init(&both_ready, NULL, 2);
	for (int i = 0; i < 2; i++) {
		samplers[i].host = host;
		samplers[i].common = common;
		samplers[i].own = start(i == 0 ? "one" : "two", i == 0 ? 1000000 : 2000000, set);
		assert_int_equal(
			pthread_create(&samplers[i].thread, NULL, sample_on_a_thread, &samplers[i]),
			0);
	}
	guestprof_set_unref(set);
	for (int i = 0; i < 2; i++)
		pthread_join(samplers[i].thread, NULL);
	on_tick = NULL;
	/* begun first, ended between the others */
	finish(samplers[0].own, "one");
	finish(common, "common");
	finish(samplers[1].own, "two");
	host_close(&host);
}

static void test_unlisted_modules_are_counted_never_stored(void **unused)
{
	struct host listed, other;
	guestprof_module_set *set;
	guestprof_profile *profile, *beside;

	(void)unused;
	host_open(&listed, "wanted");
	host_open(&other, "unwanted");
	warm_up(&other);
	set = prepare(&listed, NULL);
	profile = start("unlisted", 10000000, set);
	sample_into(profile);
	for (int i = 0; i < 20; i++)
		run(&other);
	assert_int_equal(samples_kept, 0);
	run(&listed);
	assert_int_equal(samples_kept, 2);
	sample_into(NULL);
	/* another profile of the same process has its own numbers */
	beside = start("beside", 10000000, set);
	sample_into(beside);
	run(&other);
	sample_into(NULL);
	assert_int_equal(guestprof_profile_sample(beside, 1), 0); /* no guest at all */
	finish(profile, "unlisted");
	finish(beside, "beside");
	guestprof_set_unref(set);
	host_close(&other);
	host_close(&listed);
}

static void test_modules_without_functions_are_skipped(void **unused)
{
	wasm_engine_t *engine = wasm_engine_new();
	wasmtime_module_t *empty = compile(engine, "(module (memory 1))");
	wasmtime_module_t *full = compile_guest(engine, "full");
	const void *modules[] = { empty, full, full };
	const struct guestprof_api *api = guestprof_get();
	guestprof_module_set *set;

	(void)unused;
	assert_int_equal(guestprof_set_new(engine, NULL, modules, 3, &set, NULL, 0), 0);
	assert_int_equal(api->set_count(set), 1);
	guestprof_set_unref(set);
	assert_int_equal(guestprof_set_new(engine, NULL, modules, 1, &set, NULL, 0), 0);
	assert_int_equal(api->set_count(set), 0);
	guestprof_set_unref(set);
	wasmtime_module_delete(empty);
	wasmtime_module_delete(full);
	wasm_engine_delete(engine);
}

static void test_another_engines_module_is_refused(void **unused)
{
	wasm_engine_t *one = wasm_engine_new(), *two = wasm_engine_new(), *three;
	wasm_engine_t *clone = wasmtime_engine_clone(one);
	wasmtime_module_t *mine = compile_guest(one, "mine");
	wasmtime_module_t *foreign = compile_guest(two, "foreign");
	const void *modules[] = { mine, foreign };
	guestprof_module_set *set;
	char why[200];

	(void)unused;
	assert_int_equal(guestprof_set_new(one, NULL, modules, 2, &set, why, sizeof(why)), -EXDEV);
	assert_null(set);
	assert_string_equal(why, "module 1 was made by another engine");
	assert_int_equal(guestprof_set_new(clone, NULL, modules, 1, &set, why, sizeof(why)), 0);
	guestprof_set_unref(set);
	/* one that has made nothing yet */
	three = wasm_engine_new();
	assert_int_equal(guestprof_set_new(three, NULL, modules, 1, &set, why, sizeof(why)),
			 -EXDEV);
	wasm_engine_delete(three);
	wasmtime_module_delete(mine);
	wasmtime_module_delete(foreign);
	wasm_engine_delete(clone);
	wasm_engine_delete(one);
	wasm_engine_delete(two);
}

static void test_an_unknown_handle_is_refused(void **unused)
{
	const void *modules[] = { "no module" };
	guestprof_module_set *set;
	char why[200];

	(void)unused;
	assert_int_equal(guestprof_set_new(NULL, NULL, modules, 1, &set, why, sizeof(why)),
			 -ENOENT);
	assert_null(set);
	assert_string_equal(why, "module 0 was not seen when it was loaded");
	assert_int_equal(guestprof_set_new(NULL, NULL, NULL, 3, &set, why, sizeof(why)), -EINVAL);
}

static void test_a_set_outlives_module_store_and_engine(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "gone");
	warm_up(&host);
	set = prepare(&host, NULL);
	profile = start("gone", 10000000, set);
	sample_into(profile);
	for (int i = 0; i < 10; i++)
		run(&host);
	sample_into(NULL);
	host_close(&host);
	finish(profile, "gone");
	profile = start("nothing", 10000000, set);
	finish(profile, "nothing");
	guestprof_set_unref(set);
}

static void *use_set(void *argument)
{
	guestprof_module_set *set = argument;

	for (int i = 0; i < 2000; i++) {
		guestprof_profile *profile = start("thread", 1000000, guestprof_set_ref(set));

		guestprof_set_unref(set);
		guestprof_profile_drop(profile);
	}
	guestprof_set_unref(set);
	return NULL;
}

static void test_threads_share_a_set(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	pthread_t threads[4];

	(void)unused;
	host_open(&host, "threads");
	set = prepare(&host, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_set, guestprof_set_ref(set)),
				 0);
	guestprof_set_unref(set);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	host_close(&host);
}

static void mark(void *profile)
{
	assert_int_equal(guestprof_profile_host_call(profile, 1, "host.tick"), 0);
	assert_int_equal(guestprof_profile_sample(profile, 1000000), 1);
	assert_int_equal(guestprof_profile_host_call(profile, 0, NULL), 0);
}

static void test_host_calls_are_intervals(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "calls");
	warm_up(&host);
	set = prepare(&host, NULL);
	profile = start("calls", 10000000, set);
	assert_int_equal(guestprof_profile_host_call(profile, 0, NULL), -EINVAL);
	on_tick = mark;
	tick_argument = profile;
	for (int i = 0; i < 5; i++)
		run(&host);
	sample_into(NULL);
	finish(profile, "calls");
	guestprof_set_unref(set);
	host_close(&host);
}

static void test_bad_arguments_are_answers(void **unused)
{
	struct host host;
	guestprof_module_set *set;
	guestprof_profile *profile;

	(void)unused;
	host_open(&host, "bad");
	set = prepare(&host, NULL);
	assert_int_equal(guestprof_profile_new("x", 0, set, &profile), -EINVAL);
	assert_int_equal(guestprof_profile_new(NULL, 1, set, &profile), -EINVAL);
	assert_int_equal(guestprof_profile_new("x", 1, NULL, &profile), -EINVAL);
	assert_null(profile);
	assert_int_equal(guestprof_profile_sample(NULL, 1), -EINVAL);
	assert_int_equal(guestprof_profile_finish(start("x", 1, set), ""), -EINVAL);
	assert_int_equal(guestprof_profile_finish(start("x", 1, set), "/no/such/folder/x.pb"),
			 -ENOENT);
	guestprof_profile_drop(NULL);
	guestprof_set_unref(NULL);
	guestprof_set_unref(set);
	host_close(&host);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_of_listed_modules),
		cmocka_unit_test(test_two_profiles_from_one_set_are_independent),
		cmocka_unit_test(test_two_threads_and_three_profiles),
		cmocka_unit_test(test_unlisted_modules_are_counted_never_stored),
		cmocka_unit_test(test_modules_without_functions_are_skipped),
		cmocka_unit_test(test_another_engines_module_is_refused),
		cmocka_unit_test(test_an_unknown_handle_is_refused),
		cmocka_unit_test(test_a_set_outlives_module_store_and_engine),
		cmocka_unit_test(test_threads_share_a_set),
		cmocka_unit_test(test_host_calls_are_intervals),
		cmocka_unit_test(test_bad_arguments_are_answers),
	};

	if (argc != 2)
		return 2;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
