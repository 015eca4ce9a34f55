/* SPDX-License-Identifier: MIT */
/*
 * headcount_test.c - when libc ends a program whose threads have left, with ours beside them.
 *
 * Each test is a child of its own: how it ends is what is looked at. A child that does not end is
 * ended by its alarm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/headcount.h"

enum { LIMIT_S = 60, BAD = 99 };

static atomic_int is_asked, has_left;

#ifdef __SANITIZE_THREAD__
/* sanitizer/common_interface_defs.h */
void __sanitizer_sandbox_on_notify(void *arguments);
/* Runs where the sanitizer has ended the thread that it runs on. */
#define AFTER_THREAD __attribute__((no_sanitize_thread))
#else
#define AFTER_THREAD
#endif

/* Not _exit(): that name is the library's own here. */
AFTER_THREAD static _Noreturn void end(int status)
{
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

/* How the child ends, in which BODY runs: its status, or minus its signal. */
static int ending_of(void (*body)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(LIMIT_S);
		body();
		end(BAD);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * ThreadSanitizer makes a thread of its own with the first of the program's, by the same
 * pthread_create(). It leaves where a sandbox is announced (StopBackgroundThread, tsan_rtl.cpp).
 */
static void end_sanitizers_thread(void)
{
#ifdef __SANITIZE_THREAD__
	__sanitizer_sandbox_on_notify(NULL);
#endif
}

static pthread_t start(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) != 0)
		end(BAD);
	end_sanitizers_thread();
	return thread;
}

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

AFTER_THREAD static void handler_ran(void)
{
	end(42);
}

static void leave_beside_ours(void)
{
	start(stay);
	headcount_leave_out();
	atexit(handler_ran);
	pthread_exit(NULL);
}

static void test_the_last_of_the_hosts(void **unused)
{
	(void)unused;
	assert_int_equal(ending_of(leave_beside_ours), 42);
}

static void *leave_when_asked(void *unused)
{
	while (atomic_load(&is_asked) == 0)
		usleep(1000);
	headcount_leave();
	return unused;
}

/* Ours returns to libc while a thread of the host is left: that one is still the last. */
static void ours_leaves_first(void)
{
	pthread_t thread = start(leave_when_asked);

	headcount_leave_out();
	atomic_store(&is_asked, 1);
	pthread_join(thread, NULL);
	atexit(handler_ran);
	pthread_exit(NULL);
}

static void test_taken_back(void **unused)
{
	(void)unused;
	assert_int_equal(ending_of(ours_leaves_first), 42);
}

static void *leave_and_tell(void *unused)
{
	leave_when_asked(unused);
	atomic_store(&has_left, 1);
	return unused;
}

/* The fifth of a second is what a thread that must not return is given to do so. */
AFTER_THREAD static void ask_while_ending(void)
{
	atomic_store(&is_asked, 1);
	for (int i = 0; i < 200 && atomic_load(&has_left) == 0; i++)
		usleep(1000);
	end(atomic_load(&has_left) == 0 ? 42 : BAD);
}

static void ours_leaves_after(void)
{
	start(leave_and_tell);
	headcount_leave_out();
	atexit(ask_while_ending);
	pthread_exit(NULL);
}

static void test_not_while_the_process_ends(void **unused)
{
	(void)unused;
	assert_int_equal(ending_of(ours_leaves_after), 42);
}

static void *wait_until_alone(void *unused)
{
	if (headcount_is_alone())
		end(BAD);
	atomic_store(&is_asked, 1);
	while (!headcount_is_alone())
		usleep(1000);
	headcount_leave();
	end(BAD);
	return unused;
}

/* Threads that end past libc: the status is theirs. */
static void leave_by_system_call(void)
{
	start(wait_until_alone);
	headcount_leave_out();
	while (atomic_load(&is_asked) == 0)
		usleep(1000);
	syscall(SYS_exit, 7);
}

static void test_alone(void **unused)
{
	(void)unused;
	assert_false(headcount_is_alone());
	assert_int_equal(ending_of(leave_by_system_call), 7);
}

static void *leave_at_once(void *unused)
{
	headcount_leave();
	return unused;
}

static void *nothing(void *unused)
{
	return unused;
}

/* A count that was one too low would end the process with the next thread. */
static void ours_leaves_at_once(void)
{
	pthread_t thread = start(leave_at_once);

	usleep(20000);
	headcount_leave_out();
	pthread_join(thread, NULL);
	pthread_join(start(nothing), NULL);
	end(42);
}

static void test_ours_is_faster(void **unused)
{
	(void)unused;
	assert_int_equal(ending_of(ours_leaves_at_once), 42);
}

/* The count in a child begins with its one thread. */
static void fork_beside_ours(void)
{
	int status = 0;
	pid_t child;

	start(stay);
	headcount_leave_out();
	child = fork();
	if (child == 0) {
		headcount_fork_child();
		leave_beside_ours();
	}
	if (waitpid(child, &status, 0) != child)
		end(BAD);
	end(WIFEXITED(status) ? WEXITSTATUS(status) : BAD);
}

static void test_in_a_child(void **unused)
{
	(void)unused;
#ifdef __SANITIZE_THREAD__
	skip(); /* it allows no thread in the child of a process that has some */
#endif
	assert_int_equal(ending_of(fork_beside_ours), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_of_the_hosts),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_not_while_the_process_ends),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_ours_is_faster),
		cmocka_unit_test(test_in_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
