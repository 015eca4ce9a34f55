/* SPDX-License-Identifier: MIT */
/*
 * addrmap_test.c - text offset to wasm position in both formats, and in hostile ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/addrmap.h"
#include "tests/unit/symtab/fixture.h"

enum { NONE = -1 };

struct pair {
	uint32_t offset;
	int64_t position;
};

/* A function at 0x10 with positions 100, none, 90, and one at 0x40 that begins with none. */
static const struct pair pairs[] = {
	{ 0x10, 100 }, { 0x14, NONE }, { 0x20, 90 }, { 0x28, NONE }, { 0x40, NONE }, { 0x44, 300 },
};

static struct bytes plain(const struct pair *list, uint32_t count)
{
	struct bytes map = { 0 };
	uint32_t i;

	bytes_u32(&map, count);
	for (i = 0; i < count; i++)
		bytes_u32(&map, list[i].offset);
	for (i = 0; i < count; i++)
		bytes_u32(&map, (uint32_t)list[i].position);
	return map;
}

static struct bytes blocks(const struct pair *list, uint32_t count)
{
	struct bytes map = { 0 }, bodies = { 0 };
	uint32_t i, offset = 0;
	int64_t before = NONE;

	bytes_u32(&map, count);
	bytes_u32(&map, (count + 127) / 128);
	for (i = 0; i < count; i++) {
		if (i % 128 == 0) {
			bytes_u32(&map, list[i].offset);
			bytes_u32(&map, (uint32_t)bodies.size);
			offset = list[i].offset;
			before = NONE;
		}
		bytes_uleb(&bodies,
			   (uint64_t)(list[i].offset - offset) << 1 | (list[i].position == NONE));
		offset = list[i].offset;
		if (list[i].position == NONE)
			continue;
		if (before == NONE)
			bytes_uleb(&bodies, (uint64_t)list[i].position);
		else
			bytes_sleb(&bodies, list[i].position - before);
		before = list[i].position;
	}
	bytes_add(&map, bodies.bytes, bodies.size);
	bytes_free(&bodies);
	map.bytes = realloc(map.bytes, map.size);
	return map;
}

static int64_t find(const struct bytes *bytes, uint64_t start, uint64_t offset)
{
	struct addrmap map = addrmap_of(bytes->bytes, bytes->size, 0);
	uint32_t position;

	return addrmap_find(&map, start, offset, &position) ? (int64_t)position : NONE;
}

static int64_t first(const struct bytes *bytes, uint64_t start, uint64_t end)
{
	struct addrmap map = addrmap_of(bytes->bytes, bytes->size, 0);
	uint32_t position;

	return addrmap_first(&map, start, end, &position) ? (int64_t)position : NONE;
}

/* low << 32 | high, or NONE */
static int64_t extent(const struct bytes *bytes, uint64_t start, uint64_t end)
{
	struct addrmap map = addrmap_of(bytes->bytes, bytes->size, 0);
	uint32_t low, high;

	if (!addrmap_extent(&map, start, end, &low, &high))
		return NONE;
	return (int64_t)((uint64_t)low << 32 | high);
}

static void check_extents(const struct bytes *map)
{
	const int64_t first_function = (int64_t)90 << 32 | 100;
	const int64_t second_function = (int64_t)300 << 32 | 300;

	assert_int_equal(extent(map, 0x10, 0x40), first_function);
	assert_int_equal(extent(map, 0, 0x44), first_function);
	assert_int_equal(extent(map, 0x11, 0x40), (int64_t)90 << 32 | 90);
	assert_int_equal(extent(map, 0x40, 0x80), second_function);
	assert_int_equal(extent(map, 0, UINT64_MAX), (int64_t)90 << 32 | 300);
	assert_int_equal(extent(map, 0x40, 0x44), NONE);
	assert_int_equal(extent(map, 0x45, UINT64_MAX), NONE);
	assert_int_equal(extent(map, 0x20, 0x20), NONE);
}

static void check_pairs(const struct bytes *map)
{
	assert_int_equal(find(map, 0x10, 0x0f), NONE);
	assert_int_equal(find(map, 0x10, 0x10), 100);
	assert_int_equal(find(map, 0x10, 0x13), 100);
	assert_int_equal(find(map, 0x10, 0x14), 100); /* none takes the one before */
	assert_int_equal(find(map, 0x10, 0x1f), 100);
	assert_int_equal(find(map, 0x10, 0x20), 90);
	assert_int_equal(find(map, 0x10, 0x3f), 90);
	assert_int_equal(find(map, 0x40, 0x40), NONE); /* but not that of another function */
	assert_int_equal(find(map, 0x40, 0x43), NONE);
	assert_int_equal(find(map, 0x40, 0x44), 300);
	assert_int_equal(find(map, 0x40, 0xffffffff), 300);
	assert_int_equal(first(map, 0x10, 0x40), 100);
	assert_int_equal(first(map, 0x11, 0x40), 90);
	assert_int_equal(first(map, 0x40, 0x80), 300);
	assert_int_equal(first(map, 0x40, 0x44), NONE);
	assert_int_equal(first(map, 0x45, UINT64_MAX), NONE);
	assert_int_equal(first(map, 0, 1), NONE);
}

static void reads_both_formats(void **state)
{
	struct bytes map = plain(pairs, ARRAY_SIZE(pairs));

	(void)state;
	check_pairs(&map);
	check_extents(&map);
	bytes_free(&map);
	map = blocks(pairs, ARRAY_SIZE(pairs));
	check_pairs(&map);
	check_extents(&map);
	bytes_free(&map);
}

/* 1,000 entries: every seventh has a position, so that searches cross blocks. */
static void agrees_on_many_entries(void **state)
{
	struct pair list[1000];
	struct bytes old_map, new_map;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		list[i] = (struct pair){ .offset = 4 * i,
					 .position = i % 300 == 7 ? (int64_t)(5000 - i) : NONE };
	old_map = plain(list, 1000);
	new_map = blocks(list, 1000);
	for (i = 0; i < 4010; i++) {
		int64_t expected = NONE;
		uint32_t k = i / 4 < 1000 ? i / 4 : 999;

		while (k > 0 && list[k].position == NONE)
			k--;
		expected = list[k].position;
		assert_int_equal(find(&old_map, 0, i), expected);
		assert_int_equal(find(&new_map, 0, i), expected);
		assert_int_equal(find(&old_map, 4 * k, i), expected);
		assert_int_equal(find(&new_map, 4 * k, i), expected);
		assert_int_equal(find(&old_map, 4 * k + 1, i), NONE);
		assert_int_equal(find(&new_map, 4 * k + 1, i), NONE);
		assert_int_equal(first(&new_map, i, 4000), first(&old_map, i, 4000));
		assert_int_equal(first(&new_map, i, i + 700), first(&old_map, i, i + 700));
	}
	bytes_free(&old_map);
	bytes_free(&new_map);
}

static void refuses_what_does_not_add_up(void **state)
{
	struct bytes map = blocks(pairs, ARRAY_SIZE(pairs));
	size_t size;

	(void)state;
	assert_int_equal(addrmap_of(NULL, 0, 50).count, 0);
	for (size = 0; size < 16; size++)
		assert_int_equal(addrmap_of(map.bytes, size, 50).count, 0);
	map.bytes[0] = 200; /* more than one block of entries */
	assert_int_equal(addrmap_of(map.bytes, map.size, 50).count, 0);
	memset(map.bytes, 0xff, 8);
	assert_int_equal(addrmap_of(map.bytes, map.size, 50).count, 0);
	bytes_free(&map);
}

static void survives_any_byte_being_wrong(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes map = blocks(pairs, ARRAY_SIZE(pairs));
	size_t at, i;

	(void)state;
	for (at = 0; at < map.size; at++) {
		uint8_t was = map.bytes[at];

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			map.bytes[at] = values[i];
			find(&map, 0, 0x44);
			find(&map, 0x10, 0x20);
			first(&map, 0x10, 0x44);
		}
		map.bytes[at] = was;
	}
	bytes_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_formats),
		cmocka_unit_test(agrees_on_many_entries),
		cmocka_unit_test(refuses_what_does_not_add_up),
		cmocka_unit_test(survives_any_byte_being_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
