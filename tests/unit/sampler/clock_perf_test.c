/* SPDX-License-Identifier: MIT */
/*
 * clock_perf_test.c - the perf_event clock at 1,000 Hz, opened by a thread with its own
 * descriptors. 77 where the system refuses perf_event_open: then only the fall-back is tested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/signal.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "tests/unit/sig/jit.h"

enum { HZ = 1000 };

static struct jit jit;
static atomic_bool finish, ready;
static atomic_long samples, weight, wrong;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void drain_ring(void *context, struct thread *thread, struct ring *ring)
{
	const struct sample *sample;

	(void)context, (void)thread;
	while ((sample = ring_peek(ring)) != NULL) {
		atomic_fetch_add(&samples, 1);
		atomic_fetch_add(&weight, sample->weight);
		if (sample->kind == SAMPLE_GUEST && !jit_is_complete(&jit, sample))
			atomic_fetch_add(&wrong, 1);
		ring_release(ring, sample);
	}
}

static void *our_thread(void *unused)
{
	(void)unused;
	/* As our thread does; the signals' descriptors are then numbers of this table. */
	if (unshare(CLONE_FILES) != 0)
		return NULL;
	while (!atomic_load(&finish)) {
		sampler_work(clock_ns(CLOCK_MONOTONIC));
		sampler_each_ring(drain_ring, NULL);
		atomic_store(&ready, true);
		usleep(20000);
	}
	sampler_each_ring(drain_ring, NULL);
	return NULL;
}

static int descriptors_in_use(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void burn(uint64_t cpu_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < cpu_ns)
		jit.outer(20000);
}

static bool is_refused;
static volatile sig_atomic_t host_signals;

static void on_host(int signo)
{
	host_signals += signo == SIGPROF;
}

static void a_thousand_a_second(void **unused)
{
	int before = descriptors_in_use();
	struct sampler_info info;
	struct thread *self;
	pthread_t ours;

	(void)unused;
	assert_int_equal(sampler_start(HZ, 8 << 20), 0);
	self = state.adopt_thread();
	assert_non_null(self);
	assert_int_equal(pthread_create(&ours, NULL, our_thread, NULL), 0);
	for (int i = 0; i < 1000 && !atomic_load(&ready); i++)
		usleep(10000);
	assert_int_equal(descriptors_in_use(), before);
	burn(1000000000);
	atomic_store(&finish, true);
	pthread_join(ours, NULL);
	info = sampler_info();
	print_message("%s: %ld samples of weight %ld in a CPU second, %ld chains incomplete%s%s\n",
		      info.clock_name, atomic_load(&samples), atomic_load(&weight),
		      atomic_load(&wrong), info.why != NULL ? ": " : "",
		      info.why != NULL ? info.why : "");
	assert_int_equal(atomic_load(&wrong), 0);
	is_refused = info.clock != CLOCK_PERF_EVENT;
	if (is_refused) {
		assert_int_equal(info.clock, CLOCK_TIMER_FALLBACK);
		assert_non_null(info.why);
		/* Overruns stand for the ticks that the kernel merged. */
		assert_in_range(atomic_load(&weight), HZ * 6 / 10, HZ * 11 / 10);
		return;
	}
	/* The kernel merges ticks that come late on a busy machine; a timer would give 250. */
	assert_in_range(atomic_load(&samples), HZ * 6 / 10, HZ * 11 / 10);
}

static void an_eighth_counts_for_eight(void **unused)
{
	enum { PERIODS = 8 };
	pthread_t ours;

	(void)unused;
	sampler_set_periods(PERIODS);
	atomic_store(&finish, false);
	atomic_store(&ready, false);
	atomic_store(&samples, 0);
	atomic_store(&weight, 0);
	/* The clock of before is in the table of a thread that has ended. */
	atomic_store(&sig_self->perf_fd, -1);
	assert_int_equal(pthread_create(&ours, NULL, our_thread, NULL), 0);
	for (int i = 0; i < 1000 && !atomic_load(&ready); i++)
		usleep(10000);
	burn(1000000000);
	atomic_store(&finish, true);
	pthread_join(ours, NULL);
	sampler_set_periods(1);
	print_message("%ld samples of weight %ld\n", atomic_load(&samples), atomic_load(&weight));
	assert_in_range(atomic_load(&weight), HZ * 6 / 10, HZ * 11 / 10);
	assert_true(atomic_load(&samples) * PERIODS <= atomic_load(&weight));
}

/* The host begins to handle the signal while it is sampled. */
static void moves_to_another_signal(void **unused)
{
	const struct sigaction action = { .sa_handler = on_host };
	pthread_t ours;

	(void)unused;
	atomic_store(&finish, false);
	atomic_store(&ready, false);
	atomic_store(&weight, 0);
	atomic_store(&sig_self->perf_fd, -1);
	assert_int_equal(pthread_create(&ours, NULL, our_thread, NULL), 0);
	for (int i = 0; i < 1000 && !atomic_load(&ready); i++)
		usleep(10000);
	burn(200000000);
	assert_true(signal_host_action(SIGURG, &action, NULL));
	burn(800000000);
	atomic_store(&finish, true);
	pthread_join(ours, NULL);
	assert_int_equal(sampler_info().signal, SIGPROF);
	assert_in_range(atomic_load(&weight), HZ * 6 / 10, HZ * 11 / 10);
	assert_int_equal(host_signals, 0);
}

/* The child's clock is opened by the child's own thread, in a table that the parent's is not. */
static int child_of_fork(void)
{
	pthread_t ours;

	atomic_store(&finish, false);
	atomic_store(&ready, false);
	atomic_store(&samples, 0);
	atomic_store(&weight, 0);
	sampler_after_fork();
	if (pthread_create(&ours, NULL, our_thread, NULL) != 0)
		return 1;
	for (int i = 0; i < 1000 && !atomic_load(&ready); i++)
		usleep(10000);
	burn(300000000);
	atomic_store(&finish, true);
	pthread_join(ours, NULL);
	return atomic_load(&weight) > HZ * 2 / 10 && atomic_load(&wrong) == 0 ? 0 : 2;
}

static void child_has_a_clock_too(void **unused)
{
	int status = -1;
	pid_t child = fork();

	(void)unused;
	if (child == 0)
		_exit(child_of_fork());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_a_second),
		cmocka_unit_test(an_eighth_counts_for_eight),
		cmocka_unit_test(moves_to_another_signal),
		cmocka_unit_test(child_has_a_clock_too),
	};
	int failed;

	if (!jit_make(&jit))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return failed == 0 && is_refused ? 77 : failed;
}
