/* SPDX-License-Identifier: MIT */
/* perfmap_test.c - lines as writers have them, and lines that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "symtab/perfmap.h"

static void reads_what_writers_write(void **state)
{
	static const struct {
		const char *line, *name;
		uintptr_t start;
		size_t size;
	} cases[] = {
		{ "41bf2ce0 8f Guest:Busy (long,int)", "Guest:Busy (long,int)", 0x41bf2ce0, 0x8f },
		{ "0x00007f0000001000 0x40 long Guest.busy(long, int)",
		  "long Guest.busy(long, int)", 0x7f0000001000, 0x40 },
		{ "7F00AB 1  two blanks\r", "two blanks", 0x7f00ab, 1 },
		{ "ffffffffffffffff 0 x", NULL, 0, 0 },
		{ "fffffffffffffff0 f end", "end", UINTPTR_MAX - 15, 15 },
		{ "1000 10 caf\xc3\xa9 \x01\xff", "caf\xc3\xa9 \x01\xff", 0x1000, 0x10 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perfmap_entry entry;

		assert_int_equal(perfmap_line(cases[i].line, strlen(cases[i].line), &entry),
				 cases[i].name != NULL);
		if (cases[i].name == NULL)
			continue;
		assert_int_equal(entry.start, cases[i].start);
		assert_int_equal(entry.size, cases[i].size);
		assert_int_equal(entry.name_length, strlen(cases[i].name));
		assert_memory_equal(entry.name, cases[i].name, entry.name_length);
	}
}

static void refuses_what_is_none(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"1000",
		"1000 ",
		"1000 10",
		"1000 10 ",
		"1000 10    \r",
		"0 10 nowhere",
		"1000 0 nothing",
		"x 10 name",
		"1000 y name",
		"0x 10 name",
		"-1 10 name",
		"12345678901234567 10 seventeen digits",
		"ffffffffffffffff 2 beyond the end",
	};
	struct perfmap_entry entry;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(perfmap_line(lines[i], strlen(lines[i]), &entry));
	/* the length is all that counts */
	assert_false(perfmap_line("1000 10 name", 7, &entry));
	assert_true(perfmap_line("1000 10 name", 9, &entry));
	assert_int_equal(entry.name_length, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_writers_write),
		cmocka_unit_test(refuses_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
