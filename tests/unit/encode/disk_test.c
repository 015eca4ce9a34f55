/* SPDX-License-Identifier: MIT */
/*
 * disk_test.c - files are new, private and whole; signals of the limit stay with whom they belong
 * to.
 */
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/encode/disk.h"

static char scratch[] = "/tmp/disk_test.XXXXXX";
static int directory;

static void test_create_is_exclusive(void **unused)
{
	int fd = disk_create(directory, "new");

	(void)unused;
	assert_true(fd > 2);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(disk_create(directory, "new"), -EEXIST);
	assert_int_equal(disk_create(directory, "no/such"), -ENOENT);
	assert_int_equal(symlinkat("dangling", directory, "link"), 0);
	assert_int_equal(disk_create(directory, "link"), -EEXIST);
	assert_true(disk_exists(directory, "link"));
	assert_false(disk_exists(directory, "dangling"));
	unlinkat(directory, "new", 0);
	unlinkat(directory, "link", 0);
}

static void test_write_at_any_offset(void **unused)
{
	uint8_t bytes[10000], back[10000];
	int fd = disk_create(directory, "bytes");

	(void)unused;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	assert_int_equal(disk_write(fd, bytes, 5000, 0), 0);
	assert_int_equal(disk_write(fd, bytes + 5000, 5000, 5000), 0);
	assert_int_equal(disk_write(fd, NULL, 0, 10000), 0);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(back));
	assert_memory_equal(bytes, back, sizeof(bytes));
	close(fd);
	assert_int_equal(disk_write(fd, bytes, 1, 0), -EBADF);
	unlinkat(directory, "bytes", 0);
}

static void make_file(const char *name, const char *text)
{
	int fd = disk_create(directory, name);

	assert_int_equal(disk_write(fd, text, strlen(text), 0), 0);
	close(fd);
}

static void expect_text(const char *name, const char *text)
{
	char back[64] = "";
	int fd = openat(directory, name, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, back, sizeof(back) - 1) >= 0);
	assert_string_equal(back, text);
	close(fd);
}

static void test_rename_replaces_only_when_told(void **unused)
{
	(void)unused;
	make_file("a", "new");
	make_file("b", "old");
	assert_int_equal(disk_rename(directory, "a", "b", false), -EEXIST);
	expect_text("a", "new");
	expect_text("b", "old");
	assert_int_equal(disk_rename(directory, "a", "c", false), 0);
	expect_text("c", "new");
	assert_int_equal(disk_rename(directory, "c", "b", true), 0);
	expect_text("b", "new");
	assert_false(disk_exists(directory, "c"));
	assert_int_equal(disk_rename(directory, "none", "d", false), -ENOENT);
	unlinkat(directory, "b", 0);
}

static void test_directories(void **unused)
{
	int fd = disk_directory(scratch);

	(void)unused;
	assert_true(fd > 2);
	close(fd);
	assert_int_equal(disk_directory("/no/such/place"), -ENOENT);
	assert_int_equal(disk_directory("/etc/passwd"), -ENOTDIR);
}

static int write_over_the_limit(void)
{
	struct rlimit limit = { 8192, 8192 };
	int fd = disk_create(directory, "limit");
	uint8_t bytes[20000] = { 0 };
	sigset_t before, after, pending;

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	sigprocmask(SIG_BLOCK, NULL, &before);
	if (disk_write(fd, bytes, sizeof(bytes), 0) != -EFBIG)
		return 2;
	sigprocmask(SIG_BLOCK, NULL, &after);
	sigpending(&pending);
	if (sigismember(&pending, SIGXFSZ))
		return 3;
	for (int signal = 1; signal < NSIG; signal++)
		if (sigismember(&before, signal) != sigismember(&after, signal))
			return 4;
	return 0;
}

static void test_the_limit_does_not_kill(void **unused)
{
	pid_t pid = fork();
	int status;

	(void)unused;
	if (pid == 0)
		_exit(write_over_the_limit());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlinkat(directory, "limit", 0);
}

static int open_scratch(void **unused)
{
	(void)unused;
	if (mkdtemp(scratch) == NULL)
		return -1;
	directory = disk_directory(scratch);
	return directory < 0;
}

static int remove_scratch(void **unused)
{
	(void)unused;
	close(directory);
	return rmdir(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_is_exclusive),
		cmocka_unit_test(test_write_at_any_offset),
		cmocka_unit_test(test_rename_replaces_only_when_told),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_the_limit_does_not_kill),
	};

	return cmocka_run_group_tests(tests, open_scratch, remove_scratch);
}
