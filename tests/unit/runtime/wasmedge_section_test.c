/* SPDX-License-Identifier: MIT */
/* wasmedge_section_test.c - modules with code ahead of time, without, damaged, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/runtime/wasmedge_section.h"

enum { PAGE = 4096 };

/* In memory, behind which nothing can be read, and in a file the answer is the same. */
static bool ask(const void *bytes, size_t size)
{
	uint8_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[] = "/tmp/wasmedge-section-XXXXXX";
	int descriptor = mkstemp(path);
	bool in_bytes, in_file;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_true(descriptor >= 0);
	assert_int_equal(munmap(pages + PAGE, PAGE), 0);
	memcpy(pages + PAGE - size, bytes, size);
	assert_int_equal(write(descriptor, bytes, size), size);
	in_bytes = wasmedge_section_in_bytes(pages + PAGE - size, size);
	in_file = wasmedge_section_in_file(path);
	assert_int_equal(in_bytes, in_file);
	assert_int_equal(munmap(pages, PAGE), 0);
	assert_int_equal(close(descriptor), 0);
	assert_int_equal(unlink(path), 0);
	return in_file;
}

#define ASK(text) ask(text, sizeof(text) - 1)
#define PREAMBLE "\0asm\1\0\0\0"

static void test_universal(void **unused)
{
	(void)unused;
	assert_true(ASK(PREAMBLE "\0\012\010wasmedge\1"));
	/* behind others; a size of three bytes where one would do */
	assert_true(ASK(PREAMBLE "\1\4\1\140\0\0\0\3\1xy\0\212\200\0\010wasmedge\1"));
	/* the name's length in two bytes */
	assert_true(ASK(PREAMBLE "\0\013\210\0wasmedge\1"));
}

static void test_shared_object(void **unused)
{
	(void)unused;
	assert_true(ASK("\177ELF\2\1\1"));
}

static void test_plain(void **unused)
{
	(void)unused;
	assert_false(ASK(PREAMBLE));
	assert_false(ASK(PREAMBLE "\1\4\1\140\0\0"));
	/* another's name, one that only begins so, one that is longer */
	assert_false(ASK(PREAMBLE "\0\012\010wasmtime\1"));
	assert_false(ASK(PREAMBLE "\0\010\007wasmedg"));
	assert_false(ASK(PREAMBLE "\0\013\011wasmedge2\1"));
	/* the name in a section that is none of names */
	assert_false(ASK(PREAMBLE "\013\012\010wasmedge\1"));
}

static void test_damaged(void **unused)
{
	(void)unused;
	assert_false(ASK("\0as"));
	assert_false(ASK("(module)"));
	/* ends within the size, the name, a section that is larger than all */
	assert_false(ASK(PREAMBLE "\0"));
	assert_false(ASK(PREAMBLE "\0\012\010wasm"));
	assert_false(ASK(PREAMBLE "\1\377\377\377\377\017\0\012\010wasmedge\1"));
	/* a size that does not end */
	assert_false(ASK(PREAMBLE "\0\377\377\377\377\377\377"));
	assert_false(wasmedge_section_in_bytes(NULL, 9));
	assert_false(wasmedge_section_in_file("/nonexistent"));
	assert_false(wasmedge_section_in_file("/dev/null"));
	assert_false(wasmedge_section_in_file(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_universal),
		cmocka_unit_test(test_shared_object),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
