/* SPDX-License-Identifier: MIT */
/* syscalls_test.c - the kernel's line about a thread, good and damaged, and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sampler/syscalls.h"
#include "preload/sampler/tasks.h"

static void a_running_thread(void **unused)
{
	struct syscalls_line line;

	(void)unused;
	assert_int_equal(syscalls_parse("running\n", &line), 0);
	assert_int_equal(line.state, SYSCALLS_RUNNING);
	assert_int_equal(syscalls_descriptor(&line), -1);
}

static void a_thread_in_a_call(void **unused)
{
	char text[SYSCALLS_NAME_SIZE];
	struct syscalls_line line;

	(void)unused;
	assert_int_equal(
		syscalls_parse("0 0x5 0x7ffd10 0x8 0x0 0x0 0x0 0x7ffe00 0x7f1234567890\n", &line),
		0);
	assert_int_equal(line.state, SYSCALLS_INSIDE);
	assert_int_equal(line.number, SYS_read);
	assert_int_equal(line.first, 5);
	assert_int_equal(line.stack_pointer, 0x7ffe00);
	assert_int_equal(line.pc, 0x7f1234567890);
	assert_string_equal(syscalls_describe(&line, text), "[read]");
	assert_int_equal(syscalls_descriptor(&line), 5);
}

static void a_thread_asleep_outside_of_calls(void **unused)
{
	char text[SYSCALLS_NAME_SIZE];
	struct syscalls_line line;

	(void)unused;
	assert_int_equal(syscalls_parse("-1 0x7ffe00 0x7f1234567890\n", &line), 0);
	assert_int_equal(line.state, SYSCALLS_OUTSIDE);
	assert_int_equal(line.stack_pointer, 0x7ffe00);
	assert_int_equal(line.pc, 0x7f1234567890);
	assert_string_equal(syscalls_describe(&line, text), "[page fault]");
	assert_int_equal(syscalls_descriptor(&line), -1);
}

static void damaged_lines(void **unused)
{
	static const char whole[] = "7 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe00 0x7f00\n";
	static const char *const bad[] = {
		"",
		"\n",
		"running",
		"asleep\n",
		"-2 0x1 0x2\n",
		"-1 0x1\n",
		" 1 0x1 0x2\n",
		"1 1 2 3 4 5 6 7 8\n",
		"1 0x 0x 0x 0x 0x 0x 0x 0x\n",
		"1 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n",
		"1 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x11111111111111111\n",
		"99999999999999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
	};
	struct syscalls_line line;
	char cut[sizeof(whole)];

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(syscalls_parse(bad[i], &line), -EINVAL);
	for (size_t length = 0; length < strlen(whole); length++) {
		snprintf(cut, sizeof(cut), "%.*s", (int)length, whole);
		assert_int_equal(syscalls_parse(cut, &line), -EINVAL);
	}
	assert_int_equal(syscalls_parse(whole, &line), 0);
}

static void names_and_descriptors(void **unused)
{
	static const struct {
		long number;
		uint64_t first;
		const char *name;
		int descriptor;
	} known[] = {
		{ SYS_futex, 5, "[futex]", -1 },
		{ SYS_epoll_wait, 9, "[epoll_wait]", 9 },
		{ SYS_clock_nanosleep, 1, "[clock_nanosleep]", -1 },
		{ SYS_poll, 3, "[poll]", -1 },
		{ SYS_openat, 0xffffff9c, "[openat]", -1 },    /* AT_FDCWD */
		{ SYS_read, 0xffffffff00000007, "[read]", 7 }, /* an int in a register */
		{ 99999, 5, "[syscall 99999]", -1 },
	};
	char text[SYSCALLS_NAME_SIZE];

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct syscalls_line line = { .state = SYSCALLS_INSIDE,
					      .number = known[i].number,
					      .first = known[i].first };

		assert_string_equal(syscalls_describe(&line, text), known[i].name);
		assert_int_equal(syscalls_descriptor(&line), known[i].descriptor);
	}
}

static void the_kernel_s_own_line(void **unused)
{
	struct syscalls_line line;
	char text[256];
	pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)unused;
	/* Of oneself the kernel says what one is doing: reading that file. */
	assert_true(tasks_read_file(tid, "syscall", text, sizeof(text)) > 0);
	assert_int_equal(syscalls_parse(text, &line), 0);
	assert_int_equal(line.number, SYS_read);
	assert_true(line.stack_pointer < (uintptr_t)__builtin_frame_address(0));
	assert_int_equal(tasks_read_file(0x7fffffff, "syscall", text, sizeof(text)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_thread),
		cmocka_unit_test(a_thread_in_a_call),
		cmocka_unit_test(a_thread_asleep_outside_of_calls),
		cmocka_unit_test(damaged_lines),
		cmocka_unit_test(names_and_descriptors),
		cmocka_unit_test(the_kernel_s_own_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
