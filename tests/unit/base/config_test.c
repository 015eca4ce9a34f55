/* SPDX-License-Identifier: MIT */
/*
 * config_test.c - the environment becomes a configuration, and what is wrong is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "preload/base/config.h"

static char said[8][400];
static size_t said_count;

static void remember(void *context, const char *line)
{
	(void)context;
	assert_true(said_count < ARRAY_SIZE(said));
	snprintf(said[said_count++], sizeof(said[0]), "%s", line);
}

static struct config read_environment(char *const *environment)
{
	/* Kept: what a configuration owns is never freed. */
	static struct config configs[128];
	static size_t count;
	struct config *config = &configs[count++];

	assert_true(count <= ARRAY_SIZE(configs));
	said_count = 0;
	config_read(config, environment, remember, NULL);
	return *config;
}

static void test_defaults(void **unused)
{
	char *const empty[] = { "PATH=/bin", NULL };
	struct config config = read_environment(empty);

	(void)unused;
	assert_int_equal(config.hz, 100);
	assert_string_equal(config.output, "guestprof.%e.%p.pb");
	assert_null(config.modules);
	assert_int_equal(config.stacks, STACKS_HOSTCALLS);
	assert_int_equal(config.instances, INSTANCES_AUTO);
	assert_int_equal(config.memory, 64 << 20);
	assert_int_equal(config.log_level, LOG_ERROR);
	assert_false(config.exact_output);
	assert_false(config.wall);
	assert_true(config.start);
	assert_null(config.control);
	assert_true(config.control_gid == -1);
	assert_true(config.rotate.age_ns == 900 * UINT64_C(1000000000));
	assert_true(config.rotate.size == 64 << 20);
	assert_int_equal(config.rotate.files, 8);
	assert_int_equal(said_count, 0);
}

static void test_control(void **unused)
{
	char *const paused[] = { "GUESTPROF_START=0", NULL };
	char *const named[] = { "GUESTPROF_START=0", "GUESTPROF_CONTROL=/run/x/",
				"GUESTPROF_CONTROL_GID=1234", "GUESTPROF_ROTATE=0,1G,3", NULL };
	char *const off[] = { "GUESTPROF_CONTROL=0", "GUESTPROF_ROTATE=off", NULL };
	struct config config = read_environment(paused);

	(void)unused;
	assert_false(config.start);
	assert_string_equal(config.control, "1");
	config = read_environment(named);
	assert_string_equal(config.control, "/run/x/");
	assert_true(config.control_gid == 1234);
	assert_true(config.rotate.age_ns == 0 && config.rotate.size == 1 << 30);
	assert_int_equal(config.rotate.files, 3);
	config = read_environment(off);
	assert_null(config.control);
	assert_int_equal(config.rotate.files, 0);
	assert_int_equal(said_count, 0);
}

static void test_every_value(void **unused)
{
	char *const environment[] = {
		"GUESTPROF_HZ=4000",	     "GUESTPROF_OUTPUT=/x/%p.pb", "GUESTPROF_MODULES=a*,b",
		"GUESTPROF_STACKS=full",     "GUESTPROF_INSTANCES=none",  "GUESTPROF_MEMORY=2G",
		"GUESTPROF_LOG=debug:/l:og", "GUESTPROF_EXACT_OUTPUT=1",  "GUESTPROF_WALL=1",
		"GUESTPROF_LIST=/tmp/list",  "GUESTPROF_LIB=/lib/x.so",	  NULL,
	};
	struct config config = read_environment(environment);

	(void)unused;
	assert_int_equal(said_count, 0);
	assert_int_equal(config.hz, 4000);
	assert_string_equal(config.output, "/x/%p.pb");
	assert_string_equal(config.modules, "a*,b");
	assert_int_equal(config.stacks, STACKS_FULL);
	assert_int_equal(config.instances, INSTANCES_NONE);
	assert_true(config.memory == UINT64_C(2) << 30);
	assert_int_equal(config.log_level, LOG_DEBUG);
	assert_string_equal(config.log_file, "/l:og");
	assert_true(config.exact_output);
	assert_true(config.wall);
	assert_string_equal(config.list, "/tmp/list");
}

static void test_budget(void **unused)
{
	static const struct {
		const char *text;
		uint32_t ppm, ppm_when_fast;
	} rows[] = {
		{ NULL, 10000, 0 },
		{ "GUESTPROF_BUDGET=1", 10000, 10000 },
		{ "GUESTPROF_BUDGET=0", 0, 0 },
		{ "GUESTPROF_BUDGET=off", 0, 0 },
		{ "GUESTPROF_BUDGET=0.05", 500, 500 },
		{ "GUESTPROF_BUDGET=2.5", 25000, 25000 },
		{ "GUESTPROF_BUDGET=100", 1000000, 1000000 },
		{ "GUESTPROF_BUDGET=0.0000001", 1, 1 },
		{ "GUESTPROF_BUDGET=0.000", 0, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *const environment[] = { (char *)rows[i].text, NULL };
		struct config config = read_environment(environment);

		assert_int_equal(said_count, 0);
		assert_int_equal(config_budget(&config, 1), rows[i].ppm);
		assert_int_equal(config_budget(&config, 250), rows[i].ppm);
		assert_int_equal(config_budget(&config, 251), rows[i].ppm_when_fast);
	}
}

static void test_bad_values_keep_the_default(void **unused)
{
	static const char *const bad[] = {
		"GUESTPROF_HZ=0",
		"GUESTPROF_HZ=10001",
		"GUESTPROF_HZ=-5",
		"GUESTPROF_HZ= 7",
		"GUESTPROF_HZ=99999999999999999999",
		"GUESTPROF_HZ=100Hz",
		"GUESTPROF_OUTPUT=",
		"GUESTPROF_STACKS=all",
		"GUESTPROF_MEMORY=12",
		"GUESTPROF_MEMORY=99999999999G",
		"GUESTPROF_MEMORY=64Mi",
		"GUESTPROF_LOG=loud",
		"GUESTPROF_LOG=debug:",
		"GUESTPROF_EXACT_OUTPUT=2",
		"GUESTPROF_WALL=yes",
		"GUESTPROF_INSTANCES=",
		"GUESTPROF_START=",
		"GUESTPROF_CONTROL=here",
		"GUESTPROF_CONTROL_GID=-1",
		"GUESTPROF_CONTROL_GID=4294967295",
		"GUESTPROF_BUDGET=",
		"GUESTPROF_BUDGET=-1",
		"GUESTPROF_BUDGET=1%",
		"GUESTPROF_BUDGET=.5",
		"GUESTPROF_BUDGET=100.1",
		"GUESTPROF_BUDGET=99999999999999999999",
		"GUESTPROF_BUDGET=on",
		"GUESTPROF_ROTATE=",
		"GUESTPROF_ROTATE=15m,64M",
		"GUESTPROF_ROTATE=15x,64M,8",
		"GUESTPROF_ROTATE=15m,64M,0",
		"GUESTPROF_ROTATE=15m,64M,1001",
		"GUESTPROF_ROTATE=99999999999999999999d,64M,8",
	};
	char *const empty[] = { NULL };
	struct config expected = read_environment(empty);

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *const environment[] = { (char *)bad[i], NULL };
		struct config config = read_environment(environment);

		assert_int_equal(said_count, 1);
		assert_non_null(strstr(said[0], "not understood"));
		assert_int_equal(config.hz, expected.hz);
		assert_string_equal(config.output, expected.output);
		assert_int_equal(config.stacks, expected.stacks);
		assert_true(config.memory == expected.memory);
		assert_int_equal(config.log_level, expected.log_level);
		assert_int_equal(config.exact_output, expected.exact_output);
		assert_int_equal(config.budget_ppm, expected.budget_ppm);
		assert_false(config.has_budget);
		assert_true(config.control == NULL && config.control_gid == -1 && config.start);
		assert_true(config.rotate.age_ns == expected.rotate.age_ns);
		assert_int_equal(config.rotate.files, expected.rotate.files);
	}
}

static void test_unknown_name_is_answered_with_the_nearest(void **unused)
{
	char *const environment[] = { "GUESTPROF_MODULE=x", "GUESTPROF_HERTZ=5", NULL };

	(void)unused;
	read_environment(environment);
	assert_int_equal(said_count, 2);
	assert_string_equal(said[0],
			    "GUESTPROF_MODULE: unknown variable; did you mean GUESTPROF_MODULES?");
	assert_non_null(strstr(said[1], "did you mean GUESTPROF_"));
}

static void test_hostile_text_is_bounded(void **unused)
{
	static char name[5000] = "GUESTPROF_", value[5000] = "GUESTPROF_HZ=";
	char *const environment[] = { name, value, NULL };

	(void)unused;
	memset(name + 10, 'A', sizeof(name) - 12);
	name[sizeof(name) - 2] = '=';
	memset(value + 13, '7', sizeof(value) - 14);
	read_environment(environment);
	assert_int_equal(said_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_every_value),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_bad_values_keep_the_default),
		cmocka_unit_test(test_unknown_name_is_answered_with_the_nearest),
		cmocka_unit_test(test_hostile_text_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
