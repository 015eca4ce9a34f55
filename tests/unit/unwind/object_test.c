/* SPDX-License-Identifier: MIT */
/* object_test.c - .eh_frame_hdr as linkers write it, without a table, and as a liar writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "preload/unwind/object.h"
#include "tests/unit/unwind/tables.h"

enum { PAGE = 4096, FUNCTIONS = 3, HEADER = 1024, TABLES = 2048 };

/* One page: code from 0, .eh_frame_hdr at HEADER, .eh_frame at TABLES. */
struct fixture {
	uint8_t *memory;
	uint64_t address;
	uint64_t fdes[FUNCTIONS];
	struct object_place place;
};

static void put_header(struct fixture *fixture, uint8_t version, uint8_t count_encoding,
		       uint32_t count)
{
	uint64_t header = fixture->address + HEADER;
	struct bytes bytes = { 0 };
	uint32_t i;

	put_u8(&bytes, version);
	put_u8(&bytes, 0x1b);
	put_u8(&bytes, count_encoding);
	put_u8(&bytes, 0x3b);
	put_pointer(&bytes, 0x1b, fixture->address + TABLES, header);
	put_u32(&bytes, count);
	for (i = 0; i < FUNCTIONS; i++) {
		put_u32(&bytes, (uint32_t)(fixture->address + i * 64 - header));
		put_u32(&bytes, (uint32_t)(fixture->fdes[i] - header));
	}
	memcpy(fixture->memory + HEADER, bytes.at, bytes.size);
	fixture->place.header_size = bytes.size;
}

static struct fixture make(void)
{
	struct fixture fixture = { 0 };
	struct bytes bytes = { 0 };
	size_t cie, i;

	fixture.memory =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(fixture.memory, MAP_FAILED);
	fixture.address = (uintptr_t)fixture.memory;
	cie = put_cie(&bytes, "zR", 0x1b);
	for (i = 0; i < FUNCTIONS; i++) {
		struct fde fde = {
			.cie = cie,
			.encoding = 0x1b,
			.augmented = true,
			.start = fixture.address + i * 64,
			.size = 64,
			.program = "",
		};

		fixture.fdes[i] =
			fixture.address + TABLES + put_fde(&bytes, &fde, fixture.address + TABLES);
	}
	put_u32(&bytes, 0);
	memcpy(fixture.memory + TABLES, bytes.at, bytes.size);
	fixture.place = (struct object_place){
		.base = fixture.address,
		.low = fixture.address,
		.high = fixture.address + PAGE,
		.code_low = fixture.address,
		.code_high = fixture.address + FUNCTIONS * 64,
		.header = fixture.address + HEADER,
		.header_end = fixture.address + PAGE,
	};
	return fixture;
}

static void assert_finds_all(struct object *object, const struct fixture *fixture)
{
	uintptr_t fde = 0;
	size_t i;

	for (i = 0; i < FUNCTIONS; i++) {
		assert_true(object_find_fde(object, fixture->address + i * 64, &fde));
		assert_int_equal(fde, fixture->fdes[i]);
		assert_true(object_find_fde(object, fixture->address + i * 64 + 63, &fde));
		assert_int_equal(fde, fixture->fdes[i]);
	}
	assert_false(object_find_fde(object, fixture->address - 1, &fde));
}

static void test_search_table(void **state)
{
	struct fixture fixture = make();
	struct object *object;

	(void)state;
	put_header(&fixture, 1, 0x03, FUNCTIONS);
	object = object_new(&fixture.place, "test");
	assert_non_null(object);
	assert_finds_all(object, &fixture);
	/* all of it was copied, so that it may go */
	munmap(fixture.memory, PAGE);
	assert_finds_all(object, &fixture);
	object_free(object);
}

static void test_no_search_table(void **state)
{
	struct fixture fixture = make();
	struct object *object;

	(void)state;
	put_header(&fixture, 1, 0xff, 0);
	object = object_new(&fixture.place, "test");
	assert_finds_all(object, &fixture);
	assert_int_equal(object->table_count, 0);
	munmap(fixture.memory, PAGE);
	object_free(object);
}

/* The count says 4 billion: no more than the header holds is looked at. */
static void test_lying_headers(void **state)
{
	struct fixture fixture = make();
	struct object *object;
	uintptr_t fde;

	(void)state;
	put_header(&fixture, 1, 0x03, UINT32_MAX);
	object = object_new(&fixture.place, "test");
	assert_finds_all(object, &fixture);
	assert_int_equal(object->table_count, FUNCTIONS);
	put_header(&fixture, 7, 0x03, FUNCTIONS);
	object_distrust(object);
	assert_false(object_find_fde(object, fixture.address, &fde));
	object_free(object);
	fixture.place.header_size = 11;
	object = object_new(&fixture.place, "test");
	assert_false(object_find_fde(object, fixture.address, &fde));
	object_free(object);
	munmap(fixture.memory, PAGE);
}

static void test_not_there(void **state)
{
	struct fixture fixture = make();
	struct object *object;
	uintptr_t fde = 0;

	(void)state;
	put_header(&fixture, 1, 0x03, FUNCTIONS);
	object = object_new(&fixture.place, "test");
	assert_int_equal(mprotect(fixture.memory, PAGE, PROT_NONE), 0);
	assert_false(object_find_fde(object, fixture.address, &fde));
	assert_true(object->pages.missed);
	assert_int_equal(mprotect(fixture.memory, PAGE, PROT_READ), 0);
	object_fetch_tables(object);
	munmap(fixture.memory, PAGE);
	assert_finds_all(object, &fixture);
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_table),
		cmocka_unit_test(test_no_search_table),
		cmocka_unit_test(test_lying_headers),
		cmocka_unit_test(test_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
