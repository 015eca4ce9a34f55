/* SPDX-License-Identifier: MIT */
/* progress_test.c - what a terminal, and what is none, get of long work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/say.h"

enum { WAIT_MS = 20000 };

/* Standard error is the end of a pipe or terminal, of which the test has the other. */
struct shown {
	int reader, before;
	char text[8192];
	size_t size;
};

static void begin(struct shown *shown, int reader, int writer)
{
	*shown = (struct shown){ .reader = reader, .before = dup(STDERR_FILENO) };
	assert_true(shown->before >= 0);
	assert_int_equal(dup2(writer, STDERR_FILENO), STDERR_FILENO);
	close(writer);
}

static void end(struct shown *shown)
{
	assert_int_equal(dup2(shown->before, STDERR_FILENO), STDERR_FILENO);
	close(shown->before);
	close(shown->reader);
}

/* What comes, until TEXT is there. */
static void wait_for(struct shown *shown, const char *text)
{
	struct pollfd wait = { .fd = shown->reader, .events = POLLIN };

	while (strstr(shown->text, text) == NULL) {
		ssize_t got;

		assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
		got = read(shown->reader, shown->text + shown->size,
			   sizeof(shown->text) - 1 - shown->size);
		assert_true(got > 0);
		shown->size += (size_t)got;
	}
}

/* Nothing within a second, then a line; messages have lines of their own; nothing is left. */
static void shows_a_line_on_a_terminal(void **state)
{
	struct shown shown;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	int reader, writer;
	char *message;

	(void)state;
	assert_int_equal(openpty(&reader, &writer, NULL, NULL, NULL), 0);
	begin(&shown, reader, writer);
	progress_begin("reading", 4);
	progress_step();
	wait_for(&shown, "s ");
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns >= 1000000000);
	assert_ptr_equal(strstr(shown.text, "\rreading [#######                       ] 1 of 4, "),
			 shown.text);
	say_line("a message");
	wait_for(&shown, "a message\r\n");
	message = strstr(shown.text, "guestprof: a message");
	assert_non_null(message);
	assert_memory_equal(message - 4, "\r\033[K", 4);
	wait_for(&shown, "message\r\n\rreading");
	progress_end();
	write(STDERR_FILENO, "end\n", 4);
	wait_for(&shown, "end");
	end(&shown);
	assert_memory_equal(strstr(shown.text, "end") - 4, "\r\033[K", 4);
}

static size_t count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(tasks);
	for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

static void tells_nothing_to_a_pipe(void **state)
{
	size_t threads = count_threads();
	struct shown shown;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	begin(&shown, ends[0], ends[1]);
	progress_begin("reading", 2);
	assert_int_equal(count_threads(), threads); /* nobody draws */
	progress_step();
	progress_end();
	progress_end();
	write(STDERR_FILENO, "end", 3);
	wait_for(&shown, "end");
	end(&shown);
	assert_string_equal(shown.text, "end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_a_line_on_a_terminal),
		cmocka_unit_test(tells_nothing_to_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
