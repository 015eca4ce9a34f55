/* SPDX-License-Identifier: MIT */
/* slice_test.c - how far up a slice must reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "preload/sig/sample.h"
#include "preload/sig/slice.h"
#include "tests/unit/sig/synthetic.h"

static struct synthetic s;
static struct reach reach;

static int setup(void **unused)
{
	(void)unused;
	synthetic_init(&s);
	reach = (struct reach){ .page = 1 };
	return 0;
}

static void outermost_guest_word_decides(void **unused)
{
	uintptr_t sp = (uintptr_t)&s.stack[8], limit = (uintptr_t)&s.stack[1000];
	bool cut;

	(void)unused;
	assert_int_equal(slice_end(&reach, s.ranges, sp, limit, &cut), sp);
	assert_false(cut);
	s.stack[10] = synthetic_pc(&s, CODE_INNER);
	s.stack[500] = synthetic_pc(&s, CODE_OUTER);
	s.stack[1000] = synthetic_pc(&s, CODE_OUTER); /* at the limit: not ours */
	assert_int_equal(slice_end(&reach, s.ranges, sp, limit, &cut),
			 (uintptr_t)&s.stack[501] + SLICE_MARGIN);
	assert_false(cut);
}

static void size_is_capped(void **unused)
{
	static uint64_t large[2 * SAMPLE_MAX_SLICE / 8];
	uintptr_t sp = (uintptr_t)large;
	bool cut;

	(void)unused;
	assert_int_equal(slice_size(&reach, sp, sp + sizeof(large)), SAMPLE_MAX_SLICE);
	large[SAMPLE_MAX_SLICE / 8] = synthetic_pc(&s, CODE_OUTER);
	assert_int_equal(slice_end(&reach, s.ranges, sp, sp + sizeof(large), &cut), sp);
	assert_true(cut);
}

static void memory_ends_the_slice(void **unused)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t sp = (uintptr_t)pages + 4000;
	bool cut;

	(void)unused;
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	assert_int_equal(slice_size(&reach, sp, sp + 4096), 96);
	*(uint64_t *)(pages + 4088) = synthetic_pc(&s, CODE_OUTER);
	assert_int_equal(slice_end(&reach, s.ranges, sp, sp + 4096, &cut), sp + 96 + SLICE_MARGIN);
	assert_true(cut);
	assert_int_equal(slice_size(&reach, sp, sp + 96 + SLICE_MARGIN), 96);
	munmap(pages, 8192);
}

static void impossible_stacks_give_nothing(void **unused)
{
	(void)unused;
	assert_int_equal(slice_size(&reach, 0, 100), 0);
	assert_int_equal(slice_size(&reach, (uintptr_t)s.stack + 4, (uintptr_t)s.stack + 100), 0);
	assert_int_equal(slice_size(&reach, (uintptr_t)s.stack, (uintptr_t)s.stack - 8), 0);
	assert_int_equal(slice_size(&reach, 0x8000000000000000u, 0x8000000000000100u), 0);
	assert_int_equal(slice_size(&reach, UINTPTR_MAX - 7, 100), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(outermost_guest_word_decides, setup),
		cmocka_unit_test_setup(size_is_capped, setup),
		cmocka_unit_test_setup(memory_ends_the_slice, setup),
		cmocka_unit_test_setup(impossible_stacks_give_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
