/* SPDX-License-Identifier: MIT */
/*
 * paths_test.c - patterns become names, and no value leads out of the directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/encode/paths.h"

static const char environment[] = "HOME=/home/a\0X=v\0UP=../../etc/cron.d/x\0DOT=.hidden\0"
				  "BELL=a\abc\0XY=long\0EMPTY=";
static const struct path_facts facts = {
	.program = "python3",
	.host = "box",
	.pid = 42,
	.start_s = 1700000000,
	.environment = environment,
	.environment_size = sizeof(environment),
};

static struct path expand_as(const char *pattern, const struct path_facts *given, bool literal)
{
	struct path path;

	assert_int_equal(paths_expand(pattern, given, "/srv", literal, &path), 0);
	return path;
}

static void expect(const char *pattern, const char *directory, const char *name)
{
	struct path path = expand_as(pattern, &facts, false);
	char out[NAME_MAX + 1];

	paths_candidate(&path, 0, ".pb", out);
	assert_string_equal(path.directory, directory);
	assert_string_equal(out, name);
}

static void test_patterns(void **unused)
{
	(void)unused;
	expect("guestprof.%e.%p.pb", "/srv", "guestprof.python3.42.pb");
	expect("%e-%h-%t-%%.pb", "/srv", "python3-box-1700000000-%.pb");
	expect("/tmp/x.pb", "/tmp", "x.pb");
	expect("sub/dir/x.pb.gz", "/srv/sub/dir", "x.pb");
	expect("x", "/srv", "x.pb");
	expect("x.gz", "/srv", "x.pb");
	expect("x.n%n.pb", "/srv", "x.n1.pb");
	expect("%{HOME}/x.pb", "/home/a", "x.pb");
	expect("a.%{X}.%{XY}.%{EMPTY}.%{NONE}.pb", "/srv", "a.v.long...pb");
	expect("/", "/", "guestprof.python3.42.pb");
	expect("dir/", "/srv/dir", "guestprof.python3.42.pb");
	expect("", "/srv", "guestprof.python3.42.pb");
	expect("//x", "/", "x.pb");
}

static void test_what_is_no_escape_stays(void **unused)
{
	(void)unused;
	expect("100%", "/srv", "100%.pb");
	expect("a%20b", "/srv", "a%20b.pb");
	expect("a%{HOME", "/srv", "a%{HOME.pb");
	expect("%", "/srv", "%.pb");
}

static void test_values_lead_nowhere(void **unused)
{
	struct path_facts hostile = facts;

	(void)unused;
	expect("a%{UP}.pb", "/srv", "a_._.._etc_cron.d_x.pb");
	expect("d/%{UP}.pb", "/srv/d", "_._.._etc_cron.d_x.pb");
	expect("d/%{DOT}", "/srv/d", "_hidden.pb");
	expect("%{BELL}", "/srv", "a_bc.pb");
	expect("a\nb", "/srv", "a_b.pb");
	strcpy(hostile.program, "../../x y\n");
	assert_string_equal(expand_as("%e", &hostile, false).directory, "/srv");
	assert_string_equal(expand_as("%e", &hostile, false).stem, "_._.._x y_");
	strcpy(hostile.host, "../h");
	assert_string_equal(expand_as("%h", &hostile, false).stem, "_._h");
	/* nor is a file shown under another name than it has, or moves a cursor */
	strcpy(hostile.program, "a\342\200\256b\377\302\233\303\251");
	assert_string_equal(expand_as("%e", &hostile, false).stem, "a___b___\303\251");
}

static void test_literal_names(void **unused)
{
	struct path path = expand_as("out/100%p.pb.gz", &facts, true);

	(void)unused;
	assert_string_equal(path.directory, "/srv/out");
	assert_string_equal(path.stem, "100%p");
	assert_true(path.has_gz);
	assert_true(path.has_pb);
	path = expand_as("out.prof", &facts, true);
	assert_string_equal(path.stem, "out.prof");
	assert_false(path.has_gz);
	assert_false(path.has_pb);
}

static void test_pid_1_adds_the_host(void **unused)
{
	struct path_facts first = facts;

	(void)unused;
	first.pid = 1;
	assert_string_equal(expand_as("a.%p.pb", &first, false).stem, "a.1.box");
	assert_string_equal(expand_as("a.%h.pb", &first, false).stem, "a.box");
	assert_string_equal(expand_as("a.pb", &first, true).stem, "a");
}

static void test_candidates(void **unused)
{
	struct path path = expand_as("x.pb", &facts, false);
	char out[NAME_MAX + 1];

	(void)unused;
	paths_candidate(&path, 0, ".pb.gz", out);
	assert_string_equal(out, "x.pb.gz");
	paths_candidate(&path, 12, ".pb.gz", out);
	assert_string_equal(out, "x.12.pb.gz");
	path = expand_as("r%n-%n.pb", &facts, false);
	paths_candidate(&path, 4, ".pb", out);
	assert_string_equal(out, "r5-1.pb");
}

static void test_long_patterns(void **unused)
{
	char *pattern = malloc(3 * PATH_MAX);
	struct path path;
	char out[NAME_MAX + 1];

	(void)unused;
	memset(pattern, 'a', 3 * PATH_MAX);
	pattern[3 * PATH_MAX - 1] = '\0';
	assert_int_equal(paths_expand(pattern, &facts, "/", false, &path), -ENAMETOOLONG);
	pattern[1000] = '\0';
	assert_int_equal(paths_expand(pattern, &facts, "/", false, &path), 0);
	paths_candidate(&path, 999, ".pb.gz.tmp", out);
	assert_true(strlen(out) <= NAME_MAX);
	/* Cut between characters. */
	for (size_t i = 0; i < 300; i++)
		memcpy(pattern + 3 * i, "\xe2\x82\xac", 3);
	pattern[900] = '\0';
	assert_int_equal(paths_expand(pattern, &facts, "/", false, &path), 0);
	assert_int_equal(strlen(path.stem) % 3, 0);
	assert_true(strlen(path.stem) > 190);
	/* Directories deeper than a path can be. */
	memset(pattern, '/', PATH_MAX - 10);
	strcpy(pattern + PATH_MAX - 10, "x");
	assert_int_equal(paths_expand(pattern, &facts, NULL, false, &path), 0);
	assert_string_equal(path.directory, "/");
	free(pattern);
}

static void test_facts_of_this_process(void **unused)
{
	struct path_facts mine;

	(void)unused;
	paths_facts(&mine, 1700000000999999999);
	assert_non_null(strstr(mine.program, "paths"));
	assert_int_equal(mine.pid, getpid());
	assert_int_equal(mine.start_s, 1700000000);
	assert_non_null(paths_variable(&mine, "PATH", 4));
	assert_null(paths_variable(&mine, "NO_SUCH_VARIABLE", 16));
	free((char *)mine.environment);
}

/* An environment that a process overwrote (setproctitle) is no list of variables. */
static void test_damaged_environment(void **unused)
{
	static const char torn[] = { 'A', '=', 'b', '\0', 'T', 'O', 'R', 'N', '=', '1' };
	struct path_facts given = { .environment = torn, .environment_size = sizeof(torn) };

	(void)unused;
	assert_string_equal(paths_variable(&given, "A", 1), "b");
	assert_null(paths_variable(&given, "TORN", 4));
	given.environment_size = 0;
	given.environment = NULL;
	assert_null(paths_variable(&given, "A", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_what_is_no_escape_stays),
		cmocka_unit_test(test_values_lead_nowhere),
		cmocka_unit_test(test_literal_names),
		cmocka_unit_test(test_pid_1_adds_the_host),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_long_patterns),
		cmocka_unit_test(test_facts_of_this_process),
		cmocka_unit_test(test_damaged_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
