/* SPDX-License-Identifier: MIT */
/* libunwind_test.c - opening libunwind leaves no trace in the host; a missing one is said once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/unwind/libunwind.h"
#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/capture.h"

enum { SKIPPED = 77 };

static void test_open_and_close(void **state)
{
	struct libunwind library;
	const char *why = NULL;

	(void)state;
	assert_int_equal(libunwind_open(&library, LIBUNWIND_SONAME, &why), 0);
	assert_non_null(library.handle);
	assert_non_null(library.create_addr_space);
	assert_non_null(library.set_caching_policy);
	/* local: neither the host nor a library of its sees any of it */
	assert_null(dlsym(RTLD_DEFAULT, "_Ux86_64_step"));
	assert_null(dlsym(RTLD_DEFAULT, "unw_backtrace"));
	libunwind_close(&library);
	assert_null(library.handle);
}

static void test_not_there(void **state)
{
	struct libunwind library;
	const char *why = NULL;

	(void)state;
	assert_int_equal(libunwind_open(&library, "libunwind-nowhere.so.8", &why), -ENOENT);
	assert_null(library.handle);
	assert_non_null(strstr(why, "libunwind-nowhere"));
}

static void test_wrong_library(void **state)
{
	struct libunwind library;
	const char *why = NULL;

	(void)state;
	assert_int_equal(libunwind_open(&library, "libc.so.6", &why), -ENOENT);
	assert_null(library.handle);
	assert_string_equal(why, "_Ux86_64_create_addr_space");
}

static size_t count_lines(const char *path, const char *needle)
{
	FILE *file = fopen(path, "r");
	char line[1100];
	size_t count = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		count += strstr(line, needle) != NULL;
	if (file != NULL)
		fclose(file);
	return count;
}

/* In a mount namespace where the library's file is empty: everything but host frames goes on. */
static int without_library(const char *log_file)
{
	static struct capture capture;
	struct unwind_frame frames[16];
	struct unwind_input input;
	size_t count = 1;
	Dl_info info;
	void *handle = dlopen(LIBUNWIND_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL || dladdr(dlsym(handle, "_Ux86_64_step"), &info) == 0)
		return SKIPPED;
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("/dev/null", info.dli_fname, NULL, MS_BIND, NULL) != 0)
		return SKIPPED;
	dlclose(handle);
	log_configure(LOG_ERROR, log_file);
	capture_here(&capture);
	input = capture_input(&capture, 1);
	if (unwind_start() != -ENOENT || unwind_start() != -ENOENT)
		return 1;
	/* then our own stepper does it all */
	if (unwind(&input, frames, ARRAY_SIZE(frames), &count) != UNWIND_COMPLETE || count < 3)
		return 2;
	return count_lines(log_file, "libunwind") == 1 ? 0 : 3;
}

static void test_unavailable(void **state)
{
	char path[] = "/tmp/libunwind_test.XXXXXX";
	int status = 0, descriptor = mkstemp(path);
	pid_t child;

	(void)state;
	assert_true(descriptor >= 0);
	close(descriptor);
	child = fork();
	if (child == 0)
		_exit(without_library(path));
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(path);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED) {
		print_message("skipped: no mount namespace of our own\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static size_t open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (folder != NULL && readdir(folder) != NULL)
		count++;
	if (folder != NULL)
		closedir(folder);
	return count;
}

/* Its first use may make descriptors (it does, up to 1.6); later ones must not. */
static void test_descriptors(void **state)
{
	static struct capture capture;
	struct unwind_frame frames[64];
	struct unwind_input input;
	size_t before = open_descriptors(), after, count;
	int i;

	(void)state;
	capture_here(&capture);
	input = capture_input(&capture, 1);
	assert_int_equal(unwind_start(), 0);
	assert_int_equal(unwind(&input, frames, ARRAY_SIZE(frames), &count), UNWIND_COMPLETE);
	after = open_descriptors();
	print_message("descriptors made by the first use: %zu\n", after - before);
	for (i = 0; i < 100; i++)
		(void)unwind(&input, frames, ARRAY_SIZE(frames), &count);
	assert_int_equal(open_descriptors(), after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_and_close), cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_wrong_library),  cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
