/* SPDX-License-Identifier: MIT */
/* jitdump_test.c - records as the specification has them, cut off and contradicting ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "symtab/jitdump.h"

static uint8_t bytes[8192];
static size_t size;

static void put(uint64_t value, size_t width)
{
	memcpy(bytes + size, &value, width);
	size += width;
}

static void put_text(const char *text)
{
	memcpy(bytes + size, text, strlen(text) + 1);
	size += strlen(text) + 1;
}

/* Sets the size of the record that begins at START. */
static void end_record(size_t start)
{
	uint32_t total = (uint32_t)(size - start);

	memcpy(bytes + start + 4, &total, sizeof(total));
}

static void put_load(const char *name, size_t code_size)
{
	size_t start = size;

	put(0, 4), put(0, 4), put(77, 8);
	put(1, 4), put(2, 4), put(0x7000, 8), put(0x7000, 8), put(code_size, 8), put(5, 8);
	put_text(name);
	memset(bytes + size, 0xc3, code_size);
	size += code_size;
	end_record(start);
}

static void put_move(void)
{
	size_t start = size;

	put(1, 4), put(0, 4), put(78, 8);
	put(1, 4), put(2, 4), put(0x8000, 8), put(0x7000, 8), put(0x8000, 8), put(16, 8), put(5, 8);
	end_record(start);
}

static void put_header(uint32_t magic, uint32_t version, uint32_t total, uint64_t flags)
{
	put(magic, 4), put(version, 4), put(total, 4), put(62, 4);
	put(0, 4), put(4242, 4), put(9, 8), put(flags, 8);
}

static int clear(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	size = 0;
	return 0;
}

static void headers(void **state)
{
	struct jitdump_header header;

	(void)state;
	put_header(0x4a695444, 1, 48, 0);
	assert_int_equal(jitdump_header(bytes, &header), 0);
	assert_int_equal(header.size, 48);
	assert_int_equal(header.pid, 4242);
	assert_false(header.has_own_clock);
	size = 0;
	put_header(0x4a695444, 1, 40, 1);
	assert_int_equal(jitdump_header(bytes, &header), 0);
	assert_true(header.has_own_clock);
	size = 0;
	put_header(0x4454694a, 1, 40, 0); /* the other byte order */
	assert_int_equal(jitdump_header(bytes, &header), -EINVAL);
	size = 0;
	put_header(0x4a695444, 2, 40, 0);
	assert_int_equal(jitdump_header(bytes, &header), -EINVAL);
	size = 0;
	put_header(0x4a695444, 1, 39, 0);
	assert_int_equal(jitdump_header(bytes, &header), -EINVAL);
}

static void loads_and_moves(void **state)
{
	struct jitdump_record record;
	size_t first, second;

	(void)state;
	put_load("evalexpr_0_1", 16);
	first = size;
	put_move();
	second = size;
	assert_int_equal(jitdump_record(bytes, size, size, &record), 0);
	assert_int_equal(record.kind, JITDUMP_LOAD);
	assert_int_equal(record.size, first);
	assert_int_equal(record.time, 77);
	assert_int_equal(record.start, 0x7000);
	assert_int_equal(record.code_size, 16);
	assert_int_equal(record.name_length, strlen("evalexpr_0_1"));
	assert_memory_equal(record.name, "evalexpr_0_1", record.name_length);
	assert_int_equal(jitdump_record(bytes + first, size - first, size - first, &record), 0);
	assert_int_equal(record.kind, JITDUMP_MOVE);
	assert_int_equal(record.size, second - first);
	assert_int_equal(record.start, 0x7000);
	assert_int_equal(record.to, 0x8000);
}

/* The code lies beyond what is looked at. */
static void long_records(void **state)
{
	struct jitdump_record record;

	(void)state;
	put_load("big", 6000);
	assert_int_equal(jitdump_record(bytes, JITDUMP_WINDOW, size, &record), 0);
	assert_int_equal(record.size, size);
	assert_int_equal(record.name_length, 3);
	assert_int_equal(jitdump_record(bytes, JITDUMP_WINDOW, size - 1, &record), -EAGAIN);
}

static void incomplete_ones_wait(void **state)
{
	struct jitdump_record record;

	(void)state;
	put_load("name", 4);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(jitdump_record(bytes, i, i, &record), -EAGAIN);
}

static void contradictions(void **state)
{
	struct jitdump_record record;
	uint32_t total;

	(void)state;
	put_load("name", 4);
	for (total = 0; total < 56; total++) {
		memcpy(bytes + 4, &total, sizeof(total));
		assert_int_equal(jitdump_record(bytes, size, size, &record), -EINVAL);
	}
	/* no name at all; one that nothing ends */
	memcpy(bytes + 4, &total, sizeof(total));
	assert_int_equal(jitdump_record(bytes, size, size, &record), 0);
	assert_int_equal(record.name_length, 0);
	total = 58;
	memcpy(bytes + 4, &total, sizeof(total));
	assert_int_equal(jitdump_record(bytes, size, size, &record), 0);
	assert_int_equal(record.name_length, 2);
}

static void others_are_passed_over(void **state)
{
	static const uint32_t ids[] = { 2, 4, 5, 1000 };
	struct jitdump_record record;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		size = 0;
		put(ids[i], 4), put(0, 4), put(1, 8), put(0, 8);
		end_record(0);
		assert_int_equal(jitdump_record(bytes, size, size, &record), 0);
		assert_int_equal(record.kind, JITDUMP_OTHER);
		assert_int_equal(record.size, 24);
	}
	size = 0;
	put(3, 4), put(16, 4), put(1, 8);
	assert_int_equal(jitdump_record(bytes, size, size, &record), 0);
	assert_int_equal(record.kind, JITDUMP_CLOSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(headers, clear),
		cmocka_unit_test_setup(loads_and_moves, clear),
		cmocka_unit_test_setup(long_records, clear),
		cmocka_unit_test_setup(incomplete_ones_wait, clear),
		cmocka_unit_test_setup(contradictions, clear),
		cmocka_unit_test_setup(others_are_passed_over, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
