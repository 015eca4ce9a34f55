/* SPDX-License-Identifier: MIT */
/*
 * manual_test.c - one profile that many threads sample and mark, while ours takes what they have.
 *
 * Run under ThreadSanitizer too, which tells when a lock is missing. This program's own code passes
 * for a guest's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "preload/base/config.h"
#include "preload/base/state.h"
#include "preload/load/load.h"
#include "preload/manual.h"
#include "preload/sig/ranges.h"
#include "preload/sig/thread.h"
#include "symtab/symtab.h"
#include "tests/unit/load/fake_image.h"

enum { THREADS = 3, ROUNDS = 1000 };

extern char __executable_start, etext;

static __thread struct thread block;
static atomic_bool is_over;
static struct manual *shared;
static struct module_set *set; /* of the one module */

static struct thread *adopt(void)
{
	block.tid = 1000;
	sig_self = &block;
	return sig_self;
}

static void ignore(const struct sample *sample)
{
	(void)sample;
}

/* Each thread has a tid of its own, as marks are told apart by it. */
static void *sample_and_mark(void *number)
{
	int result;

	adopt()->tid = (int)(intptr_t)number;
	for (int i = 0; i < ROUNDS; i++) {
		if (manual_host_call(shared, true, "host") != 0)
			return "a call did not begin";
		result = manual_sample(shared, 1000);
		if (result != 1 && result != -ENOMEM) /* our thread is too slow for them */
			return "a sample was not kept";
		if (manual_host_call(shared, false, NULL) != 0)
			return "a call did not end";
	}
	return NULL;
}

static void *make_and_free(void *unused)
{
	for (int i = 0; i < ROUNDS / 10; i++) {
		struct manual *manual = manual_new("mine", 1000000, set);

		if (manual == NULL || manual_sample(manual, 1000) != 1)
			return "a profile of one's own";
		manual_free(manual);
	}
	return unused;
}

static void *our_thread(void *unused)
{
	while (!atomic_load(&is_over))
		manual_drain(ignore);
	return unused;
}

static void many_threads_share_a_profile(void **unused)
{
	pthread_t threads[THREADS], other, ours;
	void *failed;

	(void)unused;
	shared = manual_new("shared", 1000000, set);
	assert_non_null(shared);
	assert_int_equal(pthread_create(&ours, NULL, our_thread, NULL), 0);
	assert_int_equal(pthread_create(&other, NULL, make_and_free, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, sample_and_mark,
						(void *)(intptr_t)(i + 1)),
				 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	pthread_join(other, &failed);
	assert_null(failed);
	atomic_store(&is_over, true);
	pthread_join(ours, NULL);
	manual_free(shared);
}

static void a_call_that_did_not_begin(void **unused)
{
	struct manual *manual = manual_new("one", 1000000, set);

	(void)unused;
	assert_int_not_equal(manual_host_call(manual, false, NULL), 0);
	manual_free(manual);
}

static void on_added(const struct symtab_entry *entry)
{
	(void)entry;
}

static void complain(void *context, const char *line)
{
	(void)context;
	fail_msg("%s", line);
}

/* A module, whose code this program's takes the place of. */
static int load_a_module(void **unused)
{
	static const struct load_observer observer = { .added = on_added };
	static char *const environment[] = { NULL };
	static struct config config;
	struct ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	uint32_t loading;

	(void)unused;
	loading = load_announce(&(struct load_event){
		.engine = "wasmtime",
		.image = (uintptr_t)fake_image_map(NULL, "one", 3),
	});
	load_work(&observer);
	set = set_new(load_symtab(), &loading, NULL, 1);
	assert_int_equal(set_count(set), 1);
	ranges->generation = 2;
	ranges->count = 1;
	ranges->range[0] = (struct range){
		.start = (uintptr_t)&__executable_start,
		.end = (uintptr_t)&etext,
		.id = loading,
		.has_frame_pointers = 1,
	};
	free((void *)ranges_publish(ranges));
	config_read(&config, environment, complain, NULL);
	config_set_current(&config);
	state.adopt_thread = adopt;
	return 0;
}

static int let_go(void **unused)
{
	(void)unused;
	set_unref(set);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_did_not_begin),
		cmocka_unit_test(many_threads_share_a_profile),
	};

	return cmocka_run_group_tests(tests, load_a_module, let_go);
}
