/* SPDX-License-Identifier: MIT */
/* interpose_test.c - what a thread hands to the next one that it makes, and to no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>

#include "preload/base/state.h"

/* A sanitizer has a pthread_create of its own: ours by the name that only we have (hook.h). */
int wrapper_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			   void *(*function)(void *), void *argument);

static int runs;
static char given;

static void *run(struct inheritance *self, void *(*function)(void *), void *argument)
{
	(void)self;
	runs++;
	return function(argument);
}

static struct inheritance inheritance = { run };

static void *answer(void *argument)
{
	return argument;
}

static void make_and_join(void)
{
	pthread_t thread;
	void *result = NULL;

	assert_int_equal(wrapper_pthread_create(&thread, NULL, answer, &given), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &given);
}

static void test_the_next_thread_inherits(void **unused)
{
	(void)unused;
	state_inheritance = &inheritance;
	make_and_join();
	assert_int_equal(runs, 1);
	assert_null(state_inheritance);
	make_and_join();
	assert_int_equal(runs, 1);
}

static void test_off_nobody_does(void **unused)
{
	(void)unused;
	state.on = false;
	state_inheritance = &inheritance;
	make_and_join();
	state.on = true;
	assert_int_equal(runs, 1);
	assert_ptr_equal(state_inheritance, &inheritance);
	state_inheritance = NULL;
}

static void test_without_a_thread_it_stays(void **unused)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)1 << 46), 0);
	state_inheritance = &inheritance;
	assert_int_not_equal(wrapper_pthread_create(&thread, &attributes, answer, &given), 0);
	assert_ptr_equal(state_inheritance, &inheritance);
	state_inheritance = NULL;
	pthread_attr_destroy(&attributes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_next_thread_inherits),
		cmocka_unit_test(test_off_nobody_does),
		cmocka_unit_test(test_without_a_thread_it_stays),
	};

	state.on = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
