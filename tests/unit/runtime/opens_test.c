/* SPDX-License-Identifier: MIT */
/* opens_test.c - files are opened as asked for, and told with their descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/state.h"

static struct {
	char path[64];
	int descriptor, calls;
} told;

static void on_opened(const char *path, int descriptor)
{
	snprintf(told.path, sizeof(told.path), "%s", path);
	told.descriptor = descriptor;
	told.calls++;
}

static void expect_told(const char *path, int descriptor, int calls)
{
	assert_true(descriptor >= 0);
	assert_string_equal(told.path, path);
	assert_int_equal(told.descriptor, descriptor);
	assert_int_equal(told.calls, calls);
	close(descriptor);
}

static void descriptors(void **state_)
{
	int folder = open("/dev", O_RDONLY | O_DIRECTORY);

	(void)state_;
	assert_true(folder >= 0);
	state.on_opened = on_opened;
	expect_told("/dev/null", open("/dev/null", O_RDONLY), 1);
	expect_told("/dev/zero", open64("/dev/zero", O_RDONLY), 2);
	expect_told("null", openat(folder, "null", O_RDONLY), 3);
	expect_told("zero", openat64(folder, "zero", O_RDONLY), 4);
	errno = 0;
	assert_int_equal(open("/nothing/there", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(told.calls, 4);
	close(folder);
}

static void streams(void **state_)
{
	FILE *file;

	(void)state_;
	told.calls = 0;
	state.on_opened = on_opened;
	file = fopen("/dev/null", "r");
	assert_non_null(file);
	assert_int_equal(told.descriptor, fileno(file));
	fclose(file);
	file = fopen64("/dev/zero", "r");
	assert_non_null(file);
	assert_string_equal(told.path, "/dev/zero");
	fclose(file);
	assert_null(fopen("/nothing/there", "r"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(told.calls, 2);
}

/* The mode is an argument only with these flags. */
static void modes(void **state_)
{
	char path[] = "/tmp/opens-XXXXXX";
	struct stat status;
	int descriptor;

	(void)state_;
	state.on_opened = NULL;
	umask(0);
	assert_non_null(mkdtemp(path));
	assert_int_equal(chdir(path), 0);
	descriptor = open("made", O_CREAT | O_WRONLY, 0641);
	assert_int_equal(fstat(descriptor, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0641);
	close(descriptor);
	descriptor = open64(path, O_TMPFILE | O_RDWR, 0604);
	if (descriptor >= 0) { /* not every file system can */
		assert_int_equal(fstat(descriptor, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0604);
		close(descriptor);
	}
	assert_int_equal(unlink("made"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors),
		cmocka_unit_test(streams),
		cmocka_unit_test(modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
