/* SPDX-License-Identifier: MIT */
/* census_test.c - counters that only rise, who is told apart, and how it is written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/export/inmemory.h"
#include "preload/export/metrics.h"
#include "preload/read/census.h"

#define SECOND ((uint64_t)1000000000)
#define NOW (1000000 * SECOND)

static void add(struct census *census, uint32_t process, const char *module,
		const struct recording_label *labels, size_t label_count, uint64_t cpu_ns,
		uint64_t now_ns)
{
	const struct feed_group group = { .module = module,
					  .labels = labels,
					  .label_count = label_count };
	const struct feed_counters more = { .cpu_ns = cpu_ns, .samples_by_state = { 1 } };

	assert_int_equal(census_add(census, process, &group, &more, now_ns), 0);
}

/* The text of /metrics, or with TARGETS of /sd (caller frees). */
static char *text_of(const struct census *census, bool targets, uint64_t now_ns)
{
	const struct metrics_server server = { .answered = 7 };
	struct inmemory memory;
	uint8_t *bytes;
	size_t size;

	assert_int_equal(inmemory_open(&memory, false), 0);
	assert_int_equal(
		targets ? metrics_write_targets(census, "127.0.0.1:6060", now_ns, memory.output)
			: metrics_write(census, &server, now_ns, memory.output),
		0);
	assert_int_equal(inmemory_close(&memory, true, &bytes, &size), 0);
	bytes = realloc(bytes, size + 1);
	bytes[size] = '\0';
	return (char *)bytes;
}

static size_t times(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what)) != NULL) {
		count++;
		text++;
	}
	return count;
}

static void test_values_and_keys_are_escaped(void **state)
{
	const struct recording_label labels[] = { { "tenant", "a\"b\nd" },
						  { "my-key", "1" },
						  { "my.key", "2" } };
	struct census *census = census_new();
	uint32_t process = census_process(census, "host.1", "host", 1, NOW);
	char *text;

	(void)state;
	add(census, process, "x\"} 5\nfake 1", labels, 3, 1500000000, NOW);
	text = text_of(census, false, NOW);
	assert_non_null(strstr(text, "guestprof_cpu_seconds_total{wasm_module=\"x\\\"} "
				     "5\\\\x0afake 1\",label_tenant=\"a\\\"b\\\\x0ad\","
				     "label_my_key=\"1\"} 1.500000000\n"));
	assert_null(strstr(text, "\nfake"));
	assert_non_null(strstr(text, "guestprof_serve_profiles_total 7\n"));
	assert_int_equal(times(text, "label_my_key=\"2\""), 0);
	free(text);
	census_turn(census, NOW);
	text = text_of(census, true, NOW);
	assert_non_null(strstr(text, "\"__param_group\":\"x\\\"} 5\\\\x0afake 1\""));
	assert_int_equal(times(text, "\"label_my_key\""), 1);
	free(text);
	census_free(census);
}

/* Value of the line that begins with NAME. */
static double value_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	assert_non_null(at);
	return strtod(at + strlen(name), NULL);
}

static void test_nothing_goes_back(void **state)
{
	static const char other[] = "guestprof_cpu_seconds_total{wasm_module=\"(other)\"} ";
	struct census *census = census_new();
	uint32_t process = census_process(census, "host.1", "host", 1, NOW);
	char name[32], *text;

	(void)state;
	for (int i = 0; i < CENSUS_SHOWN_MAX + 50; i++) {
		snprintf(name, sizeof(name), "module%d", i);
		add(census, process, name, NULL, 0, SECOND, NOW);
	}
	text = text_of(census, false, NOW);
	assert_int_equal(times(text, "guestprof_cpu_seconds_total{"), CENSUS_SHOWN_MAX + 1);
	assert_true(value_of(text, other) == 50.0);
	free(text);

	/* All are gone; a group of the others gets a place, and what the others had stays theirs.
	 */
	census_turn(census, NOW + CENSUS_STAY_NS);
	add(census, process, "module149", NULL, 0, SECOND, NOW + CENSUS_STAY_NS);
	text = text_of(census, false, NOW + CENSUS_STAY_NS);
	assert_true(value_of(text, other) == 50.0);
	assert_true(value_of(text, "guestprof_cpu_seconds_total{wasm_module=\"module149\"} ") ==
		    1.0);
	assert_int_equal(times(text, "guestprof_cpu_seconds_total{"), 2);
	free(text);

	/* One that had a place goes on from where it was. */
	add(census, process, "module3", NULL, 0, SECOND, NOW + CENSUS_STAY_NS + 1);
	text = text_of(census, false, NOW + CENSUS_STAY_NS + 1);
	assert_true(value_of(text, "guestprof_cpu_seconds_total{wasm_module=\"module3\"} ") == 2.0);
	free(text);
	census_free(census);
}

static void test_targets_stay_a_while(void **state)
{
	struct census *census = census_new();
	uint32_t process = census_process(census, "host.1", "host", 1, NOW);
	char name[32], *text;

	(void)state;
	for (uint64_t i = 1; i <= 30; i++) {
		snprintf(name, sizeof(name), "module%02u.", (unsigned int)i);
		add(census, process, name, NULL, 0, i * SECOND, NOW);
	}
	census_turn(census, NOW);
	text = text_of(census, true, NOW);
	assert_int_equal(times(text, "\"targets\""), 1 + CENSUS_TARGETS);
	assert_non_null(strstr(text, "module30."));
	assert_null(strstr(text, "module10."));
	free(text);

	/* A light one becomes the heaviest: the one it displaces stays. */
	add(census, process, "module01.", NULL, 0, 100 * SECOND, NOW + SECOND);
	census_turn(census, NOW + SECOND);
	text = text_of(census, true, NOW + SECOND);
	assert_int_equal(times(text, "\"targets\""), 2 + CENSUS_TARGETS);
	free(text);

	text = text_of(census, true, NOW + SECOND + CENSUS_STAY_NS);
	assert_string_equal(text, "[]");
	free(text);
	census_free(census);
}

static void test_rows_of_processes_are_used_again(void **state)
{
	struct census *census = census_new();
	char key[32];

	(void)state;
	for (int i = 0; i < CENSUS_PROCESSES_MAX; i++) {
		snprintf(key, sizeof(key), "host.%d", i);
		assert_int_equal(census_process(census, key, "host", 1, NOW), i);
	}
	assert_int_equal(census_process(census, "one more", "host", 1, NOW), UINT32_MAX);
	assert_int_equal(census_process(census, "host.7", "host", 1, NOW), 7);
	assert_int_not_equal(census_process(census, "later", "host", 1, NOW + CENSUS_STAY_NS),
			     UINT32_MAX);
	assert_int_equal(census->process_count, CENSUS_PROCESSES_MAX);
	census_free(census);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_and_keys_are_escaped),
		cmocka_unit_test(test_nothing_goes_back),
		cmocka_unit_test(test_targets_stay_a_while),
		cmocka_unit_test(test_rows_of_processes_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
