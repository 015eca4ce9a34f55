/* SPDX-License-Identifier: MIT */
/* delivery_test.c - our thread sends itself signals; the host notices none. In children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/base/stats.h"
#include "preload/sampler/delivery.h"
#include "preload/sampler/sampler.h"
#include "preload/sig/handler.h"

enum { HZ = 100 };

static volatile sig_atomic_t host_signals;

static void on_host(int signo)
{
	host_signals += signo == SIGPROF;
}

static uint64_t took_ns;

static void *our_thread(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	took_ns = delivery_measure_ns();
	pthread_sigmask(SIG_SETMASK, NULL, &all);
	if (sigismember(&all, SIGPROF) != 1)
		took_ns = UINT64_MAX;
	return unused;
}

static void measure(void)
{
	pthread_t thread;

	if (sampler_start(HZ, 8 << 20) != 0 || pthread_create(&thread, NULL, our_thread, NULL) != 0)
		_exit(2);
	pthread_join(thread, NULL);
}

static int in_child(int (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(20);
		_exit(body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* It is a time; and nothing was counted, or is left of it. */
static int is_measured(void)
{
	measure();
	print_message("%llu ns\n", (unsigned long long)took_ns);
	if (took_ns < 50 || took_ns > 1000000)
		return 1;
	return stat_get(STAT_SIGNALS) == 0 && stat_get(STAT_LOST_NO_THREAD) == 0 &&
			       atomic_load(&handler_setup.probed_tid) == 0
		       ? 0
		       : 3;
}

static void a_signal_takes_some_time(void **unused)
{
	(void)unused;
	assert_int_equal(in_child(is_measured), 0);
}

/* The kernel then delivers signals without saying whose they are: the default would kill. */
static int is_survived(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_SIGPENDING, &none) != 0)
		return 77;
	measure();
	return took_ns >= 50 && took_ns != UINT64_MAX ? 0 : 1;
}

static void no_room_for_signals(void **unused)
{
	(void)unused;
	assert_int_equal(in_child(is_survived), 0);
}

/* Its own signals must not come to our thread: nothing is sent. */
static int is_left_alone(void)
{
	static const int all[] = { SIGPROF, SIGVTALRM, SIGSTKFLT, SIGIO, SIGURG };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		signal(all[i], on_host);
	measure();
	return took_ns == DELIVERY_USUAL_NS && host_signals == 0 ? 0 : 1;
}

static void host_with_handlers(void **unused)
{
	(void)unused;
	assert_int_equal(in_child(is_left_alone), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_takes_some_time),
		cmocka_unit_test(no_room_for_signals),
		cmocka_unit_test(host_with_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
