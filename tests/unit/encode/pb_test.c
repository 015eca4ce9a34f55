/* SPDX-License-Identifier: MIT */
/*
 * pb_test.c - what is written is read back, and what is damaged is not read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/encode/pb.h"

static struct pb_reader reader_of(const struct pb_writer *writer)
{
	return (struct pb_reader){ .at = writer->bytes, .end = writer->bytes + writer->size };
}

static void test_golden_bytes(void **unused)
{
	/* The examples of protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in 2.
	 */
	static const uint8_t expected[] = { 0x08, 0x96, 0x01, 0x12, 0x07, 't',	'e',  's',  't',
					    'i',  'n',	'g',  0x1a, 0x03, 0x08, 0x96, 0x01, 0x32,
					    0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05 };
	static const uint64_t packed[] = { 3, 270, 86942 };
	struct pb_writer writer = { 0 };
	size_t mark;

	(void)unused;
	pb_varint(&writer, 1, 150);
	pb_string(&writer, 2, "testing");
	mark = pb_begin(&writer, 3);
	pb_varint(&writer, 1, 150);
	pb_end(&writer, mark);
	pb_packed(&writer, 6, packed, ARRAY_SIZE(packed));
	assert_int_equal(writer.error, 0);
	assert_int_equal(writer.size, sizeof(expected));
	assert_memory_equal(writer.bytes, expected, sizeof(expected));
	pb_free(&writer);
}

static void test_varints_at_every_width(void **unused)
{
	struct pb_writer writer = { 0 };
	struct pb_reader reader;
	struct pb_field field;

	(void)unused;
	for (int bit = 0; bit < 64; bit++) {
		pb_varint(&writer, 1, (uint64_t)1 << bit);
		pb_varint(&writer, 1, ((uint64_t)1 << bit) - 1);
	}
	pb_varint(&writer, (1 << 29) - 1, UINT64_MAX);
	reader = reader_of(&writer);
	for (int bit = 0; bit < 64; bit++) {
		assert_true(pb_next(&reader, &field));
		assert_true(field.value == (uint64_t)1 << bit);
		assert_true(pb_next(&reader, &field));
		assert_true(field.value == ((uint64_t)1 << bit) - 1);
	}
	assert_true(pb_next(&reader, &field));
	assert_int_equal(field.number, (1 << 29) - 1);
	assert_true(field.value == UINT64_MAX);
	assert_false(pb_next(&reader, &field));
	assert_int_equal(reader.error, 0);
	pb_free(&writer);
}

/* Lengths at which the length of the length changes. */
static void test_nested_messages_of_every_length(void **unused)
{
	static const size_t sizes[] = { 0, 1, 126, 127, 128, 129, 16382, 16383, 16384, 70000 };
	uint8_t *bytes = calloc(1, 70000);

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct pb_writer writer = { 0 };
		struct pb_reader reader;
		struct pb_field outer, inner;
		size_t mark = pb_begin(&writer, 5);

		pb_bytes(&writer, 6, bytes, sizes[i]);
		pb_end(&writer, mark);
		pb_varint(&writer, 7, 1);
		reader = reader_of(&writer);
		assert_true(pb_next(&reader, &outer));
		assert_int_equal(outer.number, 5);
		assert_true(pb_next(&reader, &inner));
		assert_int_equal(inner.number, 7);
		reader = (struct pb_reader){ .at = outer.bytes, .end = outer.bytes + outer.size };
		assert_true(pb_next(&reader, &inner));
		assert_int_equal(inner.size, sizes[i]);
		assert_false(pb_next(&reader, &inner));
		assert_int_equal(reader.error, 0);
		pb_free(&writer);
	}
	free(bytes);
}

/* From every size a pad leads to the page with one skippable field. */
static void test_pads_from_every_size(void **unused)
{
	enum { PAGE = 512 };
	static const uint8_t zeros[3 * PAGE];

	(void)unused;
	for (size_t size = 0; size < sizeof(zeros); size++) {
		struct pb_writer writer = { 0 };
		struct pb_reader reader;
		struct pb_field field;
		size_t before;

		pb_bytes(&writer, 1, zeros, size);
		before = writer.size;
		pb_pad(&writer, 1000, PAGE);
		assert_int_equal(writer.size % PAGE, 0);
		assert_true(writer.size < before + PAGE + 3);
		reader = reader_of(&writer);
		assert_true(pb_next(&reader, &field));
		assert_int_equal(field.size, size);
		assert_int_equal(pb_next(&reader, &field), before % PAGE != 0);
		assert_false(pb_next(&reader, &field));
		assert_int_equal(reader.error, 0);
		pb_free(&writer);
	}
}

static void expect_damage(const void *bytes, size_t size)
{
	struct pb_reader reader = { .at = bytes, .end = (const uint8_t *)bytes + size };
	struct pb_field field;

	assert_false(pb_next(&reader, &field));
	assert_int_equal(reader.error, -EINVAL);
	assert_ptr_equal(reader.at, bytes);
	assert_false(pb_next(&reader, &field));
}

static void test_damage_is_an_error(void **unused)
{
	(void)unused;
	expect_damage("\x08", 1);					   /* no value */
	expect_damage("\x08\x96", 2);					   /* torn varint */
	expect_damage("\x00\x01", 2);					   /* field 0 */
	expect_damage("\x0b\x0c", 2);					   /* a group */
	expect_damage("\x12\x05hell", 6);				   /* runs past the end */
	expect_damage("\x09\0\0\0\0\0\0\0", 8);				   /* short fixed64 */
	expect_damage("\x0d\0\0\0", 4);					   /* short fixed32 */
	expect_damage("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11); /* over 64 bits */
	expect_damage("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12); /* too long */
	expect_damage("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);     /* length 2^64-1 */
	expect_damage("\xff\xff\xff\xff\x7f\x01", 6); /* field number over 2^29-1 */
}

static void sum(void *context, uint64_t value)
{
	*(uint64_t *)context += value;
}

static void test_repeated_varints_packed_or_not(void **unused)
{
	struct pb_field torn = { .wire = 2, .bytes = (const uint8_t *)"\x01\x80", .size = 2 };
	struct pb_field packed = { .wire = 2, .bytes = (const uint8_t *)"\x01\x80\x01", .size = 3 };
	struct pb_field single = { .wire = 0, .value = 7 }, fixed = { .wire = 5 };
	uint64_t total = 0;

	(void)unused;
	assert_int_equal(pb_each_varint(&packed, sum, &total), 0);
	assert_int_equal(total, 129);
	assert_int_equal(pb_each_varint(&single, sum, &total), 0);
	assert_int_equal(total, 136);
	assert_int_equal(pb_each_varint(&torn, sum, &total), -EINVAL);
	assert_int_equal(pb_each_varint(&fixed, sum, &total), -EINVAL);
}

static void test_a_failed_writer_stays_failed(void **unused)
{
	struct pb_writer writer = { .error = -ENOMEM };
	size_t mark;

	(void)unused;
	pb_varint(&writer, 1, 1);
	mark = pb_begin(&writer, 2);
	pb_string(&writer, 1, "x");
	pb_end(&writer, mark);
	pb_pad(&writer, 3, 4096);
	pb_bytes(&writer, 4, "x", SIZE_MAX / 2);
	assert_int_equal(writer.size, 0);
	assert_int_equal(writer.error, -ENOMEM);
	pb_free(&writer);
	/* A size that no allocation can have is the same as one that fails. */
	pb_bytes(&writer, 4, "x", SIZE_MAX / 2);
	assert_int_equal(writer.error, -ENOMEM);
	pb_free(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_bytes),
		cmocka_unit_test(test_varints_at_every_width),
		cmocka_unit_test(test_nested_messages_of_every_length),
		cmocka_unit_test(test_pads_from_every_size),
		cmocka_unit_test(test_damage_is_an_error),
		cmocka_unit_test(test_repeated_varints_packed_or_not),
		cmocka_unit_test(test_a_failed_writer_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
