/* SPDX-License-Identifier: MIT */
/* ranges_test.c - the search against a plain loop, and the generations that keep arrays alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "preload/sig/ranges.h"
#include "preload/sig/thread.h"

static struct ranges *make_ranges(size_t count, uint64_t generation)
{
	struct ranges *ranges = calloc(1, sizeof(*ranges) + count * sizeof(ranges->range[0]));

	assert_non_null(ranges);
	ranges->generation = generation;
	ranges->count = count;
	return ranges;
}

static void nothing_is_found_in_nothing(void **unused)
{
	struct ranges *none = make_ranges(0, 1);

	(void)unused;
	assert_null(ranges_find(NULL, 5));
	assert_null(ranges_find(none, 5));
	free(none);
}

static void search_equals_a_loop(void **unused)
{
	(void)unused;
	for (size_t count = 1; count < 20; count++) {
		struct ranges *ranges = make_ranges(count, 1);
		uintptr_t at = 10;

		for (size_t i = 0; i < count; i++) {
			at += i % 3; /* some touch, some do not */
			ranges->range[i].start = at;
			at += 1 + i % 4;
			ranges->range[i].end = at;
		}
		for (uintptr_t pc = 0; pc < at + 20; pc++) {
			const struct range *expected = NULL;

			for (size_t i = 0; i < count; i++) {
				if (pc >= ranges->range[i].start && pc < ranges->range[i].end)
					expected = &ranges->range[i];
			}
			assert_ptr_equal(ranges_find(ranges, pc), expected);
		}
		assert_null(ranges_find(ranges, UINTPTR_MAX));
		free(ranges);
	}
}

static void publish_returns_the_one_before(void **unused)
{
	struct ranges *first = make_ranges(0, 1), *second = make_ranges(0, 2);

	(void)unused;
	assert_null(ranges_current());
	assert_null(ranges_publish(first));
	assert_ptr_equal(ranges_current(), first);
	assert_ptr_equal(ranges_publish(second), first);
	assert_ptr_equal(ranges_publish(NULL), second);
	free(first);
	free(second);
}

static void a_holder_shows_its_generation(void **unused)
{
	static struct thread blocks[2];
	struct ranges *ranges = make_ranges(0, 41);
	uint64_t outer, inner;

	(void)unused;
	thread_table.blocks = blocks;
	atomic_store(&thread_table.count, 2);
	ranges_publish(ranges);
	assert_true(thread_oldest_generation() == UINT64_MAX);
	assert_ptr_equal(thread_ranges_begin(&blocks[1], &outer), ranges);
	assert_int_equal(thread_oldest_generation(), 41);
	/* A handler on top of it must not hide the older mark. */
	ranges->generation = 42;
	thread_ranges_begin(&blocks[1], &inner);
	assert_int_equal(thread_oldest_generation(), 41);
	thread_ranges_end(&blocks[1], inner);
	assert_int_equal(thread_oldest_generation(), 41);
	thread_ranges_end(&blocks[1], outer);
	assert_true(thread_oldest_generation() == UINT64_MAX);
	ranges_publish(NULL);
	free(ranges);
}

/* Readers that check what they hold, a writer that poisons what nobody may hold any more. */
enum { READERS = 3, ROUNDS = 20000, MOST_ROUNDS = 100 * ROUNDS, ENOUGH_HELD = 1000 };
static struct thread reader_blocks[READERS];
static atomic_bool stop;
static atomic_int bad, held;

static void *read_all_the_time(void *argument)
{
	struct thread *block = argument;

	while (!atomic_load(&stop)) {
		uint64_t before;
		const struct ranges *ranges = thread_ranges_begin(block, &before);

		for (int i = 0; ranges != NULL && i < 20; i++) {
			if (ranges->range[0].start != ranges->generation)
				atomic_fetch_add(&bad, 1);
		}
		atomic_fetch_add(&held, 1);
		thread_ranges_end(block, before);
	}
	return NULL;
}

/* What load/publish.c does. Answers a free place in RETIRED, COUNT when there is none. */
static size_t reclaim(struct ranges **retired, size_t count, int *freed)
{
	uint64_t oldest = thread_oldest_generation();
	size_t place = count;

	for (size_t i = 0; i < count; i++) {
		if (retired[i] != NULL && retired[i]->generation < oldest) {
			memset(retired[i], 0x5a, sizeof(*retired[i]));
			free(retired[i]);
			retired[i] = NULL;
			++*freed;
		}
		if (retired[i] == NULL)
			place = i;
	}
	return place;
}

static void nothing_is_freed_under_a_reader(void **unused)
{
	struct ranges *retired[64] = { NULL };
	pthread_t readers[READERS];
	int freed = 0;

	(void)unused;
	thread_table.blocks = reader_blocks;
	atomic_store(&thread_table.count, READERS);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(
			pthread_create(&readers[i], NULL, read_all_the_time, &reader_blocks[i]), 0);
	/* On, where the readers do not get to run at first. */
	for (uint64_t generation = 2;
	     generation < ROUNDS || (atomic_load(&held) < ENOUGH_HELD && generation < MOST_ROUNDS);
	     generation++) {
		struct ranges *next = make_ranges(1, generation);
		size_t place;

		next->range[0].start = generation;
		while ((place = reclaim(retired, ARRAY_SIZE(retired), &freed)) ==
		       ARRAY_SIZE(retired))
			sched_yield();
		retired[place] = (struct ranges *)ranges_publish(next);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(retired); i++)
		free(retired[i]);
	free((void *)ranges_publish(NULL));
	print_message("held %d times, freed %d arrays\n", atomic_load(&held), freed);
	assert_int_equal(atomic_load(&bad), 0);
	assert_true(freed > 0 && atomic_load(&held) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_nothing),
		cmocka_unit_test(search_equals_a_loop),
		cmocka_unit_test(publish_returns_the_one_before),
		cmocka_unit_test(a_holder_shows_its_generation),
		cmocka_unit_test(nothing_is_freed_under_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
