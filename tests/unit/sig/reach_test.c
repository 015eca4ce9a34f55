/* SPDX-License-Identifier: MIT */
/* reach_test.c - what may be read, asked of real mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/sig/reach.h"
#include "preload/sig/thread.h"

static void mapped_and_unmapped(void **unused)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t start = (uintptr_t)pages;
	struct reach reach = { .page = 1 };

	(void)unused;
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	errno = 77;
	assert_true(reach_word(&reach, start));
	assert_true(reach_word(&reach, start + 4088));
	assert_false(reach_word(&reach, start + 4096));
	assert_true(reach_word(&reach, start + 8192));
	assert_false(reach_word(&reach, start + 4)); /* not aligned */
	assert_int_equal(reach_span(&reach, start, start + 8192), start + 4096);
	assert_int_equal(reach_span(&reach, start + 16, start + 32), start + 32);
	assert_int_equal(reach_span(&reach, start + 4096, start + 8192), start + 4096);
	/* behind the last address: nothing, not what is at the first */
	assert_true(reach_span(&reach, (uintptr_t)-136, (uintptr_t)-136 + 65536) ==
		    (uintptr_t)-136);
	munmap(pages, 3 * 4096);
	reach.page = 1;
	assert_false(reach_word(&reach, start));
	assert_int_equal(errno, 77);
}

static void impossible_addresses(void **unused)
{
	const uintptr_t impossible[] = { 0, 8, 0x8000000000000000u, 0xffff800000000000u,
					 UINTPTR_MAX - 15 };
	struct reach reach = { .page = 1 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(impossible); i++) {
		assert_false(reach_word(&reach, impossible[i]));
		assert_int_equal(reach_span(&reach, impossible[i], impossible[i] + 8),
				 impossible[i]);
	}
}

static void bounds_are_not_asked_for(void **unused)
{
	struct thread thread = { .tid = 1 };
	struct reach reach;
	uintptr_t sp = 0x10010;

	(void)unused;
	/* Nothing is mapped there: only the bounds can say yes. */
	assert_false(reach_init(&reach, &thread, sp));
	assert_false(reach_word(&reach, sp));
	atomic_store(&thread.stack_start, 0x10000);
	atomic_store(&thread.stack_end, 0x20000);
	assert_true(reach_init(&reach, &thread, sp));
	assert_true(reach_word(&reach, sp));
	assert_true(reach_word(&reach, 0x1fff8));
	assert_false(reach_word(&reach, 0x20000));
	assert_false(reach_word(&reach, 0x10008)); /* below sp */
	assert_int_equal(reach_span(&reach, sp, 0x30000), 0x20000);
	assert_false(reach_init(&reach, &thread, 0x20000));
	assert_false(reach_init(&reach, &thread, 0xfff8));
}

static void truncated_file_is_unreadable(void **unused)
{
	char name[] = "/tmp/reach_test.XXXXXX";
	struct reach reach = { .page = 1 };
	int fd = mkstemp(name);
	char *page;

	(void)unused;
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, 4096), 0);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_true(reach_word(&reach, (uintptr_t)page));
	assert_int_equal(ftruncate(fd, 0), 0);
	reach.page = 1;
	assert_false(reach_word(&reach, (uintptr_t)page));
	munmap(page, 4096);
	close(fd);
}

static void signal_mask_stays(void **unused)
{
	struct reach reach = { .page = 1 };
	sigset_t before, after;
	uint64_t all = ~0ull;

	(void)unused;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	sigprocmask(SIG_SETMASK, NULL, &before);
	assert_true(reach_page(&reach, (uintptr_t)&all));
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_and_unmapped),
		cmocka_unit_test(impossible_addresses),
		cmocka_unit_test(bounds_are_not_asked_for),
		cmocka_unit_test(truncated_file_is_unreadable),
		cmocka_unit_test(signal_mask_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
