/* SPDX-License-Identifier: MIT */
/*
 * gzip_test.c - a file comes back from its compressed copy, or the time it would take is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "preload/encode/gzip.h"

#define SECOND_NS 1000000000ull

static int file_of(const uint8_t *bytes, size_t size)
{
	FILE *file = tmpfile();
	int fd = dup(fileno(file));

	assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
	fclose(file);
	return fd;
}

/* Half noise, half pattern: it compresses some. */
static uint8_t *make_bytes(size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	uint32_t noise = 1;

	for (size_t i = 0; i < size; i++) {
		noise = noise * 1664525 + 1013904223;
		bytes[i] = i % 2 != 0 ? (uint8_t)(i / 100) : (uint8_t)(noise >> 24);
	}
	return bytes;
}

/* Closes TO. */
static void expect_content(int to, const uint8_t *bytes, size_t size)
{
	uint8_t *back = malloc(size + 1);
	gzFile file;

	lseek(to, 0, SEEK_SET);
	file = gzdopen(to, "rb");
	assert_int_equal(gzread(file, back, (unsigned int)size + 1), (int)size);
	assert_false(gzdirect(file));
	assert_memory_equal(bytes, back, size);
	assert_int_equal(gzclose(file), Z_OK);
	free(back);
}

static void expect_round_trip(size_t size)
{
	uint8_t *bytes = make_bytes(size);
	int from = file_of(bytes, size), to = file_of(bytes, 0);

	assert_int_equal(gzip_file(from, size, to, 60 * SECOND_NS), 0);
	expect_content(to, bytes, size);
	close(from);
	free(bytes);
}

static void test_round_trips(void **unused)
{
	(void)unused;
	expect_round_trip(1);
	expect_round_trip(4096);
	expect_round_trip(64 * 1024);
	expect_round_trip(64 * 1024 + 1);
	expect_round_trip(5000000);
}

/* What stands behind SIZE is a chunk that was not written whole. */
static void test_only_the_size_given(void **unused)
{
	int from = file_of((const uint8_t *)"wholetorn", 9), to = file_of(NULL, 0);
	char back[16] = "";
	gzFile file;

	(void)unused;
	assert_int_equal(gzip_file(from, 5, to, SECOND_NS), 0);
	lseek(to, 0, SEEK_SET);
	file = gzdopen(to, "rb");
	assert_int_equal(gzread(file, back, sizeof(back)), 5);
	assert_string_equal(back, "whole");
	gzclose(file);
	close(from);
}

static void test_the_budget_is_kept(void **unused)
{
	size_t size = 8 << 20;
	uint8_t *bytes = make_bytes(size);
	int from = file_of(bytes, size), to = file_of(bytes, 0);
	struct stat facts;

	(void)unused;
	assert_int_equal(gzip_file(from, size, to, 1000), -ETIME);
	assert_int_equal(fstat(to, &facts), 0);
	assert_true(facts.st_size < 2 << 20); /* it stopped early */
	close(from);
	close(to);
	free(bytes);
}

/* Whether FROM's SIZE bytes, within BUDGET_NS, became a file that says it was made fast. */
static bool is_made_fast(int from, const uint8_t *bytes, size_t size, uint64_t budget_ns)
{
	int to = file_of(NULL, 0), error = gzip_file(from, size, to, budget_ns);
	uint8_t head[10] = { 0 }; /* RFC 1952: the ninth byte, XFL, is 4 for the fastest */

	if (error != 0) {
		assert_int_equal(error, -ETIME);
		close(to);
		return false;
	}
	assert_int_equal(pread(to, head, sizeof(head), 0), (ssize_t)sizeof(head));
	expect_content(to, bytes, size);
	return head[8] == 4;
}

/* Messages of one shape, as in a recording: the fast way takes a seventh of the time. */
static uint8_t *make_records(size_t size)
{
	static const uint8_t record[16] = {
		0x12, 0x18, 0x0a, 0, 0, 1, 2, 3, 0, 7, 8, 9, 9, 0, 3, 0
	};
	uint8_t *bytes = malloc(size);
	uint32_t noise = 1;

	for (size_t i = 0; i < size; i += sizeof(record)) {
		noise = noise * 1664525 + 1013904223;
		memcpy(bytes + i, record, sizeof(record));
		bytes[i + 3] = noise >> 24 & 31;
		bytes[i + 4] = noise >> 16 & 15;
		bytes[i + 8] = (uint8_t)(i >> 10);
		bytes[i + 13] = noise >> 20 & 7;
	}
	return bytes;
}

/* How long either way takes is the machine's business: budgets are tried until only one fits. */
static void test_what_is_too_slow_is_made_fast(void **unused)
{
	enum { SIZE = 4 << 20, TRIES = 40 };
	uint8_t *bytes = make_records(SIZE);
	int from = file_of(bytes, SIZE);
	uint64_t budget_ns = SECOND_NS / 4;
	bool is_fast = false;

	(void)unused;
	for (int i = 0; i < TRIES && !is_fast; i++) {
		is_fast = is_made_fast(from, bytes, SIZE, budget_ns);
		budget_ns = budget_ns > SECOND_NS / 50 ? budget_ns * 4 / 5 : SECOND_NS;
	}
	close(from);
	free(bytes);
	if (!is_fast)
		skip(); /* nothing fits on a machine that is this busy */
}

static void test_errors(void **unused)
{
	int from = file_of((const uint8_t *)"abc", 3), to = file_of(NULL, 0);

	(void)unused;
	assert_int_equal(gzip_file(from, 10, to, SECOND_NS), -EIO); /* shorter than told */
	assert_int_equal(gzip_file(-1, 10, to, SECOND_NS), -EBADF);
	assert_int_equal(gzip_file(from, 3, -1, SECOND_NS), -EBADF);
	close(from);
	close(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_only_the_size_given),
		cmocka_unit_test(test_the_budget_is_kept),
		cmocka_unit_test(test_what_is_too_slow_is_made_fast),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
