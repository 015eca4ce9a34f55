/* SPDX-License-Identifier: MIT */
/* unwind_test.c - real stacks of this process, from captured registers and slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <zlib.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/stacks.h"

static void test_own_stack(void **state)
{
	size_t i;

	(void)state;
	level_three(level_two);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	/* the chain is without gaps: the three levels stand next to each other */
	for (i = 0; i < self.frame_count && self.frames[i].pc != self.expected[0]; i++)
		;
	assert_int_equal(self.frames[i + 1].pc, self.expected[1]);
	assert_int_equal(self.frames[i + 2].pc, self.expected[2]);
	assert_int_equal(self.frames[0].pc, self.capture.registers[16]);
	for (i = 1; i + 1 < self.frame_count; i++)
		assert_true(self.frames[i].cfa > self.frames[i - 1].cfa);
}

static int compare_and_capture(const void *left, const void *right)
{
	if (self.count == 1) {
		expect_frame(CALLED_FROM());
		level_two();
	}
	KEEP_FRAME();
	return *(const int *)left - *(const int *)right;
}

static __attribute__((noinline)) void sort_something(void)
{
	int numbers[] = { 2, 1 };

	expect_frame(CALLED_FROM());
	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare_and_capture);
	KEEP_FRAME();
}

static void test_through_libc(void **state)
{
	(void)state;
	sort_something();
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
}

static voidpf capture_in_allocator(voidpf opaque, uInt items, uInt size)
{
	(void)opaque, (void)items, (void)size;
	expect_frame(CALLED_FROM());
	capture_here(&self.capture);
	KEEP_FRAME();
	return NULL;
}

typedef int (*deflate_init_function)(z_streamp, int, int, int, int, int, const char *, int);

static __attribute__((noinline)) void deflate_something(deflate_init_function deflate_init)
{
	z_stream stream = { .zalloc = capture_in_allocator };

	expect_frame(CALLED_FROM());
	(void)deflate_init(&stream, 6, Z_DEFLATED, 15, 8, 0, ZLIB_VERSION, sizeof(stream));
	KEEP_FRAME();
}

/* zlib is built without frame pointers, and is not loaded before the test. */
static void test_through_opened_library(void **state)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	deflate_init_function deflate_init;
	uintptr_t base = 0;
	const char *name;

	(void)state;
	if (library == NULL)
		skip();
	deflate_init = (deflate_init_function)dlsym(library, "deflateInit2_");
	assert_non_null(deflate_init);
	deflate_something(deflate_init);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	name = unwind_object_name(self.expected[0], &base);
	assert_non_null(name);
	assert_non_null(strstr(name, "libz.so"));
	assert_true(base != 0 && base < self.expected[0]);
	dlclose(library);
}

static void test_object_names(void **state)
{
	uintptr_t base = 0;
	const char *name;
	Dl_info info;

	(void)state;
	name = unwind_object_name((uintptr_t)test_object_names, &base);
	assert_non_null(name);
	assert_non_null(strstr(name, "unwind_test"));
	assert_int_not_equal(dladdr((void *)test_object_names, &info), 0);
	assert_int_equal(base, (uintptr_t)info.dli_fbase);
	assert_null(unwind_object_name(0x1000, &base));
}

static void test_slice_cut_short(void **state)
{
	struct unwind_frame whole[FRAMES];
	size_t count, size;

	(void)state;
	level_three(level_two);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	count = self.frame_count;
	memcpy(whole, self.frames, sizeof(whole));
	for (size = 0; size < self.capture.size; size += 8) {
		struct unwind_input input = capture_input(&self.capture, 1);
		enum unwind_end end;
		size_t i;

		input.slice_size = size;
		end = unwind(&input, self.frames, FRAMES, &self.frame_count);
		if (end == UNWIND_COMPLETE)
			break;
		assert_int_equal(end, UNWIND_SLICE_END);
		assert_in_range(self.frame_count, 1, count);
		for (i = 0; i < self.frame_count; i++)
			assert_int_equal(self.frames[i].pc, whole[i].pc);
	}
	assert_true(size > 0 && size < self.capture.size);
	assert_int_equal(self.frame_count, count);
}

static bool is_expected(void *context, uint64_t pc)
{
	return pc == *(const uint64_t *)context;
}

static void test_stop_and_depth(void **state)
{
	struct unwind_input input;
	size_t count;

	(void)state;
	level_three(level_two);
	input = capture_input(&self.capture, 1);
	input.stop = is_expected;
	input.context = &self.expected[1];
	assert_int_equal(unwind(&input, self.frames, FRAMES, &count), UNWIND_STOPPED);
	assert_int_equal(self.frames[count - 1].pc, self.expected[1]);
	input.stop = NULL;
	assert_int_equal(unwind(&input, self.frames, 3, &count), UNWIND_TOO_DEEP);
	assert_int_equal(count, 3);
}

/* Registers and slices that make no sense end at once, with the leaf. */
static void test_nonsense(void **state)
{
	static const uint64_t values[] = { 0, 1, 8, 0x7fffffffffff, 0x800000000000, UINT64_MAX };
	size_t i, number;

	(void)state;
	level_three(level_two);
	for (number = 0; number < UNWIND_REGISTERS; number++) {
		uint64_t saved = self.capture.registers[number];

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			self.capture.registers[number] = values[i];
			(void)unwind_capture(1);
			assert_in_range(self.frame_count, 1, FRAMES);
		}
		self.capture.registers[number] = saved;
	}
	memset(self.capture.slice, 0x41, sizeof(self.capture.slice));
	assert_int_not_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frame_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_own_stack, begin),
		cmocka_unit_test_setup(test_through_libc, begin),
		cmocka_unit_test_setup(test_through_opened_library, begin),
		cmocka_unit_test_setup(test_object_names, begin),
		cmocka_unit_test_setup(test_slice_cut_short, begin),
		cmocka_unit_test_setup(test_stop_and_depth, begin),
		cmocka_unit_test_setup(test_nonsense, begin),
	};

	main_return = CALLED_FROM();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
