/* SPDX-License-Identifier: MIT */
/* signal_test.c - which signal is taken, and that the host does not notice; in children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/sampler/signal.h"
#include "preload/sig/handler.h"

/* By the name that is never wrapped. */
int __sigaction(int signo, const struct sigaction *act, struct sigaction *old);

static volatile int host_signals, host_code, host_blocked;

static void on_host(int signo, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	host_signals += signo == SIGPROF;
	host_code = info->si_code;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	host_blocked = sigismember(&mask, SIGPROF) | sigismember(&mask, SIGUSR2) << 1 |
		       sigismember(&mask, SIGUSR1) << 2;
}

static void on_host_simple(int signo)
{
	host_signals += signo == SIGPROF;
}

static const struct sigaction host_action = { .sa_sigaction = on_host, .sa_flags = SA_SIGINFO };

#define CHECK(condition)                                                      \
	do {                                                                  \
		if (!(condition)) {                                           \
			print_message("line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                             \
		}                                                             \
	} while (0)

/* Runs BODY in a child; answers how it ended, as wait() does. */
static int in_child(void (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(20);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static bool is_ours(int signo)
{
	struct sigaction now;

	__sigaction(signo, NULL, &now);
	return now.sa_sigaction == handler_on_signal;
}

static void free_signal(void)
{
	struct sigaction now;

	CHECK(signal_take(false) == SIGPROF);
	CHECK(signal_take(false) == SIGPROF);
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_sigaction == handler_on_signal);
	CHECK((now.sa_flags & (SA_SIGINFO | SA_RESTART | SA_ONSTACK)) == (SA_SIGINFO | SA_RESTART));
	CHECK(sigismember(&now.sa_mask, SIGUSR1) && !sigismember(&now.sa_mask, SIGSEGV));
}

static void ignored_signal(void)
{
	struct sigaction now;

	signal(SIGPROF, SIG_IGN);
	CHECK(signal_take(false) == SIGVTALRM);
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN); /* and so for the programs that this one starts */
	raise(SIGPROF);
}

/* None is free: one that is ignored is taken, and given back for an exec. */
static void all_ignored(void)
{
	struct sigaction now;

	signal(SIGPROF, SIG_IGN);
	signal(SIGVTALRM, SIG_IGN);
	signal(SIGSTKFLT, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	CHECK(signal_take(false) == SIGPROF);
	raise(SIGPROF); /* still ignored */
	signal_before_exec();
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN);
	signal_after_failed_exec();
	CHECK(is_ours(SIGPROF));
}

/* A host whose handler is to interrupt a call gets that. */
static void interrupting_handler(void)
{
	struct sigaction now, wanted = host_action, old;

	CHECK(signal_take(false) == SIGPROF);
	CHECK(signal_host_action(SIGPROF, &wanted, &old));
	__sigaction(SIGPROF, NULL, &now);
	CHECK((now.sa_flags & SA_RESTART) == 0);
	/* Ours is another one now, which is to interrupt nothing. */
	__sigaction(SIGVTALRM, NULL, &now);
	CHECK((now.sa_flags & SA_RESTART) != 0);
	wanted.sa_flags |= SA_RESTART;
	CHECK(signal_host_action(SIGPROF, &wanted, &old));
	__sigaction(SIGPROF, NULL, &now);
	CHECK((now.sa_flags & SA_RESTART) != 0);
}

static void handled_signal(void)
{
	__sigaction(SIGPROF, &host_action, NULL);
	CHECK(signal_take(false) == SIGVTALRM);
	CHECK(!is_ours(SIGPROF));
	raise(SIGPROF);
	CHECK(host_signals == 1);
}

static void all_handled(void)
{
	struct sigaction on_stack = host_action;

	on_stack.sa_flags |= SA_ONSTACK;
	__sigaction(SIGPROF, &on_stack, NULL);
	__sigaction(SIGVTALRM, &on_stack, NULL);
	__sigaction(SIGSTKFLT, &on_stack, NULL);
	__sigaction(SIGIO, &on_stack, NULL);
	__sigaction(SIGURG, &on_stack, NULL);
	CHECK(signal_take(false) == SIGPROF);
	CHECK(is_ours(SIGPROF));
	raise(SIGPROF);
	CHECK(host_signals == 1 && host_code == SI_TKILL);
}

static void taken_by_the_default_kills(void)
{
	CHECK(signal_take(false) == SIGPROF);
	kill(getpid(), SIGPROF);
	for (;;)
		pause();
}

static void expired_profiling_timer_kills(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 1000 } };

	CHECK(signal_take(false) == SIGPROF);
	setitimer(ITIMER_PROF, &soon, NULL);
	for (;;)
		__asm__ volatile("pause");
}

static void late_overflow_does_not_kill(void)
{
	siginfo_t info;
	ucontext_t context;

	memset(&info, 0, sizeof(info));
	memset(&context, 0, sizeof(context));
	CHECK(signal_take(false) == SIGPROF);
	info.si_code = 1; /* POLL_IN */
	info.si_fd = 1000;
	handler_on_signal(SIGPROF, &info, &context);
}

static void host_changes_are_noted(void)
{
	struct sigaction old, simple = { .sa_handler = on_host_simple };

	CHECK(signal_take(false) == SIGPROF);
	CHECK(!signal_host_action(SIGUSR1, &host_action, &old));
	CHECK(signal_host_action(SIGPROF, &host_action, &old));
	CHECK(old.sa_handler == SIG_DFL);
	CHECK(is_ours(SIGPROF));
	raise(SIGPROF);
	CHECK(host_signals == 1 && host_code == SI_TKILL);
	CHECK(signal_host_action(SIGPROF, NULL, &old));
	CHECK(old.sa_sigaction == on_host && old.sa_flags == SA_SIGINFO);
	CHECK(signal_host_action(SIGPROF, &simple, NULL));
	raise(SIGPROF);
	CHECK(host_signals == 2);
	simple.sa_handler = SIG_IGN;
	CHECK(signal_host_action(SIGPROF, &simple, &simple));
	CHECK(simple.sa_handler == on_host_simple);
	raise(SIGPROF);
	CHECK(host_signals == 2);
}

static void host_mask_is_kept(void)
{
	struct sigaction action = host_action;

	CHECK(signal_take(false) == SIGPROF);
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR2);
	signal_host_action(SIGPROF, &action, NULL);
	raise(SIGPROF);
	CHECK(host_blocked == 3); /* SIGPROF and SIGUSR2, not SIGUSR1 */
	action.sa_flags |= SA_NODEFER;
	signal_host_action(SIGPROF, &action, NULL);
	raise(SIGPROF);
	CHECK(host_blocked == 2);
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	CHECK(!sigismember(&mask, SIGPROF) && !sigismember(&mask, SIGUSR2));
}

static void one_shot_handler_runs_once(void)
{
	struct sigaction action = host_action, old;

	CHECK(signal_take(false) == SIGPROF);
	action.sa_flags |= SA_RESETHAND;
	signal_host_action(SIGPROF, &action, NULL);
	raise(SIGPROF);
	CHECK(host_signals == 1);
	signal_host_action(SIGPROF, NULL, &old);
	CHECK(old.sa_handler == SIG_DFL);
	raise(SIGPROF); /* kills */
	_exit(1);
}

static void alternate_stack_follows_the_host(void)
{
	struct sigaction action = host_action, now;

	CHECK(signal_take(false) == SIGPROF);
	action.sa_flags |= SA_ONSTACK;
	signal_host_action(SIGPROF, &action, NULL);
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_flags & SA_ONSTACK);
	signal_host_action(SIGPROF, &host_action, NULL);
	__sigaction(SIGPROF, NULL, &now);
	CHECK(!(now.sa_flags & SA_ONSTACK));
	/* A Go runtime that came later. */
	CHECK(!signal_is_on_alternate_stack());
	__sigaction(SIGURG, &action, NULL);
	signal_check();
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_flags & SA_ONSTACK);
	CHECK(signal_is_on_alternate_stack());
}

/* By system call, as Go does: the host keeps its handler, as it is. */
static void replaced_handler_stays(void)
{
	struct sigaction old;

	CHECK(signal_take(false) == SIGPROF);
	__sigaction(SIGPROF, &host_action, NULL);
	signal_check();
	CHECK(!is_ours(SIGPROF) && is_ours(SIGVTALRM));
	CHECK(signal_number() == SIGVTALRM);
	raise(SIGPROF);
	CHECK(host_signals == 1);
	CHECK(!signal_host_action(SIGPROF, NULL, &old));
	/* And again; the last one has nowhere to go, and comes back. */
	__sigaction(SIGVTALRM, &host_action, NULL);
	__sigaction(SIGSTKFLT, &host_action, NULL);
	__sigaction(SIGURG, &host_action, NULL);
	signal_check();
	CHECK(signal_number() == SIGIO && is_ours(SIGIO) && !is_ours(SIGVTALRM));
	__sigaction(SIGIO, &host_action, NULL);
	signal_check();
	CHECK(signal_number() == SIGIO && is_ours(SIGIO));
}

/* The host begins to use the signal, stops, and begins again; then it takes the next one. */
static void moves_out_of_the_way(void)
{
	struct sigaction unused = { .sa_handler = SIG_DFL }, old;

	CHECK(signal_take(false) == SIGPROF);
	CHECK(signal_host_action(SIGPROF, &host_action, &old));
	CHECK(old.sa_handler == SIG_DFL);
	CHECK(signal_number() == SIGVTALRM && is_ours(SIGVTALRM));
	/* A tick of ours may still be on its way. */
	CHECK(is_ours(SIGPROF));
	raise(SIGPROF);
	CHECK(host_signals == 1);
	CHECK(signal_host_action(SIGPROF, &unused, &old));
	CHECK(old.sa_sigaction == on_host);
	CHECK(signal_host_action(SIGPROF, &host_action, &old));
	CHECK(old.sa_handler == SIG_DFL && signal_number() == SIGVTALRM);
	raise(SIGPROF);
	CHECK(host_signals == 2);
	CHECK(signal_host_action(SIGVTALRM, NULL, &old) && old.sa_handler == SIG_DFL);
	CHECK(signal_host_action(SIGVTALRM, &host_action, NULL));
	CHECK(signal_number() == SIGSTKFLT && is_ours(SIGSTKFLT));
	CHECK(signal_host_action(SIGVTALRM, NULL, &old) && old.sa_sigaction == on_host);
	CHECK(signal_take(false) == SIGSTKFLT);
}

/* To ignore a signal, or to handle it no more, is no use of it. */
static void stays_where_nobody_handles(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	CHECK(signal_take(false) == SIGPROF);
	CHECK(signal_host_action(SIGPROF, &action, NULL));
	action.sa_handler = SIG_DFL;
	CHECK(signal_host_action(SIGPROF, &action, NULL));
	CHECK(signal_host_action(SIGPROF, NULL, &action));
	CHECK(signal_number() == SIGPROF);
}

/* A move is by no means to one that the host uses. */
static void nowhere_to_go(void)
{
	struct sigaction old;

	CHECK(signal_take(false) == SIGPROF);
	__sigaction(SIGVTALRM, &host_action, NULL);
	__sigaction(SIGSTKFLT, &host_action, NULL);
	__sigaction(SIGIO, &host_action, NULL);
	__sigaction(SIGURG, &host_action, NULL);
	CHECK(signal_host_action(SIGPROF, &host_action, &old));
	CHECK(signal_number() == SIGPROF && is_ours(SIGPROF) && !is_ours(SIGVTALRM));
	raise(SIGPROF);
	CHECK(host_signals == 1);
}

/* What is pending at an exec, and whatever else comes by default, does nothing. */
static void urgent_for_the_fast(void)
{
	CHECK(signal_take(true) == SIGURG && is_ours(SIGURG) && !is_ours(SIGPROF));
	CHECK(kill(getpid(), SIGURG) == 0 && raise(SIGURG) == 0);
	CHECK(signal_is_ours_alone() && !signal_is_on_alternate_stack());
	CHECK(signal_take(false) == SIGURG);
}

static void a_faster_session_takes_it_too(void)
{
	CHECK(signal_take(false) == SIGPROF && !is_ours(SIGURG));
	CHECK(signal_take(true) == SIGURG && is_ours(SIGURG));
	/* A tick of ours may still be on its way. */
	CHECK(is_ours(SIGPROF));
	CHECK(signal_take(false) == SIGURG);
}

static void on_host_urgent(int signo)
{
	host_signals += signo == SIGURG;
}

/* Whether it is there before us, or comes later: by libc, or as Go does. */
static void urgent_is_the_hosts(void)
{
	struct sigaction action = { .sa_handler = on_host_urgent, .sa_flags = SA_RESTART }, old;

	__sigaction(SIGURG, &action, NULL);
	CHECK(signal_take(true) == SIGPROF && !is_ours(SIGURG));
	signal(SIGURG, SIG_DFL);
	CHECK(signal_take(true) == SIGURG);
	CHECK(signal_host_action(SIGURG, &action, &old) && old.sa_handler == SIG_DFL);
	/* SIGPROF's handler is ours, for ticks that are late. */
	CHECK(signal_number() == SIGVTALRM);
	raise(SIGURG);
	CHECK(host_signals == 1);
}

static void urgent_is_replaced(void)
{
	struct sigaction action = { .sa_handler = on_host_urgent,
				    .sa_flags = SA_RESTART | SA_ONSTACK };
	struct sigaction now;

	CHECK(signal_take(true) == SIGURG);
	__sigaction(SIGURG, &action, NULL);
	signal_check();
	CHECK(!is_ours(SIGURG) && signal_number() == SIGPROF);
	__sigaction(SIGPROF, NULL, &now);
	CHECK(now.sa_flags & SA_ONSTACK);
	raise(SIGURG);
	CHECK(host_signals == 1);
}

static void urgent_is_waited_for(void)
{
	CHECK(signal_take(true) == SIGURG);
	signal_leave_urgent();
	CHECK(signal_number() == SIGPROF && is_ours(SIGPROF));
	CHECK(signal_take(true) == SIGPROF);
	raise(SIGURG);
}

#define ENDS_WELL(name)                              \
	static void name##_ends_well(void **unused)  \
	{                                            \
		(void)unused;                        \
		assert_int_equal(in_child(name), 0); \
	}
#define IS_KILLED(name)                                    \
	static void name##_is_killed(void **unused)        \
	{                                                  \
		(void)unused;                              \
		assert_int_equal(in_child(name), SIGPROF); \
	}

ENDS_WELL(free_signal)
ENDS_WELL(ignored_signal)
ENDS_WELL(all_ignored)
ENDS_WELL(interrupting_handler)
ENDS_WELL(handled_signal)
ENDS_WELL(all_handled)
IS_KILLED(taken_by_the_default_kills)
IS_KILLED(expired_profiling_timer_kills)
ENDS_WELL(late_overflow_does_not_kill)
ENDS_WELL(host_changes_are_noted)
ENDS_WELL(host_mask_is_kept)
IS_KILLED(one_shot_handler_runs_once)
ENDS_WELL(alternate_stack_follows_the_host)
ENDS_WELL(replaced_handler_stays)
ENDS_WELL(moves_out_of_the_way)
ENDS_WELL(stays_where_nobody_handles)
ENDS_WELL(nowhere_to_go)
ENDS_WELL(urgent_for_the_fast)
ENDS_WELL(a_faster_session_takes_it_too)
ENDS_WELL(urgent_is_the_hosts)
ENDS_WELL(urgent_is_replaced)
ENDS_WELL(urgent_is_waited_for)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_signal_ends_well),
		cmocka_unit_test(ignored_signal_ends_well),
		cmocka_unit_test(all_ignored_ends_well),
		cmocka_unit_test(interrupting_handler_ends_well),
		cmocka_unit_test(handled_signal_ends_well),
		cmocka_unit_test(all_handled_ends_well),
		cmocka_unit_test(taken_by_the_default_kills_is_killed),
		cmocka_unit_test(expired_profiling_timer_kills_is_killed),
		cmocka_unit_test(late_overflow_does_not_kill_ends_well),
		cmocka_unit_test(host_changes_are_noted_ends_well),
		cmocka_unit_test(host_mask_is_kept_ends_well),
		cmocka_unit_test(one_shot_handler_runs_once_is_killed),
		cmocka_unit_test(alternate_stack_follows_the_host_ends_well),
		cmocka_unit_test(replaced_handler_stays_ends_well),
		cmocka_unit_test(moves_out_of_the_way_ends_well),
		cmocka_unit_test(stays_where_nobody_handles_ends_well),
		cmocka_unit_test(nowhere_to_go_ends_well),
		cmocka_unit_test(urgent_for_the_fast_ends_well),
		cmocka_unit_test(a_faster_session_takes_it_too_ends_well),
		cmocka_unit_test(urgent_is_the_hosts_ends_well),
		cmocka_unit_test(urgent_is_replaced_ends_well),
		cmocka_unit_test(urgent_is_waited_for_ends_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
