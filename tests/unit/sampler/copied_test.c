/* SPDX-License-Identifier: MIT */
/* copied_test.c - whole pieces, pieces that end early, pieces that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "preload/sampler/copied.h"

enum { PAGE = 4096, PAGES = 16 };

static struct copied copied;
static uint8_t *memory;

/* Sixteen pages, the sixth of which is not there. */
static int setup(void **unused)
{
	(void)unused;
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	for (int i = 0; i < PAGES * PAGE; i++)
		memory[i] = (uint8_t)(i / 8 * 7);
	munmap(memory + 5 * PAGE, PAGE);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	munmap(memory, 5 * PAGE);
	munmap(memory + 6 * PAGE, (PAGES - 6) * PAGE);
	return 0;
}

static void take(size_t from, size_t to, size_t expected)
{
	copied_take(&copied, (uintptr_t)memory + from, (uintptr_t)memory + to);
	assert_int_equal(copied.size, expected);
	assert_memory_equal(copied.bytes, memory + from, expected);
}

static void copies_what_is_there(void **unused)
{
	(void)unused;
	take(64, 3 * PAGE + 8, 3 * PAGE - 56);
	take(64, 64, 0);
	take(64, 8, 0);
	take(64, 64 + 15, 8);
	/* Up to the hole, from within a page and from its start. */
	take(PAGE + 72, 7 * PAGE, 4 * PAGE - 72);
	take(4 * PAGE, 6 * PAGE, PAGE);
	take(5 * PAGE, 6 * PAGE, 0);
	/* No more than a slice; no end is known. */
	take(6 * PAGE, 16 * PAGE, SAMPLE_MAX_SLICE);
	copied_take(&copied, (uintptr_t)memory, UINTPTR_MAX);
	assert_int_equal(copied.size, 5 * PAGE);
}

static void answers_words(void **unused)
{
	uint64_t word = 1, expected;

	(void)unused;
	take(64, 128, 64);
	assert_true(copied_word(&copied, (uintptr_t)memory + 64, &word));
	memcpy(&expected, memory + 64, sizeof(expected));
	assert_true(word == expected);
	assert_true(copied_word(&copied, (uintptr_t)memory + 120, &word));
	memcpy(&expected, memory + 120, sizeof(expected));
	assert_true(word == expected);
	assert_false(copied_word(&copied, (uintptr_t)memory + 56, &word));
	assert_false(copied_word(&copied, (uintptr_t)memory + 124, &word));
	assert_false(copied_word(&copied, (uintptr_t)memory + 128, &word));
	assert_false(copied_word(&copied, 0, &word));
	assert_false(copied_word(&copied, UINTPTR_MAX, &word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_what_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_words, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
