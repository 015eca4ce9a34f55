/* SPDX-License-Identifier: MIT */
/* pool_test.c - rings ready for handlers, within the memory that was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/sampler/pool.h"
#include "preload/sig/handler.h"

enum { RING = 64 << 10, RINGS = 5 };

static int ready(void)
{
	int count = 0;

	for (int i = 0; i < handler_setup.ring_pool_size; i++)
		count += atomic_load(&handler_setup.ring_pool[i]) != NULL;
	return count;
}

/* As the handler does. */
static struct ring *take(void)
{
	for (int i = 0; i < handler_setup.ring_pool_size; i++) {
		struct ring *ring = atomic_exchange(&handler_setup.ring_pool[i], NULL);

		if (ring != NULL)
			return ring;
	}
	return NULL;
}

static void memory_is_the_limit(void **unused)
{
	struct ring *taken[RINGS];

	(void)unused;
	assert_int_equal(pool_start(RING, RINGS * RING + RING / 2), 0);
	assert_in_range(ready(), 1, RINGS);
	pool_fill(3);
	assert_int_equal(ready(), 3);
	pool_fill(1000);
	assert_int_equal(ready(), RINGS);
	for (int i = 0; i < RINGS; i++) {
		taken[i] = take();
		assert_non_null(taken[i]);
		assert_int_equal(taken[i]->size, RING);
		assert_null(ring_peek(taken[i]));
	}
	pool_fill(1000);
	assert_null(take());

	/* Used ones come back empty. */
	for (int i = 0; i < RINGS; i++) {
		struct sample *sample = ring_reserve(taken[i], 4096);

		assert_non_null(sample);
		sample->kind = SAMPLE_GUEST;
		sample->size = 4096;
		ring_commit(taken[i], sample);
		ring_release(taken[i], ring_peek(taken[i]));
		pool_put_back(taken[i]);
	}
	pool_fill(1000);
	assert_int_equal(ready(), RINGS);
	for (int i = 0; i < RINGS; i++) {
		struct ring *ring = take();

		assert_null(ring_peek(ring));
		assert_non_null(ring_reserve(ring, RING));
		pool_put_back(ring);
	}
}

static void one_ring_there_always_is(void **unused)
{
	struct ring *ring;

	(void)unused;
	assert_int_equal(pool_start(RING, 0), 0);
	ring = take();
	assert_non_null(ring);
	pool_fill(10);
	assert_null(take());
	pool_put_back(ring);
}

static void rings_grow(void **unused)
{
	struct ring *old, *taken;

	(void)unused;
	pool_fill(1);
	old = take();
	assert_non_null(old);
	assert_int_equal(pool_start(2 * RING, 4 * RING), 0);
	assert_true(pool_is_outgrown(old));
	taken = take();
	assert_non_null(taken);
	assert_int_equal(taken->size, 2 * RING);
	pool_fill(1000);
	assert_null(take()); /* 1 and 2 of 4 */
	pool_put_back(old);
	pool_fill(1000);
	assert_int_equal(ready(), 1);
	/* A smaller size changes nothing. */
	assert_int_equal(pool_start(RING, 4 * RING), 0);
	assert_false(pool_is_outgrown(taken));
	pool_put_back(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_ring_there_always_is),
		cmocka_unit_test(memory_is_the_limit),
		cmocka_unit_test(rings_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
