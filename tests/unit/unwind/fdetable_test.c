/* SPDX-License-Identifier: MIT */
/* fdetable_test.c - every encoding compilers use, and bytes that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>

#include "preload/unwind/fdetable.h"
#include "tests/unit/unwind/tables.h"

enum { TEXT = 0x10000000, TEXT_SIZE = 0x10000, TABLES = 0x10020000 };

/*
 * Indexes BYTES from the very end of a mapping that is followed by nothing: a read past their end
 * is a crash. Returns how many functions were kept.
 */
static size_t index_at_edge(const struct bytes *bytes, struct fdetable *table)
{
	size_t room = 8192;
	uint8_t *memory =
		mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fdetable_source source = {
		.size = bytes->size,
		.address = TABLES,
		.text = TEXT,
		.text_size = TEXT_SIZE,
	};
	size_t count;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + 4096, 4096, PROT_NONE), 0);
	memcpy(memory + 4096 - bytes->size, bytes->at, bytes->size);
	source.bytes = memory + 4096 - bytes->size;
	assert_int_equal(fdetable_index(table, &source), 0);
	count = table->count;
	munmap(memory, room);
	return count;
}

static void put_function(struct bytes *bytes, size_t cie, uint8_t encoding, uint64_t start,
			 uint64_t size)
{
	struct fde fde = {
		.cie = cie,
		.encoding = encoding,
		.augmented = true,
		.start = start,
		.size = size,
		.program = "",
	};

	put_fde(bytes, &fde, TABLES);
}

static void test_encodings(void **state)
{
	static const uint8_t encodings[] = { 0x00, 0x03, 0x04, 0x0b, 0x0c, 0x1b, 0x1c };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(encodings); i++) {
		struct fdetable table;
		struct bytes bytes = { 0 };
		size_t cie = put_cie(&bytes, "zR", encodings[i]);
		uintptr_t fde = 0, first = bytes.size;

		put_function(&bytes, cie, encodings[i], TEXT + 0x100, 0x20);
		put_function(&bytes, cie, encodings[i], TEXT + 0x200, 0x20);
		put_u32(&bytes, 0);
		assert_int_equal(index_at_edge(&bytes, &table), 2);
		assert_false(table.damaged);
		assert_int_equal(table.rejected, 0);
		assert_false(fdetable_find(&table, TEXT + 0xff, &fde));
		assert_true(fdetable_find(&table, TEXT + 0x100, &fde));
		assert_int_equal(fde, TABLES + first);
		assert_true(fdetable_find(&table, TEXT + 0x1ff, &fde));
		assert_int_equal(fde, TABLES + first);
		assert_true(fdetable_find(&table, TEXT + 0x200, &fde));
		assert_int_not_equal(fde, TABLES + first);
		fdetable_free(&table);
	}
}

/* Written last first; the table is sorted whatever the order, and records may lack a terminator. */
static void test_order_and_no_terminator(void **state)
{
	struct fdetable table;
	struct bytes bytes = { 0 };
	size_t cie = put_cie(&bytes, "zR", 0x1b), i;

	(void)state;
	for (i = 16; i-- > 0;)
		put_function(&bytes, cie, 0x1b, TEXT + i * 0x100, 0x100);
	assert_int_equal(index_at_edge(&bytes, &table), 16);
	for (i = 1; i < table.count; i++)
		assert_true(table.entries[i - 1].start < table.entries[i].start);
	fdetable_free(&table);
}

static void test_other_cies(void **state)
{
	static const struct {
		const char *augmentation;
		uint8_t encoding;
		size_t kept;
	} cases[] = {
		{ "", 0x00, 1 },
		{ "zR", 0x00, 1 },
		{ "zRS", 0x1b, 1 },
		{ "zRB", 0x1b, 1 },
		{ "zRSX", 0x1b, 0 },
		{ "X", 0x00, 0 },
		{ "eh", 0x00, 0 },
		{ "zR", 0x9b, 0 },
		{ "zR", 0x01, 0 },
		{ "zR", 0x2b, 0 },
		{ "zR", 0xff, 0 },
		{ "zP", 0x50, 0 },
		{ "z0123456789abcdef0123456789", 0x1b, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fdetable table;
		struct bytes bytes = { 0 };
		size_t cie = put_cie(&bytes, cases[i].augmentation, cases[i].encoding);
		struct fde fde = {
			.cie = cie,
			.encoding = cases[i].encoding & 0x7f,
			.augmented = cases[i].augmentation[0] == 'z',
			.start = TEXT,
			.size = 16,
			.program = "",
		};

		put_fde(&bytes, &fde, TABLES);
		assert_int_equal(index_at_edge(&bytes, &table), cases[i].kept);
		assert_int_equal(table.rejected, 1 - cases[i].kept);
		fdetable_free(&table);
	}
}

/* One good function, then what the case says. */
struct hostile {
	const char *what;
	void (*add)(struct bytes *bytes, size_t cie);
	size_t kept;
	bool damaged;
};

static void add_length_past_end(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 0x7ffffff0);
	put_u64(bytes, 0);
}

static void add_long_length_past_end(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 0xffffffff);
	put_u64(bytes, UINT64_MAX);
}

static void add_half_a_length(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put(bytes, "\x10\x00\x00", 3);
}

static void add_half_a_long_length(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 0xffffffff);
	put_u32(bytes, 8);
}

static void add_long_length(struct bytes *bytes, size_t cie)
{
	size_t field = bytes->size + 12;

	put_u32(bytes, 0xffffffff);
	put_u64(bytes, 4 + 4 + 4 + 1 + 3);
	put_u32(bytes, (uint32_t)(field - cie));
	put_pointer(bytes, 0x1b, TEXT + 0x800, TABLES);
	put_u32(bytes, 0x10);
	put_u32(bytes, 0);
}

static void add_tiny_records(struct bytes *bytes, size_t cie)
{
	int i;

	(void)cie;
	for (i = 0; i < 32; i++) {
		put_u32(bytes, 1);
		put_u8(bytes, 0);
	}
}

static void add_zero_then_more(struct bytes *bytes, size_t cie)
{
	put_u32(bytes, 0);
	put_function(bytes, cie, 0x1b, TEXT + 0x800, 0x10);
}

static void add_cie_outside(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 12);
	put_u32(bytes, 0x7fffffff);
	put_u64(bytes, 0);
}

static void add_cie_is_fde(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 12);
	put_u32(bytes, 4); /* the CIE is this FDE itself */
	put_u64(bytes, 0);
}

static void add_empty_range(struct bytes *bytes, size_t cie)
{
	put_function(bytes, cie, 0x1b, TEXT + 0x800, 0);
}

static void add_start_outside_text(struct bytes *bytes, size_t cie)
{
	put_function(bytes, cie, 0x1b, TEXT + TEXT_SIZE, 0x10);
	put_function(bytes, cie, 0x1b, TEXT - 1, 0x10);
}

static void add_cut_cie(struct bytes *bytes, size_t cie)
{
	(void)cie;
	put_u32(bytes, 6);
	put_u32(bytes, 0);
	put(bytes, "\x01z", 2); /* no end of the augmentation */
	put_u32(bytes, 12);
	put_u32(bytes, 14);
	put_u64(bytes, 0);
}

static void add_endless_leb(struct bytes *bytes, size_t cie)
{
	size_t field = bytes->size;

	(void)cie;
	put_u32(bytes, 24);
	put_u32(bytes, 0);
	put(bytes, "\x01zR\0", 4);
	memset(bytes->at + bytes->size, 0xff, 16);
	bytes->size += 16;
	put_u32(bytes, 12);
	put_u32(bytes, (uint32_t)(bytes->size - field));
	put_u64(bytes, 0);
}

static void test_hostile(void **state)
{
	static const struct hostile cases[] = {
		{ "nothing", NULL, 1, false },
		{ "length past the end", add_length_past_end, 1, true },
		{ "64-bit length past the end", add_long_length_past_end, 1, true },
		{ "half a length", add_half_a_length, 1, true },
		{ "half a 64-bit length", add_half_a_long_length, 1, true },
		{ "64-bit length", add_long_length, 2, false },
		{ "tiny records", add_tiny_records, 1, false },
		{ "more after the terminator", add_zero_then_more, 1, false },
		{ "CIE outside", add_cie_outside, 1, false },
		{ "CIE is an FDE", add_cie_is_fde, 1, false },
		{ "empty range", add_empty_range, 1, false },
		{ "start outside the text", add_start_outside_text, 1, false },
		{ "cut CIE", add_cut_cie, 1, false },
		{ "endless LEB128", add_endless_leb, 1, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fdetable table;
		struct bytes bytes = { 0 };
		size_t cie = put_cie(&bytes, "zR", 0x1b), kept;

		put_function(&bytes, cie, 0x1b, TEXT, 0x10);
		if (cases[i].add != NULL)
			cases[i].add(&bytes, cie);
		kept = index_at_edge(&bytes, &table);
		if (kept != cases[i].kept || table.damaged != cases[i].damaged)
			print_message("case: %s\n", cases[i].what);
		assert_int_equal(kept, cases[i].kept);
		assert_int_equal(table.damaged, cases[i].damaged);
		fdetable_free(&table);
	}
}

/* Any byte replaced by any of a few values, and any length: it may keep less, and must end. */
static void test_every_byte(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct bytes good = { 0 };
	size_t cie = put_cie(&good, "zR", 0x1b), i, k;

	(void)state;
	for (i = 0; i < 4; i++)
		put_function(&good, cie, 0x1b, TEXT + i * 0x100, 0x100);
	put_u32(&good, 0);
	for (i = 0; i < good.size; i++) {
		struct fdetable table;
		struct bytes bytes = good;

		for (k = 0; k < ARRAY_SIZE(values); k++) {
			bytes.at[i] = values[k];
			assert_in_range(index_at_edge(&bytes, &table), 0, 8);
			fdetable_free(&table);
		}
		bytes = good;
		bytes.size = i;
		assert_in_range(index_at_edge(&bytes, &table), 0, 4);
		fdetable_free(&table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),  cmocka_unit_test(test_order_and_no_terminator),
		cmocka_unit_test(test_other_cies), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
