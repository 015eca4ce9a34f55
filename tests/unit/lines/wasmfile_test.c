/* SPDX-License-Identifier: MIT */
/* wasmfile_test.c - files are read, and what is none does not hold us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/lines/wasmfile.h"
#include "tests/unit/lines/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void reads_all_and_ends_with_a_zero(void **state)
{
	struct bytes expected = fixture_read("inline-4.wasm");
	struct wasmfile file;

	(void)state;
	assert_int_equal(wasmfile_read(&file, "tests/data/lines/inline-4.wasm"), 0);
	assert_int_equal(file.size, expected.size);
	assert_memory_equal(file.wasm, expected.bytes, expected.size);
	assert_int_equal(file.wasm[file.size], 0);
	wasmfile_free(&file);
	assert_int_equal(wasmfile_copy(&file, expected.bytes, expected.size), 0);
	assert_memory_equal(file.wasm, expected.bytes, expected.size);
	wasmfile_free(&file);
	free(expected.bytes);
}

static void refuses_what_is_no_file(void **state)
{
	char fifo[] = "/tmp/guestprof-fifo-XXXXXX", *folder = mkdtemp(fifo), path[64];
	struct wasmfile file;

	(void)state;
	assert_non_null(folder);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(wasmfile_read(&file, path), -EINVAL); /* and at once */
	unlink(path);
	rmdir(folder);
	assert_int_equal(wasmfile_read(&file, "/dev/zero"), -EINVAL);
	assert_int_equal(wasmfile_read(&file, "/tmp"), -EISDIR);
	assert_int_equal(wasmfile_read(&file, "/nowhere"), -ENOENT);
}

static void refuses_what_is_too_large(void **state)
{
	char path[] = "/tmp/guestprof-large-XXXXXX";
	int fd = mkstemp(path);
	struct wasmfile file;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, ((off_t)2 << 30) + 1), 0); /* a hole */
	assert_int_equal(wasmfile_read(&file, path), -EFBIG);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_and_ends_with_a_zero),
		cmocka_unit_test(refuses_what_is_no_file),
		cmocka_unit_test(refuses_what_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
