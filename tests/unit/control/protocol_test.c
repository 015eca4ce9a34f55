/* SPDX-License-Identifier: MIT */
/*
 * protocol_test.c - lines of the control socket: there and back, and what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "preload/control/protocol.h"

static struct protocol_line line;
static struct protocol_text text;

static int parse(const char *bytes)
{
	return protocol_parse(&line, bytes, strlen(bytes));
}

static void there_and_back(void **unused)
{
	static const char *const values[] = {
		"plain", "", "two words", "100%", "a=b", "\x1b[2J\n\t\x7f", "\xc3\xa9 \xff", "../x",
	};
	char key[8];

	(void)unused;
	protocol_begin(&text, "ok");
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		snprintf(key, sizeof(key), "k%zu", i);
		protocol_add(&text, key, values[i]);
	}
	protocol_add_number(&text, "most", UINT64_MAX);
	protocol_end(&text);
	assert_false(text.is_full);
	assert_int_equal(text.bytes[text.size - 1], '\n');
	/* One line, whatever is in it. */
	assert_ptr_equal(memchr(text.bytes, '\n', text.size), text.bytes + text.size - 1);
	assert_int_equal(protocol_parse(&line, text.bytes, text.size - 1), 0);
	assert_string_equal(line.word, "ok");
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		snprintf(key, sizeof(key), "k%zu", i);
		assert_string_equal(protocol_value(&line, key), values[i]);
	}
	assert_null(protocol_value(&line, "k99"));
}

static void numbers(void **unused)
{
	uint64_t number = 7;

	(void)unused;
	assert_int_equal(parse("guestprof/1 x a=0 b=18446744073709551615 c=18446744073709551616 "
			       "d=-1 e= f=1x g=%31 h=500"),
			 0);
	assert_int_equal(protocol_number(&line, "a", UINT64_MAX, &number), 0);
	assert_true(number == 0);
	assert_int_equal(protocol_number(&line, "b", UINT64_MAX, &number), 0);
	assert_true(number == UINT64_MAX);
	for (const char *bad = "cdef"; *bad != '\0'; bad++) {
		char key[2] = { *bad, '\0' };

		assert_int_equal(protocol_number(&line, key, UINT64_MAX, &number), -EINVAL);
	}
	assert_int_equal(protocol_number(&line, "g", 10, &number), 0);
	assert_int_equal(protocol_number(&line, "h", 499, &number), -EINVAL);
	assert_int_equal(protocol_number(&line, "z", 499, &number), -ENOENT);
}

static void other_lines(void **unused)
{
	static const char *const bad[] = {
		"",
		"guestprof",
		"guestprof/1",
		"guestprof/1 ",
		"guestprof/ status",
		"guestprof/1x status",
		"Guestprof/1 status",
		"guestprof/1 status a",
		"guestprof/1 status =b",
		"guestprof/1 s a=%",
		"guestprof/1 s a=%4",
		"guestprof/1 s a=%zz",
		"guestprof/1 s a=%00",
		"guestprof/1 s a=b=c",
		"guestprof/1 s  a=b",
		"guestprof/1 s a=b ",
		"guestprof/1 s\ta=b",
		"GET / HTTP/1.1\r",
		"guestprof/1 s a=\xff",
	};
	char many[PROTOCOL_REPLY_MAX] = "guestprof/1 s";

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i]), -EINVAL);
	assert_int_equal(parse("guestprof/2 status"), -EPROTONOSUPPORT);
	assert_int_equal(parse("guestprof/99999999999999999999 status"), -EPROTONOSUPPORT);
	assert_int_equal(protocol_parse(&line, "guestprof/1 s\0a=b", 17), -EINVAL);
	for (int i = 0; i <= PROTOCOL_PAIRS_MAX; i++)
		strcat(many, " a=b");
	assert_int_equal(parse(many), -EINVAL);
	memset(many, 'a', sizeof(many));
	assert_int_equal(protocol_parse(&line, many, sizeof(many)), -EINVAL);
}

static void a_full_line_stays_a_line(void **unused)
{
	static char value[PROTOCOL_REPLY_MAX / 2];

	(void)unused;
	memset(value, '%', sizeof(value) - 1);
	protocol_begin(&text, "ok");
	protocol_add(&text, "a", "b");
	protocol_add(&text, "long", value);
	protocol_add(&text, "c", "d");
	protocol_end(&text);
	assert_true(text.is_full);
	assert_int_equal(protocol_parse(&line, text.bytes, text.size - 1), 0);
	assert_int_equal(line.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(numbers),
		cmocka_unit_test(other_lines),
		cmocka_unit_test(a_full_line_stays_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
