/* SPDX-License-Identifier: MIT */
/*
 * restart_test.c - stop and start again, many times, while guests run and threads come and go:
 * every session has samples, none comes after a stop, and nothing is left over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/sampler.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "tests/unit/sig/jit.h"

enum { SESSIONS = 100, GUESTS = 3, DEADLINE_S = 60 };

static struct jit jit;
static atomic_bool is_over;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *guest(void *unused)
{
	state.adopt_thread();
	while (!atomic_load(&is_over))
		jit.outer(1000);
	sampler_thread_ends();
	return unused;
}

static void *short_life(void *unused)
{
	state.adopt_thread();
	jit.outer(100);
	sampler_thread_ends();
	return unused;
}

/* Threads that live for a moment, some of them through a start or a stop. */
static void *short_lives(void *unused)
{
	pthread_t thread;

	while (!atomic_load(&is_over)) {
		if (pthread_create(&thread, NULL, short_life, NULL) == 0)
			pthread_join(thread, NULL);
		usleep(2000); /* a hundred or so in the whole test, not more than there are blocks
			       */
	}
	return unused;
}

static void drain_ring(void *context, struct thread *thread, struct ring *ring)
{
	const struct sample *sample;

	(void)thread;
	while ((sample = ring_peek(ring)) != NULL) {
		++*(long *)context;
		ring_release(ring, sample);
	}
}

static long drain(void)
{
	long samples = 0;

	sampler_each_ring(drain_ring, &samples);
	return samples;
}

static size_t count_descriptors(void)
{
	DIR *entries = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(entries) != NULL)
		count++;
	closedir(entries);
	return count;
}

/* Those that stay: a thread that begins has a look at its mask in /proc. */
static size_t lasting_descriptors(void)
{
	size_t least = count_descriptors();

	for (int i = 0; i < 60; i++) {
		size_t count = count_descriptors();

		least = count < least ? count : least;
		usleep(1000);
	}
	return least;
}

static size_t count_timers(void)
{
	FILE *timers = fopen("/proc/self/timers", "r");
	char line[256];
	size_t count = 0;

	while (timers != NULL && fgets(line, sizeof(line), timers) != NULL)
		count += strncmp(line, "ID:", 3) == 0;
	if (timers != NULL)
		fclose(timers);
	return count;
}

/* One session at HZ until it has a sample. */
static void run_session(uint32_t hz)
{
	uint64_t end = now_ns() + DEADLINE_S * UINT64_C(1000000000);
	unsigned long long signals;
	long samples = 0;

	assert_int_equal(sampler_start(hz, 32 << 20), 0);
	assert_true(sampler_runs());
	while (samples == 0) {
		assert_true(now_ns() < end);
		sampler_work(now_ns());
		samples += drain();
		usleep(1000);
	}
	sampler_stop();
	assert_false(sampler_runs());
	drain();
	signals = stat_get(STAT_SIGNALS);
	usleep(2000);
	assert_int_equal(stat_get(STAT_SIGNALS), signals);
	/* A handler that was not running when it should have ended its sample has ended it now. */
	assert_in_range(drain(), 0, GUESTS);
	/* A thread that was about to arm its clock takes it away itself. */
	while (count_timers() != 0) {
		assert_true(now_ns() < end);
		usleep(1000);
	}
}

static void sessions(uint32_t hz, uint32_t other_hz)
{
	struct sigaction action;
	size_t before = 0;

	for (int i = 0; i < SESSIONS; i++) {
		run_session(i % 2 == 0 ? hz : other_hz);
		if (i == 1)
			before = lasting_descriptors();
	}
	/* fewer, where such a look was under way at every count of the first time */
	assert_in_range(lasting_descriptors(), 0, before);
	assert_int_equal(sigaction(sampler_info().signal, NULL, &action), 0);
	assert_true(action.sa_sigaction == handler_on_signal);
}

static void by_timers(void **unused)
{
	(void)unused;
	sessions(100, 250);
}

/* The rings grow from one session to the next. */
static void by_both_clocks(void **unused)
{
	(void)unused;
	sessions(200, 1000);
}

static void nothing_before_the_start(void **unused)
{
	struct sigaction action;

	(void)unused;
	assert_int_equal(sampler_prepare(), 0);
	assert_non_null(state.adopt_thread());
	assert_false(sampler_runs());
	assert_int_equal(count_timers(), 0);
	assert_int_equal(sigaction(SIGPROF, NULL, &action), 0);
	assert_true(action.sa_handler == SIG_DFL);
	assert_true(sampler_work(now_ns()) == UINT64_MAX);
}

static pthread_t guests[GUESTS + 1];

static int begin(void **unused)
{
	(void)unused;
	if (!jit_make(&jit) || sampler_prepare() != 0)
		return -1;
	for (int i = 0; i < GUESTS; i++)
		pthread_create(&guests[i], NULL, guest, NULL);
	return pthread_create(&guests[GUESTS], NULL, short_lives, NULL);
}

static int end(void **unused)
{
	(void)unused;
	atomic_store(&is_over, true);
	for (int i = 0; i <= GUESTS; i++)
		pthread_join(guests[i], NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_before_the_start),
		cmocka_unit_test(by_timers),
		cmocka_unit_test(by_both_clocks),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
