/* SPDX-License-Identifier: MIT */
/*
 * errand_test.c - work for our thread: done once, in order, or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "preload/errand.h"

enum { SENDERS = 4, ERRANDS = 5000 };

static atomic_bool is_over;
static unsigned long done; /* by our thread alone */

static void *our_thread(void *unused)
{
	while (!atomic_load(&is_over))
		errand_work();
	return unused;
}

static void count(void *argument)
{
	(void)argument;
	done++;
}

static void *send_many(void *unused)
{
	for (int i = 0; i < ERRANDS; i++) {
		if (errand_send(count, NULL, UINT64_C(60000000000)) != 0)
			return "an errand was not run";
	}
	return unused;
}

static void test_many_senders(void **unused)
{
	pthread_t ours, senders[SENDERS];
	void *failed;

	(void)unused;
	pthread_create(&ours, NULL, our_thread, NULL);
	for (int i = 0; i < SENDERS; i++)
		pthread_create(&senders[i], NULL, send_many, NULL);
	for (int i = 0; i < SENDERS; i++) {
		pthread_join(senders[i], &failed);
		assert_null(failed);
	}
	atomic_store(&is_over, true);
	pthread_join(ours, NULL);
	assert_int_equal(done, SENDERS * ERRANDS);
}

static void test_nobody_comes(void **unused)
{
	unsigned long before = done;

	(void)unused;
	assert_int_equal(errand_send(count, NULL, 1000000), -ETIMEDOUT);
	errand_work(); /* given up is given up */
	assert_int_equal(done, before);
}

static void test_after_the_end(void **unused)
{
	unsigned long before = done;

	(void)unused;
	errand_close();
	assert_int_equal(errand_send(count, NULL, UINT64_C(60000000000)), -ESHUTDOWN);
	assert_int_equal(done, before);
	errand_fork_child(); /* a child has a thread of its own again */
	assert_int_equal(errand_send(count, NULL, 1000000), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_senders),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
