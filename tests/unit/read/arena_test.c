/* SPDX-License-Identifier: MIT */
/* arena_test.c - zeroed and aligned memory, within a bound that no sum of sizes gets around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/arena.h"

#include <string.h>

static void gives_zeroed_aligned_memory(void **state)
{
	struct arena arena = { .limit = 16 << 20 };

	(void)state;
	for (size_t size = 0; size < 5000; size++) {
		uint8_t *bytes = arena_alloc(&arena, 1, size);

		assert_non_null(bytes);
		assert_int_equal((uintptr_t)bytes % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes[i], 0);
		memset(bytes, 0xff, size);
	}
	assert_non_null(arena_alloc(&arena, 3 << 20, 1));
	arena_free(&arena);
}

static void keeps_to_its_limit(void **state)
{
	struct arena arena = { .limit = 2 << 20 };

	(void)state;
	assert_null(arena_alloc(&arena, SIZE_MAX / 2, 16));
	assert_true(arena.failed);
	arena.failed = false;
	assert_null(arena_alloc(&arena, 3 << 20, 1));
	assert_non_null(arena_alloc(&arena, 1500 << 10, 1));
	assert_non_null(arena_alloc(&arena, 400 << 10, 1));
	assert_null(arena_alloc(&arena, 400 << 10, 1));
	assert_true(arena.used <= arena.limit);
	arena_free(&arena);
}

static void copies_texts(void **state)
{
	struct arena arena = { .limit = 2 << 20 };

	(void)state;
	assert_string_equal(arena_text(&arena, (const uint8_t *)"ab\0c", 4), "ab?c");
	assert_string_equal(arena_text(&arena, NULL, 0), "");
	assert_null(arena_text(&arena, (const uint8_t *)"", SIZE_MAX));
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_zeroed_aligned_memory),
		cmocka_unit_test(keeps_to_its_limit),
		cmocka_unit_test(copies_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
