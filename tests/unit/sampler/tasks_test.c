/* SPDX-License-Identifier: MIT */
/* tasks_test.c - /proc lines, good and bad, and the stacks of real threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sampler/tasks.h"

static const char rest_of_stat[] = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21\n";

static void stat_lines(void **unused)
{
	static const char *const names[] = { "1 (x)", "77 (a b) c)", "9 (:) S 1 2)", "5 ())" };
	struct task task;
	char line[256];

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		strcpy(line, names[i]);
		strcat(line, rest_of_stat);
		assert_int_equal(tasks_parse_stat(line, &task), 0);
		assert_int_equal(task.state, 'S');
		assert_int_equal(task.start_time, 4242);
	}
}

static void damaged_stat_lines(void **unused)
{
	char line[256];
	struct task task;

	(void)unused;
	assert_int_equal(tasks_parse_stat("", &task), -EINVAL);
	assert_int_equal(tasks_parse_stat("1 (x", &task), -EINVAL);
	assert_int_equal(tasks_parse_stat("1 (x)", &task), -EINVAL);
	assert_int_equal(tasks_parse_stat("1 (x) ", &task), -EINVAL);
	/* Cut anywhere before the field, it is refused and not overrun. */
	for (size_t length = 0; length < strlen(rest_of_stat) - 13; length++) {
		snprintf(line, sizeof(line), "1 (x)%.*s", (int)length, rest_of_stat);
		assert_int_equal(tasks_parse_stat(line, &task), -EINVAL);
	}
}

static void find_tid(void *context, pid_t tid)
{
	if (tid == *(pid_t *)context)
		*(pid_t *)context = 0;
}

struct found {
	uintptr_t local, start, end;
	bool known, listed, alive;
	char name[16];
	pid_t tid;
};

static void look_at_myself(struct found *found)
{
	struct task task;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	found->tid = tid;
	found->local = (uintptr_t)&task;
	errno = 33;
	found->known = tasks_own_stack(&found->start, &found->end) && errno == 33;
	found->alive = tasks_is_alive(tid);
	tasks_read_name(tid, found->name, sizeof(found->name));
	found->alive &= tasks_read(tid, &task) == 0 && task.state == 'R' && task.start_time > 0;
	tasks_each(find_tid, &tid);
	found->listed = tid == 0;
}

static void *on_thread(void *found)
{
	prctl(PR_SET_NAME, "a (b) c");
	look_at_myself(found);
	return NULL;
}

static void assert_found(const struct found *found)
{
	assert_true(found->known);
	assert_true(found->listed);
	assert_true(found->alive);
	assert_true(found->start <= found->local && found->local < found->end);
}

static void main_thread_is_known(void **unused)
{
	struct found found;

	(void)unused;
	look_at_myself(&found);
	assert_found(&found);
	/* All of it up to the end is there. */
	for (volatile const char *at = (const char *)found.local; (uintptr_t)at < found.end;
	     at += 512)
		(void)*at;
}

static void other_threads_are_known(void **unused)
{
	struct found found;
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_create(&thread, NULL, on_thread, &found), 0);
	pthread_join(thread, NULL);
	assert_found(&found);
	assert_string_equal(found.name, "a (b) c");
	/* The kernel may take a moment after the join. */
	for (int i = 0; i < 1000 && tasks_is_alive(found.tid); i++)
		usleep(1000);
	assert_false(tasks_is_alive(found.tid));
	assert_int_equal(tasks_read(found.tid, &(struct task){ 0 }), -ESRCH);
}

static void blocked_signals_are_told(void **unused)
{
	sigset_t mask;

	(void)unused;
	assert_false(tasks_has(tasks_blocked(gettid()), SIGPROF));
	sigemptyset(&mask);
	sigaddset(&mask, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	assert_true(tasks_has(tasks_blocked(gettid()), SIGPROF));
	assert_false(tasks_has(tasks_blocked(gettid()), SIGVTALRM));
	pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
	assert_false(tasks_has(tasks_blocked(gettid()), SIGPROF));
	assert_false(tasks_has(tasks_blocked(1 << 30), SIGPROF));
	assert_false(tasks_has(tasks_parse_blocked(""), SIGPROF));
	assert_false(tasks_has(tasks_parse_blocked("Name:\tx\nSigBlk:\tnonsense\n"), SIGPROF));
	assert_true(
		tasks_has(tasks_parse_blocked("Name:\tx\nSigBlk:\tfffffffe7ffbfeff\n"), SIGPROF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_signals_are_told), cmocka_unit_test(stat_lines),
		cmocka_unit_test(damaged_stat_lines),	    cmocka_unit_test(main_thread_is_known),
		cmocka_unit_test(other_threads_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
