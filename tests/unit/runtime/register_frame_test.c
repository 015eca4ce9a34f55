/* SPDX-License-Identifier: MIT */
/*
 * register_frame_test.c - registrations reach the host's unwinder as they were made, and load/
 * hears of them in the right order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/maker.h"
#include "preload/runtime/register_frame.h"
#include "tests/unit/runtime/fake_engine.h"

/* The unwinder: a local library, as libgcc_s is in Python. It counts and adds up pointers. */
static const char unwinder[] =
	"_Atomic long registered, deregistered, sum; const void *last;\n"
	"void __register_frame(const void *p) { registered++; sum += (long)p; last = p; }\n"
	"void __deregister_frame(const void *p) { deregistered++; sum -= (long)p; last = p; }\n";

typedef void frame_call(const void *);

static void *handle;
static frame_call *add, *take;

static struct {
	atomic_int registrations, deregistrations;
	const void *registered, *deregistered;
	struct load_maker maker;		     /* the last */
	long registered_before, deregistered_before; /* real calls at that time */
} record;

#define REAL_COUNT(name) (*(_Atomic long *)dlsym(handle, name))

void load_register_frame(const void *begin, const struct load_maker *maker)
{
	record.maker = *maker;
	record.registrations++;
	if (record.registered == NULL) {
		record.registered = begin;
		record.registered_before = REAL_COUNT("registered");
	}
}

void load_deregister_frame(const void *begin)
{
	record.deregistrations++;
	if (record.deregistered == NULL) {
		record.deregistered = begin;
		record.deregistered_before = REAL_COUNT("deregistered");
	}
}

static int set_up(void **context)
{
	const char *const parts[] = { unwinder, NULL };

	(void)context;
	memset(&record, 0, sizeof(record));
	state.on = true;
	handle = fake_open("unwinder.so", parts);
	if (handle == NULL)
		return -1;
	add = (frame_call *)dlsym(handle, "__register_frame");
	take = (frame_call *)dlsym(handle, "__deregister_frame");
	return add != NULL && take != NULL ? 0 : -1;
}

static int close_unwinder(void **context)
{
	(void)context;
	state.on = false;
	return dlclose(handle);
}

static void real_first_on_the_way_in_and_last_on_the_way_out(void **context)
{
	uint32_t before = runtime_registrations();

	(void)context;
	errno = 9;
	assert_null(runtime_registered_since(before));
	add("frames");
	assert_int_equal(record.registrations, 1);
	assert_int_equal(record.registered_before, 1);
	assert_string_equal(record.registered, "frames");
	assert_ptr_equal(record.maker.engine, runtime_maker);
	assert_non_null(record.maker.caller);
	assert_string_equal(runtime_registered_since(before), "frames");
	take(record.registered);
	assert_int_equal(record.deregistrations, 1);
	assert_int_equal(record.deregistered_before, 0);
	assert_int_equal(REAL_COUNT("deregistered"), 1);
	assert_int_equal(errno, 9);
}

static void odd_pointers_pass_too(void **context)
{
	(void)context;
	add(NULL);
	take(NULL);
	take((void *)1); /* never registered: the unwinder's affair */
	assert_int_equal(REAL_COUNT("registered"), 1);
	assert_int_equal(REAL_COUNT("deregistered"), 2);
	assert_ptr_equal(*(const void **)dlsym(handle, "last"), 1);
	assert_int_equal(record.deregistrations, 2);
}

static void off_and_inside_nothing_is_told(void **context)
{
	uint32_t before = runtime_registrations();

	(void)context;
	state.on = false;
	add("early");
	take("early");
	state.on = true;
	assert_true(hook_begin());
	add("ours");
	hook_end();
	assert_int_equal(REAL_COUNT("registered"), 2);
	assert_int_equal(REAL_COUNT("deregistered"), 1);
	assert_int_equal(record.registrations + record.deregistrations, 0);
	assert_int_equal(runtime_registrations(), before);
}

enum { THREADS = 8, ROUNDS = 1000 };

static void *churn(void *number)
{
	for (uintptr_t i = 1; i <= ROUNDS; i++) {
		const void *frames = (const void *)((uintptr_t)number << 32 | i);

		add(frames);
		if (runtime_registrations() == 0)
			return (void *)1;
		take(frames);
	}
	return NULL;
}

static void counts_are_exact_on_threads(void **context)
{
	pthread_t threads[THREADS];

	(void)context;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	assert_int_equal(REAL_COUNT("registered"), THREADS * ROUNDS);
	assert_int_equal(REAL_COUNT("deregistered"), THREADS * ROUNDS);
	assert_int_equal(REAL_COUNT("sum"), 0);
	assert_int_equal(record.registrations, THREADS * ROUNDS);
	assert_int_equal(record.deregistrations, THREADS * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(real_first_on_the_way_in_and_last_on_the_way_out,
						set_up, close_unwinder),
		cmocka_unit_test_setup_teardown(odd_pointers_pass_too, set_up, close_unwinder),
		cmocka_unit_test_setup_teardown(off_and_inside_nothing_is_told, set_up,
						close_unwinder),
		cmocka_unit_test_setup_teardown(counts_are_exact_on_threads, set_up,
						close_unwinder),
	};

	return cmocka_run_group_tests(tests, NULL, fake_remove);
}
