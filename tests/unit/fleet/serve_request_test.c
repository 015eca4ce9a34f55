/* SPDX-License-Identifier: MIT */
/* serve_request_test.c - queries, headers and addresses, also hostile ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/cmd/fleet/listening.h"
#include "preload/cmd/fleet/serve_request.h"
#include "preload/cmd/live/counting.h"
#include "preload/cmd/processkey.h"

static int take(struct serve_request *request, const char *key, const char *value)
{
	char why[SERVE_WHY_SIZE] = "";
	int error = serve_request_take(request, key, value, value != NULL ? strlen(value) : 0, why);

	assert_int_equal(error == -EINVAL, why[0] != '\0');
	return error;
}

static void test_pages(void **state)
{
	(void)state;
	assert_int_equal(serve_request_page("/"), SERVE_INDEX);
	assert_int_equal(serve_request_page("/debug/pprof"), SERVE_INDEX);
	assert_int_equal(serve_request_page("/debug/pprof/profile"), SERVE_PROFILE);
	assert_int_equal(serve_request_page("/debug/pprof/profile/"), SERVE_OTHER_PROFILE);
	assert_int_equal(serve_request_page("/debug/pprof/heap"), SERVE_OTHER_PROFILE);
	assert_int_equal(serve_request_page("/sd"), SERVE_TARGETS);
	assert_int_equal(serve_request_page("/metrics"), SERVE_METRICS);
	assert_int_equal(serve_request_page("/healthz"), SERVE_HEALTH);
	assert_int_equal(serve_request_page("/../sd"), SERVE_NOTHING);
	assert_int_equal(serve_request_page(""), SERVE_NOTHING);
}

static void test_seconds(void **state)
{
	static const char *const bad[] = {
		"0", "", "-1", "+1", " 1", "1 ", "1.5", "0x1", "301", "1e2", "99999999999999999999"
	};
	struct serve_request request = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(take(&request, "seconds", bad[i]), -EINVAL);
	assert_int_equal(request.seconds, 0);
	assert_int_equal(take(&request, "seconds", "300"), 0);
	assert_int_equal(request.seconds, 300);
	assert_int_equal(take(&request, "seconds", "299"), -EINVAL);
	assert_int_equal(take(&request, "seconds", "300"), 0);
	serve_request_free(&request);
}

static void test_wishes(void **state)
{
	struct serve_request request = { 0 }, other = { 0 };
	char why[SERVE_WHY_SIZE], text[SERVE_VALUE_MAX + 2];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(take(&request, "group", text), -EINVAL);
	assert_int_equal(serve_request_take(&request, "group", "a\0b", 3, why), -EINVAL);
	assert_int_equal(take(&request, "group", NULL), -EINVAL);
	assert_int_equal(take(&request, "grop", "a"), -EINVAL);
	assert_int_equal(take(&request, "label", "=v"), -EINVAL);
	assert_int_equal(take(&request, "group", "a"), 0);
	assert_int_equal(take(&request, "group", "a"), -EINVAL);
	assert_false(serve_request_is_same(&request, &other));
	assert_int_equal(take(&other, "group", "a"), 0);
	assert_true(serve_request_is_same(&request, &other));
	for (int i = 0; i < SUBSET_LABELS_MAX; i++)
		assert_int_equal(take(&request, "label", "k=v"), 0);
	assert_int_equal(take(&request, "label", "k=v"), -EINVAL);
	assert_false(serve_request_is_same(&request, &other));
	serve_request_free(&request);
	serve_request_free(&other);
}

static void test_tokens(void **state)
{
	static const char token[] = "0123456789abcdef";

	(void)state;
	assert_true(serve_request_is_allowed("Bearer 0123456789abcdef", token));
	assert_true(serve_request_is_allowed("bearer 0123456789abcdef", token));
	assert_false(serve_request_is_allowed(NULL, token));
	assert_false(serve_request_is_allowed("", token));
	assert_false(serve_request_is_allowed("Bearer ", token));
	assert_false(serve_request_is_allowed("Bearer 0123456789abcde", token));
	assert_false(serve_request_is_allowed("Bearer 0123456789abcdef0123456789abcdef", token));
	assert_false(serve_request_is_allowed("Bearer 0123456789abcdeF", token));
	assert_false(serve_request_is_allowed("0123456789abcdef", token));
	assert_false(serve_request_is_allowed("Bearer ", ""));
}

static void test_hosts(void **state)
{
	static const char *const ours[] = { "localhost",    "LOCALHOST:1", "127.0.0.1",
					    "127.0.0.1:80", "127.9.9.9:1", "[::1]",
					    "[::1]:6060" };
	static const char *const others[] = { "evil.example",
					      "localhost.evil.example",
					      "127.0.0.1.evil.example:80",
					      "10.0.0.1",
					      "",
					      "[::1]x",
					      "0.0.0.0" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		assert_true(serve_request_is_local(ours[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(serve_request_is_local(others[i]));
	assert_false(serve_request_is_local(NULL));
}

static void test_addresses(void **state)
{
	char text[LISTENING_TEXT_SIZE];
	bool is_loopback;
	int fd = listening_open("127.0.0.1:0", &is_loopback, text);

	(void)state;
	assert_true(fd >= 0 && is_loopback);
	assert_memory_equal(text, "127.0.0.1:", 10);
	close(fd);
	fd = listening_open("0.0.0.0:0", &is_loopback, text);
	assert_true(fd >= 0 && !is_loopback);
	close(fd);
	fd = listening_open(":0", &is_loopback, text);
	assert_true(fd < 0 || !is_loopback);
	if (fd >= 0)
		close(fd);
	assert_true(listening_open("127.0.0.1", &is_loopback, text) < 0);
	assert_true(listening_open("127.0.0.1:", &is_loopback, text) < 0);
	assert_true(listening_open("127.0.0.1:http", &is_loopback, text) < 0);
	assert_true(listening_open("", &is_loopback, text) < 0);
	assert_non_null(listening_reason(listening_open("127.0.0.1:x", &is_loopback, text)));
}

static void test_what_was_gained(void **state)
{
	const struct feed_counters told = { .cpu_ns = 100, .samples_by_state = { 5 } };
	struct feed_counters now = { .cpu_ns = 130, .samples_by_state = { 6, 1 } };
	struct feed_counters more = counting_more(&now, &told);

	(void)state;
	assert_int_equal(more.cpu_ns, 30);
	assert_int_equal(more.samples_by_state[0], 1);
	assert_int_equal(more.samples_by_state[1], 1);
	/* It began anew. */
	now = (struct feed_counters){ .cpu_ns = 10 };
	assert_int_equal(counting_more(&now, &told).cpu_ns, 10);
}

static void expect_key(const char *name, uint64_t pid, const char *expected)
{
	char *key = processkey_of_file(name, pid);

	assert_string_equal(key, expected);
	free(key);
}

static void test_keys_of_processes(void **state)
{
	(void)state;
	expect_key("guestprof.app.42.pb", 42, "guestprof.app.42");
	expect_key("guestprof.app.42.3.pb", 42, "guestprof.app.42");
	expect_key("guestprof.app.42.3.pb.gz", 42, "guestprof.app.42");
	expect_key("guestprof.app.host.1.17.pb", 1, "guestprof.app.host.1");
	expect_key("guestprof.app.host.1.pb", 1, "guestprof.app.host.1");
	expect_key("mine.pb", 42, "mine");
	expect_key("mine.7.pb", 42, "mine.7");
	expect_key(".pb", 42, ".pb");
	expect_key("7.pb", 7, "7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_wishes),		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_hosts),		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_what_was_gained), cmocka_unit_test(test_keys_of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
