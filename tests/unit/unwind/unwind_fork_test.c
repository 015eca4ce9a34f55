/* SPDX-License-Identifier: MIT */
/* unwind_fork_test.c - forks while our thread unwinds: the child can unwind, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/capture.h"

enum { FORKS = 200, FRAMES = 64, CHILD_SECONDS = 20 };

static struct {
	struct capture capture;
	atomic_bool quit;
	atomic_int rounds;
} self;

static enum unwind_end unwind_once(void)
{
	struct unwind_input input = capture_input(&self.capture, 1);
	struct unwind_frame frames[FRAMES];
	size_t count;

	return unwind(&input, frames, FRAMES, &count);
}

static void *unwind_for_ever(void *argument)
{
	while (!atomic_load(&self.quit)) {
		(void)unwind_once();
		atomic_fetch_add(&self.rounds, 1);
	}
	return argument;
}

static int run(bool hooks)
{
	int i, good = 0;

	for (i = 0; i < FORKS; i++) {
		int status = 0;
		pid_t child;

		if (hooks)
			unwind_before_fork();
		child = fork();
		if (child == 0) {
			alarm(CHILD_SECONDS); /* a lock that is held for ever ends here */
			unwind_after_fork();
			_exit(unwind_once());
		}
		if (hooks)
			unwind_after_fork_in_parent();
		if (waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		    (WEXITSTATUS(status) == UNWIND_COMPLETE ||
		     (!hooks && WEXITSTATUS(status) == UNWIND_UNAVAILABLE)))
			good++;
	}
	return good;
}

static void test_fork(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(unwind_start(), 0);
	capture_here(&self.capture);
	assert_int_equal(pthread_create(&thread, NULL, unwind_for_ever, NULL), 0);
	while (atomic_load(&self.rounds) == 0)
		usleep(100);
	assert_int_equal(run(true), FORKS);
	atomic_store(&self.quit, true);
	pthread_join(thread, NULL);
	assert_int_equal(unwind_once(), UNWIND_COMPLETE);
	assert_int_equal(run(false), FORKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
