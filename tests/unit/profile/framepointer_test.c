/* SPDX-License-Identifier: MIT */
/* framepointer_test.c - which word of the stack becomes the frame pointer that nobody told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/framepointer.h"
#include "tests/unit/profile/fakes.h"

enum { HOST = 0x400100, WORDS_COUNT = 64, PLACE = 0x7ffd0000 };

static uint64_t stack[WORDS_COUNT];
static struct unwind_frame room[UNWIND_MAX_FRAMES];
static uintptr_t code;

/* A host function needs its frame pointer; above it is another, then the guest. */
static int start(void **unused)
{
	forget_fakes(unused);
	memset(stack, 0, sizeof(stack));
	code = fake_module("a.wasm", "aaaaaaaa");
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST, HOST + 16, HOST + 32, code + WORK + 9, 0));
	fake_unwinder.frames[0].cfa = PLACE + 8 * 8;
	return 0;
}

/* What becomes of the register. */
static uint64_t find(void)
{
	struct sample *sample = make_sample(SAMPLE_HOST, 0, NULL, 0, stack, WORDS_COUNT);
	uint64_t found;

	sample->words[6] = 5;
	framepointer_find(NULL, sample, room);
	found = sample_registers(sample)[6];
	free(sample);
	return found;
}

static void the_right_one_is_found(void **unused)
{
	(void)unused;
	/* Return addresses: below the frame in question, at an odd place, and two that could be. */
	stack[3] = stack[12] = stack[15] = stack[21] = HOST + 64;
	fake_unwinder.frame_pointer = PLACE + 20 * 8;
	assert_int_equal(find(), PLACE + 20 * 8);
	assert_int_equal(fake_unwinder.calls, 3);
}

static void none_is_needed(void **unused)
{
	(void)unused;
	stack[21] = HOST + 64;
	assert_int_equal(find(), 5);
	assert_int_equal(fake_unwinder.calls, 1);
}

static void none_is_right(void **unused)
{
	(void)unused;
	for (int i = 0; i < WORDS_COUNT; i++)
		stack[i] = HOST + 64;
	fake_unwinder.frame_pointer = 77;
	assert_int_equal(find(), 5);
	assert_in_range(fake_unwinder.calls, 2, 30);
}

/* Nothing to unwind with, and nothing to unwind. */
static void not_to_be_had(void **unused)
{
	struct sample *sample = make_sample(SAMPLE_HOST, 0, NULL, 0, NULL, 0);

	(void)unused;
	framepointer_find(NULL, sample, room);
	assert_int_equal(fake_unwinder.calls, 0);
	free(sample);
	fake_unwind(UNWIND_UNAVAILABLE, WORDS(0));
	stack[21] = HOST + 64;
	assert_int_equal(find(), 5);
	assert_int_equal(fake_unwinder.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_right_one_is_found, start),
		cmocka_unit_test_setup(none_is_needed, start),
		cmocka_unit_test_setup(none_is_right, start),
		cmocka_unit_test_setup(not_to_be_had, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
