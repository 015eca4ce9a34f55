/* SPDX-License-Identifier: MIT */
/*
 * bytes_test.c - the hand-over of wasm bytes: never read after the call, never waited for in vain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/load/bytes.h"
#include "preload/load/load.h"
#include "symtab/symtab.h"

enum { PAGE = 4096, LARGE = 300 * PAGE, HUGE = 2000 * PAGE };

/* A wasm binary of SIZE bytes that ends where unreadable memory begins: one custom section. */
static uint8_t *binary(size_t size)
{
	uint8_t *pages =
		mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t body = size - 8 - 6;

	assert_ptr_not_equal(pages, MAP_FAILED);
	memcpy(pages, "\0asm\1\0\0\0\0", 9);
	for (int i = 0; i < 5; i++)
		pages[9 + i] = (uint8_t)((body >> (7 * i)) & 0x7f) | (i < 4 ? 0x80 : 0);
	pages[14] = 1;
	pages[15] = 'x';
	assert_int_equal(mprotect(pages + size, PAGE, PROT_NONE), 0);
	return pages;
}

static void drop(uint8_t *pages, size_t size)
{
	memset(pages, 0xcc, size);
	munmap(pages, size + PAGE);
}

static void test_a_small_binary_is_copied_at_once(void **unused)
{
	uint8_t *pages = binary(PAGE);
	struct load_bytes *bytes = load_bytes_begin(pages, PAGE);
	struct wasmbin *bin;

	(void)unused;
	load_bytes_end(bytes);
	drop(pages, PAGE);
	assert_false(bytes_work());
	bin = bytes_parsed(bytes);
	assert_non_null(bin);
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
	load_bytes_free(bytes);
}

static void test_a_large_one_is_read_by_our_thread(void **unused)
{
	uint8_t *pages = binary(HUGE);
	struct load_bytes *bytes = load_bytes_begin(pages, HUGE);
	struct wasmbin *bin;

	(void)unused;
	assert_true(bytes_work());
	load_bytes_end(bytes);
	drop(pages, HUGE);
	bin = bytes_parsed(bytes);
	assert_non_null(bin);
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
	load_bytes_free(bytes);
}

static void test_our_thread_came_too_late(void **unused)
{
	uint8_t *middling = binary(LARGE), *huge = binary(HUGE);
	struct load_bytes *first, *second;
	struct wasmbin *bin;

	(void)unused;
	/* LARGE is over what is copied when late, too: names come from the image then. */
	first = load_bytes_begin(middling, 100 * PAGE);
	second = load_bytes_begin(huge, HUGE);
	load_bytes_end(first);
	load_bytes_end(second);
	drop(middling, LARGE);
	drop(huge, HUGE);
	assert_false(bytes_work());
	bin = bytes_parsed(first);
	assert_non_null(bin);
	wasmbin_unref(bin);
	assert_null(bytes_parsed(second));
	load_bytes_free(first);
	load_bytes_free(second);
}

static void *our_thread(void *stop)
{
	while (!atomic_load((atomic_bool *)stop))
		bytes_work();
	return NULL;
}

static void test_racing_ends(void **unused)
{
	uint8_t *pages = binary(LARGE);
	atomic_bool stop = false;
	pthread_t thread;

	(void)unused;
	pthread_create(&thread, NULL, our_thread, &stop);
	for (int i = 0; i < 2000; i++) {
		struct load_bytes *bytes = load_bytes_begin(pages, LARGE);

		load_bytes_end(bytes);
		load_bytes_free(bytes);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	drop(pages, LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_small_binary_is_copied_at_once),
		cmocka_unit_test(test_a_large_one_is_read_by_our_thread),
		cmocka_unit_test(test_our_thread_came_too_late),
		cmocka_unit_test(test_racing_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
