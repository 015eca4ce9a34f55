/* SPDX-License-Identifier: MIT */
/* ring_test.c - wrap, full, a real handler against a reader, and every short schedule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "preload/sig/ring.h"

static struct ring *make_ring(size_t size)
{
	struct ring *ring = calloc(1, sizeof(*ring) + size);

	assert_non_null(ring);
	ring->size = size;
	return ring;
}

/* Puts a record with WORDS words that say NUMBER; false when the ring is full. */
static bool put(struct ring *ring, uint64_t number, uint32_t words, uint32_t spare)
{
	struct sample *sample = ring_reserve(ring, sizeof(*sample) + (words + spare) * 8);

	if (sample == NULL)
		return false;
	sample->kind = SAMPLE_GUEST;
	sample->time_ns = number;
	sample->pc_count = words;
	for (uint32_t i = 0; i < words; i++)
		sample->words[i] = number + i;
	sample->size = (uint32_t)(sizeof(*sample) + words * 8);
	ring_commit(ring, sample);
	return true;
}

static bool is_whole(const struct sample *sample, uint64_t number)
{
	if (sample->time_ns != number || sample->size != sizeof(*sample) + sample->pc_count * 8)
		return false;
	for (uint32_t i = 0; i < sample->pc_count; i++) {
		if (sample->words[i] != number + i)
			return false;
	}
	return true;
}

static void empty_ring_has_nothing(void **unused)
{
	struct ring *ring = make_ring(1024);

	(void)unused;
	assert_null(ring_peek(ring));
	free(ring);
}

static void a_reservation_is_invisible(void **unused)
{
	struct ring *ring = make_ring(1024);

	(void)unused;
	assert_non_null(ring_reserve(ring, 64));
	assert_null(ring_peek(ring));
	/* Letting it go leaves no trace: the next one is in the same place. */
	assert_true(put(ring, 7, 1, 0));
	assert_true(is_whole(ring_peek(ring), 7));
	free(ring);
}

static void records_of_any_size_wrap(void **unused)
{
	struct ring *ring = make_ring(1024);
	uint64_t written = 0, read = 0;

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		const struct sample *sample;

		while (put(ring, written, (uint32_t)(written * 7 % 23), (uint32_t)(written % 3)))
			written++;
		/* Two for one, so that head and tail meet in all positions. */
		for (int i = 0; i < 2 && (sample = ring_peek(ring)) != NULL; i++) {
			assert_true(is_whole(sample, read));
			ring_release(ring, sample);
			read++;
		}
	}
	assert_true(written > 2000);
	while (ring_peek(ring) != NULL) {
		assert_true(is_whole(ring_peek(ring), read));
		ring_release(ring, ring_peek(ring));
		read++;
	}
	assert_int_equal(written, read);
	free(ring);
}

static void full_ring_drops_the_newest(void **unused)
{
	struct ring *ring = make_ring(256);

	(void)unused;
	assert_true(put(ring, 1, 10, 0)); /* 128 bytes */
	assert_true(put(ring, 2, 10, 0));
	assert_false(put(ring, 3, 0, 0));
	assert_true(is_whole(ring_peek(ring), 1));
	ring_release(ring, ring_peek(ring));
	assert_true(put(ring, 4, 10, 0));
	assert_true(is_whole(ring_peek(ring), 2));
	free(ring);
}

static void larger_than_the_ring_is_refused(void **unused)
{
	struct ring *ring = make_ring(256);

	(void)unused;
	assert_null(ring_reserve(ring, 264));
	assert_non_null(ring_reserve(ring, 256));
	free(ring);
}

static void commit_says_when_half_full(void **unused)
{
	struct ring *ring = make_ring(256);
	struct sample *sample;

	(void)unused;
	sample = ring_reserve(ring, 128);
	sample->size = 128;
	assert_false(ring_commit(ring, sample));
	sample = ring_reserve(ring, 64);
	sample->size = 64;
	assert_true(ring_commit(ring, sample));
	free(ring);
}

/*
 * Every schedule of nine steps, each step a put of one of three sizes or a release, against a
 * queue that cannot be wrong.
 */
static void all_short_schedules_agree_with_a_queue(void **unused)
{
	enum { STEPS = 9, ACTIONS = 4 };
	static const uint32_t words[] = { 0, 5, 13 };
	struct ring *ring = make_ring(256);
	long schedules = 1;

	(void)unused;
	for (int i = 0; i < STEPS; i++)
		schedules *= ACTIONS;
	for (long schedule = 0; schedule < schedules; schedule++) {
		uint64_t written = 0, read = 0;
		long rest = schedule;

		/* A start in the middle, so that short schedules wrap. */
		atomic_store(&ring->head, 160);
		atomic_store(&ring->tail, 160);
		for (int i = 0; i < STEPS; i++, rest /= ACTIONS) {
			const struct sample *sample = ring_peek(ring);

			assert_true((sample != NULL) == (read < written));
			assert_true(sample == NULL || is_whole(sample, read));
			if (rest % ACTIONS < 3) {
				written += put(ring, written, words[rest % ACTIONS], 0);
			} else if (sample != NULL) {
				ring_release(ring, sample);
				read++;
			}
			assert_true(atomic_load(&ring->head) - atomic_load(&ring->tail) <=
				    ring->size);
		}
	}
	free(ring);
}

/* A producer in a real handler, a consumer on another thread. */
static struct ring *shared;
static volatile uint64_t produced, refused;

static void on_alarm(int signo)
{
	(void)signo;
	for (int i = 0; i < 50; i++) {
		if (put(shared, produced, (uint32_t)(produced % 60), 3))
			produced++;
		else
			refused++;
	}
}

static atomic_bool done;

static void *consume(void *count)
{
	uint64_t read = 0;

	for (;;) {
		bool last = atomic_load(&done);
		const struct sample *sample = ring_peek(shared);

		if (sample == NULL && last)
			break;
		if (sample == NULL) {
			sched_yield();
			continue;
		}
		if (!is_whole(sample, read))
			break;
		ring_release(shared, sample);
		read++;
	}
	*(uint64_t *)count = read;
	return NULL;
}

static void handler_and_reader_agree(void **unused)
{
	struct itimerval fast = { { 0, 200 }, { 0, 200 } }, off = { 0 };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	sigset_t alarm_only, before;
	struct timespec start, now;
	pthread_t reader;
	uint64_t read = 0;

	(void)unused;
	shared = make_ring(4096);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	/* Blocked in the reader: the handler shall run on this thread. */
	pthread_sigmask(SIG_BLOCK, &alarm_only, &before);
	assert_int_equal(pthread_create(&reader, NULL, consume, &read), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	setitimer(ITIMER_REAL, &fast, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (produced < 20000 && now.tv_sec - start.tv_sec < 10);
	setitimer(ITIMER_REAL, &off, NULL);
	atomic_store(&done, true);
	pthread_join(reader, NULL);
	print_message("produced %lu refused %lu\n", (unsigned long)produced,
		      (unsigned long)refused);
	assert_true(produced >= 1000);
	assert_int_equal(read, produced);
	free(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_ring_has_nothing),
		cmocka_unit_test(a_reservation_is_invisible),
		cmocka_unit_test(records_of_any_size_wrap),
		cmocka_unit_test(full_ring_drops_the_newest),
		cmocka_unit_test(larger_than_the_ring_is_refused),
		cmocka_unit_test(commit_says_when_half_full),
		cmocka_unit_test(all_short_schedules_agree_with_a_queue),
		cmocka_unit_test(handler_and_reader_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
