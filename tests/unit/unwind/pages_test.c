/* SPDX-License-Identifier: MIT */
/* pages_test.c - copies survive the memory, and are compared when it comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/unwind/pages.h"

enum { PAGE = 4096, COUNT = 4 };

static uint8_t *map(void *at, uint8_t fill)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED_NOREPLACE : 0);
	uint8_t *memory = mmap(at, COUNT * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, fill, COUNT * PAGE);
	return memory;
}

static void test_reads(void **state)
{
	uint8_t *memory = map(NULL, 7), out[16];
	uintptr_t low = (uintptr_t)memory, high = low + COUNT * PAGE;
	struct pages pages;

	(void)state;
	memory[PAGE - 1] = 1;
	memory[PAGE] = 2;
	pages_init(&pages, low, high);
	assert_int_equal(pages_read(&pages, low + PAGE - 8, out, 16), 0);
	assert_int_equal(out[7], 1);
	assert_int_equal(out[8], 2);
	assert_true(pages.fresh);
	assert_int_equal(pages_read(&pages, low - 1, out, 1), -EFAULT);
	assert_int_equal(pages_read(&pages, high - 4, out, 8), -EFAULT);
	assert_int_equal(pages_read(&pages, UINTPTR_MAX - 3, out, 8), -EFAULT);
	pages_drop(&pages);
	munmap(memory, COUNT * PAGE);
}

static void test_copies_outlive_memory(void **state)
{
	uint8_t *memory = map(NULL, 7), out[8];
	uintptr_t low = (uintptr_t)memory;
	size_t before = pages_total();
	struct pages pages;

	(void)state;
	pages_init(&pages, low, low + COUNT * PAGE);
	assert_int_equal(pages_read(&pages, low, out, 8), 0);
	munmap(memory, COUNT * PAGE);
	assert_int_equal(pages_read(&pages, low, out, 8), 0);
	assert_int_equal(out[0], 7);
	assert_false(pages.missed);
	assert_int_equal(pages_read(&pages, low + PAGE, out, 8), -EFAULT);
	assert_true(pages.missed);
	assert_int_equal(pages_total(), before + 1);
	pages_drop(&pages);
	assert_int_equal(pages_total(), before);
}

static void test_revive(void **state)
{
	uint8_t *memory = map(NULL, 7), out[8];
	uintptr_t low = (uintptr_t)memory;
	struct pages pages;

	(void)state;
	pages_init(&pages, low, low + COUNT * PAGE);
	pages_prefetch(&pages, low, low + 2 * PAGE);
	pages.frozen = true;
	munmap(memory, COUNT * PAGE);
	assert_true(pages_revive(&pages));
	pages.frozen = true;
	memory = map(memory, 7);
	assert_int_equal(pages_read(&pages, low + 2 * PAGE, out, 8), -EFAULT);
	assert_true(pages_revive(&pages));
	assert_int_equal(pages_read(&pages, low + 2 * PAGE, out, 8), 0);
	memory[PAGE + 5] = 8;
	assert_false(pages_revive(&pages));
	pages_drop(&pages);
	munmap(memory, COUNT * PAGE);
}

static void test_prefetch(void **state)
{
	uint8_t *memory = map(NULL, 7);
	uintptr_t low = (uintptr_t)memory;
	uint64_t before = pages_copied();
	struct pages pages;

	(void)state;
	pages_init(&pages, low, low + COUNT * PAGE);
	pages_prefetch(&pages, low + 100, low + PAGE + 1);
	assert_int_equal(pages_copied(), before + 2);
	pages_prefetch(&pages, low, low + COUNT * PAGE);
	assert_int_equal(pages_copied(), before + COUNT);
	pages_prefetch(&pages, low - PAGE, low);
	pages_prefetch(&pages, low + PAGE, low);
	pages_prefetch(&pages, low, low + (COUNT + 1) * PAGE);
	pages_prefetch(&pages, low, UINTPTR_MAX);
	assert_int_equal(pages_copied(), before + COUNT);
	pages_drop(&pages);
	munmap(memory, COUNT * PAGE);
}

/* A range no object has: nothing is allocated for it. */
static void test_absurd_range(void **state)
{
	struct pages pages;
	uint8_t out[8];

	(void)state;
	pages_init(&pages, 0x1000, UINTPTR_MAX);
	assert_int_equal(pages_read(&pages, 0x2000, out, 8), -EFAULT);
	pages_prefetch(&pages, 0x2000, 0x4000);
	pages_drop(&pages);
	pages_init(&pages, 0x2000, 0x1000);
	assert_int_equal(pages_read(&pages, 0x2000, out, 8), -EFAULT);
	pages_drop(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),	     cmocka_unit_test(test_copies_outlive_memory),
		cmocka_unit_test(test_revive),	     cmocka_unit_test(test_prefetch),
		cmocka_unit_test(test_absurd_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
