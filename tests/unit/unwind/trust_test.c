/* SPDX-License-Identifier: MIT */
/* trust_test.c - unwind programs that compilers make are trusted, ones that trap are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "preload/unwind/trust.h"
#include "tests/unit/unwind/tables.h"

enum { TABLES = 0x10000, TEXT = 0x20000 };

static int read_bytes(void *context, uintptr_t address, void *out, size_t size)
{
	const struct bytes *bytes = context;

	if (address < TABLES || address - TABLES > bytes->size ||
	    size > bytes->size - (address - TABLES))
		return -EFAULT;
	memcpy(out, bytes->at + (address - TABLES), size);
	return 0;
}

static bool is_trusted(const void *program, size_t size)
{
	struct bytes bytes = { 0 };
	size_t cie = put_cie(&bytes, "zR", 0x1b), at;
	struct fde fde = {
		.cie = cie,
		.encoding = 0x1b,
		.augmented = true,
		.start = TEXT,
		.size = 16,
		.program = program,
		.program_size = size,
	};

	at = put_fde(&bytes, &fde, TABLES);
	return trust_fde(&(struct memory){ .read = read_bytes, .context = &bytes }, TABLES + at);
}

#define PROGRAM(bytes) bytes, sizeof(bytes) - 1

static void test_programs(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool trusted;
	} cases[] = {
		{ PROGRAM(""), true },
		{ PROGRAM("\x44\x0e\x30\x0a\x46\x0e\x08\x0b"), true },
		/* a PLT's: breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
		{ PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), true },
		{ PROGRAM("\x10\x06\x02\x77\x08"), true },
		{ PROGRAM("\x12\x07\x08\x13\x08\x2e\x10\x02\x05\x03\x05\x00\x04\x05\x00\x00\x00"),
		  true },
		{ PROGRAM("\x0f\x03\x31\x30\x1b"), false },
		{ PROGRAM("\x16\x10\x0c\x0e\x00\x00\x00\x00\x00\x00\x00\x80\x31\x1f\x1b"), false },
		{ PROGRAM("\x09\x03\x0c"), true }, /* rbx is in r12 */
		{ PROGRAM("\x09\x03\x11"), false },
		{ PROGRAM("\x09\x03\xff\xff\x03"), false },
		{ PROGRAM("\x0c\x11\x08"), false },
		{ PROGRAM("\x92\x01"), false }, /* offset(r18) */
		{ PROGRAM("\xd2"), false },
		{ PROGRAM("\x0e\x1b"), true }, /* an offset, not an operation */
		{ PROGRAM("\x0f\x7f\x31"), false },
		{ PROGRAM("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false },
		{ PROGRAM("\x15\x09\x07\xd0\x7e"), false },
		{ PROGRAM("\x3f"), false }, /* libunwind might go on behind it */
	};
	char deep[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (is_trusted(cases[i].bytes, cases[i].size) != cases[i].trusted)
			fail_msg("case %zu", i);
	}
	memset(deep, 0x0a, sizeof(deep));
	assert_false(is_trusted(deep, sizeof(deep)));
	for (i = 1; i < sizeof(deep); i += 2)
		deep[i] = 0x0b;
	assert_true(is_trusted(deep, sizeof(deep)));
}

static void test_records(void **state)
{
	struct bytes bytes = { 0 };
	struct memory memory = { .read = read_bytes, .context = &bytes };
	size_t cie;

	(void)state;
	cie = put_cie(&bytes, "zR", 0x1b);
	assert_false(trust_fde(&memory, TABLES + cie)); /* not an FDE */
	assert_false(trust_fde(&memory, TABLES - 8));
	assert_false(trust_fde(&memory, TABLES + bytes.size));
	bytes.size = 0;
	put_u32(&bytes, 0x7fffffff);
	put_u32(&bytes, 4);
	assert_false(trust_fde(&memory, TABLES));
	bytes.size = 0;
	put_u32(&bytes, 8);
	put_u32(&bytes, 0x1000);
	put_u32(&bytes, 0);
	assert_false(trust_fde(&memory, TABLES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
