/* SPDX-License-Identifier: MIT */
/*
 * guarded_test.c - memory that is not there is an answer, not a fault.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/base/guarded.h"

enum { PAGE = 4096 };

static void test_reads_what_is_there(void **unused)
{
	char from[3 * PAGE], to[3 * PAGE];

	(void)unused;
	memset(from, 'x', sizeof(from));
	errno = 77;
	assert_int_equal(guarded_read((uintptr_t)from, to, sizeof(to)), 0);
	assert_memory_equal(from, to, sizeof(to));
	assert_int_equal(guarded_memory.read(NULL, (uintptr_t)from, to, 1), 0);
	assert_int_equal(guarded_read(0, to, 0), 0);
	assert_int_equal(errno, 77);
}

static void test_faults_are_answers(void **unused)
{
	char to[2 * PAGE];
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	errno = 77;
	assert_int_equal(guarded_read((uintptr_t)pages, to, PAGE), 0);
	assert_int_equal(guarded_read((uintptr_t)pages, to, PAGE + 1), -EFAULT);
	assert_int_equal(guarded_read((uintptr_t)pages + PAGE, to, 1), -EFAULT);
	assert_int_equal(guarded_read(0, to, 8), -EFAULT);
	assert_int_equal(guarded_read(UINTPTR_MAX - 3, to, 8), -EFAULT);
	assert_int_equal(guarded_read(UINT64_C(0x8000000000000000), to, 8), -EFAULT);
	assert_int_equal(errno, 77);
	munmap(pages, 2 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_is_there),
		cmocka_unit_test(test_faults_are_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
