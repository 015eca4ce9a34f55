/* SPDX-License-Identifier: MIT */
/*
 * log_test.c - one line is one write, with its prefix and nothing a terminal would obey.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/log.h"

static char path[64];
static char text[8192];

static int make_file(void **unused)
{
	int fd;

	(void)unused;
	snprintf(path, sizeof(path), "/tmp/log_test.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **unused)
{
	(void)unused;
	return unlink(path);
}

static const char *logged(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t length = read(fd, text, sizeof(text) - 1);

	close(fd);
	assert_true(length >= 0);
	text[length] = '\0';
	return text;
}

static void test_prefix_and_level(void **unused)
{
	char expected[64];

	(void)unused;
	log_configure(LOG_INFO, path);
	errno = 77;
	log_line(LOG_INFO, "hello %d", 5);
	log_line(LOG_DEBUG, "not this");
	assert_int_equal(errno, 77);
	snprintf(expected, sizeof(expected), "guestprof[%d]: hello 5\n", (int)getpid());
	assert_string_equal(logged(), expected);
}

static void test_control_characters_are_shown(void **unused)
{
	(void)unused;
	log_configure(LOG_ERROR, path);
	log_line(LOG_ERROR, "a\033[31mb\nc\177d");
	assert_non_null(strstr(logged(), "a\\x1b[31mb\\x0ac\\x7fd\n"));
}

static void test_long_lines_are_cut_and_still_one_line(void **unused)
{
	char longer[5000];

	(void)unused;
	memset(longer, '\001', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	log_configure(LOG_ERROR, path);
	log_line(LOG_ERROR, "%s", longer);
	assert_true(strlen(logged()) < 1200);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void test_once_is_once(void **unused)
{
	atomic_flag once = ATOMIC_FLAG_INIT;

	(void)unused;
	log_configure(LOG_ERROR, path);
	log_once(&once, "first");
	log_once(&once, "second");
	assert_non_null(strstr(logged(), "first"));
	assert_null(strstr(text, "second"));
}

static void test_off_says_nothing(void **unused)
{
	atomic_flag once = ATOMIC_FLAG_INIT;

	(void)unused;
	log_configure(LOG_OFF, path);
	log_line(LOG_ERROR, "no");
	log_once(&once, "no");
	assert_string_equal(logged(), "");
}

static void test_a_symbolic_link_is_not_followed(void **unused)
{
	char link_path[80];

	(void)unused;
	snprintf(link_path, sizeof(link_path), "%s.link", path);
	assert_int_equal(symlink(path, link_path), 0);
	log_configure(LOG_ERROR, link_path);
	log_line(LOG_ERROR, "no");
	assert_string_equal(logged(), "");
	unlink(link_path);
}

/* Puts FD where standard error is, for one line. */
static void say_on(int fd)
{
	int kept = dup(STDERR_FILENO);

	dup2(fd, STDERR_FILENO);
	log_configure(LOG_ERROR, NULL);
	log_line(LOG_ERROR, "hello");
	dup2(kept, STDERR_FILENO);
	close(kept);
}

static void test_a_reader_that_is_gone_costs_nothing(void **unused)
{
	sigset_t pending;
	int ends[2];

	(void)unused;
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	errno = 77;
	say_on(ends[1]); /* or it would end here */
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGPIPE));
	close(ends[1]);
}

static void test_a_file_of_the_hosts_own_is_no_place_for_us(void **unused)
{
	int fd = open(path, O_WRONLY | O_APPEND), kept = dup(STDERR_FILENO);

	(void)unused;
	log_remember_standard_error();
	say_on(fd);
	assert_string_equal(logged(), "");
	/* The same file from the start on is where the user wants it. */
	dup2(fd, STDERR_FILENO);
	log_remember_standard_error();
	say_on(fd);
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_non_null(strstr(logged(), "hello"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_prefix_and_level, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_control_characters_are_shown, make_file,
						remove_file),
		cmocka_unit_test_setup_teardown(test_long_lines_are_cut_and_still_one_line,
						make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_once_is_once, make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_off_says_nothing, make_file, remove_file),
		cmocka_unit_test(test_a_reader_that_is_gone_costs_nothing),
		cmocka_unit_test_setup_teardown(test_a_file_of_the_hosts_own_is_no_place_for_us,
						make_file, remove_file),
		cmocka_unit_test_setup_teardown(test_a_symbolic_link_is_not_followed, make_file,
						remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
