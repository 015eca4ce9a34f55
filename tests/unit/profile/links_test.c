/* SPDX-License-Identifier: MIT */
/*
 * links_test.c - frame-pointer links in a slice: whole chains only, the innermost first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "preload/profile/links.h"
#include "tests/unit/profile/fakes.h"

enum { A = 0x7ffd0000 };

static uintptr_t code;
static uint64_t pcs[SAMPLE_MAX_PCS];

static struct links_input input_of(const uint64_t *slice, size_t words)
{
	return (struct links_input){
		.generation = 5,
		.slice = (const uint8_t *)slice,
		.slice_address = A,
		.slice_size = words * 8,
	};
}

static int start(void **unused)
{
	forget_fakes(unused);
	code = fake_module("a.wasm", "aa");
	return 0;
}

static void test_dead_frames_do_not_count(void **unused)
{
	/* Below the living chain: one that ends in the host, a falling link, one out of the slice.
	 */
	uint64_t slice[] = {
		A + 0x10,  code + WORK + 1,
		0x10,	   0x20, /* ends at the host's word */
		A,	   code + WORK + 2,
		A + 0x999, code + WORK + 3, /* falls; leaves */
		A + 0x50,  code + WORK + 4,
		A + 0x60,  code + ENTRY + 4, /* lives */
		0,	   0,
	};
	struct links_input input = input_of(slice, ARRAY_SIZE(slice));

	(void)unused;
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 2);
	assert_true(pcs[0] == code + WORK + 4);
	assert_true(pcs[1] == code + ENTRY + 4);
	slice[11] = code + MAIN + 4;
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 0);
}

static void test_outer_activations_follow(void **unused)
{
	uint64_t slice[] = {
		A + 0x10, code + WORK + 1, A + 0x80, code + ENTRY + 1, 7, 8,
		A + 0x40, code + MAIN + 2, A + 0x90, code + ENTRY + 2, 9,
	};
	struct links_input input = input_of(slice, ARRAY_SIZE(slice));

	(void)unused;
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 5);
	assert_true(pcs[1] == code + ENTRY + 1);
	assert_int_equal(pcs[2], 0);
	assert_true(pcs[3] == code + MAIN + 2);
	assert_true(pcs[4] == code + ENTRY + 2);
	assert_int_equal(links_callers(&input, code + WORK + 1, pcs, SAMPLE_MAX_PCS), 4);
	assert_true(pcs[0] == code + ENTRY + 1);
	assert_int_equal(pcs[1], 0);
	assert_int_equal(links_callers(&input, code + WORK + 99, pcs, SAMPLE_MAX_PCS), 0);
	/* Too little room: what fits, and no more. */
	assert_int_equal(links_find(&input, pcs, 2), 2);
	assert_int_equal(links_find(&input, pcs, 1), 0);
	assert_int_equal(links_callers(&input, code + WORK + 1, pcs, 0), 0);
}

static void test_edges(void **unused)
{
	uint64_t slice[] = { code + ENTRY + 1, A, code + ENTRY + 1 };
	struct links_input input = input_of(slice, 0);

	(void)unused;
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 0);
	input = input_of(slice, 1); /* no link below the first word */
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 0);
	input = input_of(slice, 3);
	assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 1);
	assert_int_equal(links_glue_below(&input, code + ENTRY + 1), 0);
	assert_null(links_symbol(&input, 0));
	assert_null(links_symbol(&input, 0x1234));
	input.slice_address = UINT64_MAX - 7; /* a hostile address wraps around */
	links_find(&input, pcs, SAMPLE_MAX_PCS);
}

/* A guest that fills its stack with links must not keep our thread busy. */
static void test_a_slice_full_of_links_is_read_once(void **unused)
{
	enum { WORDS_COUNT = SAMPLE_MAX_SLICE / 8 };
	static uint64_t slice[WORDS_COUNT];
	struct links_input input = input_of(slice, WORDS_COUNT);
	struct timespec before, after;

	(void)unused;
	for (size_t i = 0; i + 1 < WORDS_COUNT; i += 2) {
		slice[i] = A + (i + 2) * 8;
		slice[i + 1] = code + WORK + 1;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	for (int i = 0; i < 20; i++)
		assert_int_equal(links_find(&input, pcs, SAMPLE_MAX_PCS), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	/* Followed from each word anew it would be 2 million steps a time, and over a second here.
	 */
	assert_true((after.tv_sec - before.tv_sec) * 1000 +
			    (after.tv_nsec - before.tv_nsec) / 1000000 <
		    500);
}

#define LINKS_TEST(test) cmocka_unit_test_setup(test, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINKS_TEST(test_dead_frames_do_not_count),
		LINKS_TEST(test_outer_activations_follow),
		LINKS_TEST(test_edges),
		LINKS_TEST(test_a_slice_full_of_links_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
