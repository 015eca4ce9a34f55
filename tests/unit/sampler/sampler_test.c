/* SPDX-License-Identifier: MIT */
/*
 * sampler_test.c - CPU timers end to end: adopted and found threads, churn, fork, stop, over the
 * code of jit.h. What our thread does is done by a thread of the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/signal.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "tests/unit/sig/jit.h"

enum { HZ = 200, DEADLINE_S = 30 };

static struct jit jit;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Runs guest code for so much CPU time of the calling thread. */
static void burn(uint64_t cpu_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < cpu_ns)
		jit.outer(20000);
}

struct tally {
	pid_t tid; /* 0: all */
	long samples, weight, complete, guest;
};

static void drain_ring(void *context, struct thread *thread, struct ring *ring)
{
	struct tally *tally = context;
	const struct sample *sample;

	while ((sample = ring_peek(ring)) != NULL) {
		if (tally->tid == 0 || thread->tid == tally->tid) {
			tally->samples++;
			tally->weight += sample->weight;
			tally->guest += sample->kind == SAMPLE_GUEST;
			tally->complete +=
				sample->kind == SAMPLE_GUEST && jit_is_complete(&jit, sample);
		}
		ring_release(ring, sample);
	}
}

/* One turn of "our" thread, at a time of the test's choice. */
struct turn {
	uint64_t now_ns;
	struct tally tally;
};

static void *take_turn(void *argument)
{
	struct turn *turn = argument;

	sampler_work(turn->now_ns);
	sampler_each_ring(drain_ring, &turn->tally);
	return NULL;
}

static struct tally work_at(uint64_t now_ns, pid_t tid)
{
	struct turn turn = { .now_ns = now_ns, .tally.tid = tid };
	pthread_t worker;

	pthread_create(&worker, NULL, take_turn, &turn);
	pthread_join(worker, NULL);
	return turn.tally;
}

static struct tally work(pid_t tid)
{
	return work_at(clock_ns(CLOCK_MONOTONIC), tid);
}

static int setup_group(void **unused)
{
	(void)unused;
	if (!jit_make(&jit))
		return -1;
	return sampler_start(HZ, 8 << 20);
}

static void adopted_thread_is_sampled(void **unused)
{
	struct thread *self;
	struct tally tally;

	(void)unused;
	errno = 44;
	self = state.adopt_thread();
	assert_int_equal(errno, 44);
	assert_non_null(self);
	assert_ptr_equal(sig_self, self);
	assert_ptr_equal(state.adopt_thread(), self);
	assert_int_equal(self->tid, syscall(SYS_gettid));
	assert_true(atomic_load(&self->stack_start) < (uintptr_t)&tally);
	assert_true(atomic_load(&self->stack_end) > (uintptr_t)&tally);
	work(0);
	/* pthread_create() blocks signals: a turn that saw that has taken the clock away. */
	while (atomic_load(&self->timer_mark) == 0) {
		usleep(10000);
		work(0);
	}
	burn(1000000000);
	tally = work(self->tid);
	print_message("%ld samples of weight %ld, %ld in the guest\n", tally.samples, tally.weight,
		      tally.guest);
	assert_in_range(tally.weight, HZ * 8 / 10, HZ * 11 / 10);
	assert_int_equal(tally.complete, tally.guest);
	assert_true(tally.guest > tally.samples * 9 / 10);
}

static atomic_int go_on;
static atomic_int found_tid;

static void *unannounced(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "unannounced");
	atomic_store(&found_tid, (int)syscall(SYS_gettid));
	while (atomic_load(&go_on))
		jit.outer(1000);
	return NULL;
}

static void find_block(void *context, struct thread *thread)
{
	struct thread **found = context;

	if (blocks_is_live(thread) && thread->tid == atomic_load(&found_tid))
		*found = thread;
}

static void unannounced_thread_is_found(void **unused)
{
	struct thread *block = NULL;
	struct tally tally = { 0 };
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_t thread;

	(void)unused;
	atomic_store(&go_on, 1);
	assert_int_equal(pthread_create(&thread, NULL, unannounced, NULL), 0);
	while (atomic_load(&found_tid) == 0)
		sched_yield();
	while (tally.samples < 20 &&
	       clock_ns(CLOCK_MONOTONIC) - start_ns < DEADLINE_S * 1000000000ull) {
		/* Half a second passes for the sampler at each turn. */
		struct tally more =
			work_at(start_ns + 1000000000ull * (uint64_t)(tally.samples + 1),
				atomic_load(&found_tid));

		tally.samples += more.samples;
		tally.complete += more.complete;
		usleep(10000);
	}
	blocks_each(find_block, &block);
	assert_non_null(block);
	assert_string_equal(block->name, "unannounced");
	assert_true(block->start_time > 0);
	atomic_store(&go_on, 0);
	pthread_join(thread, NULL);
	assert_true(tally.samples >= 20);
	/* Without its stack's bounds the walk probes, and is as complete. */
	assert_int_equal(tally.complete, tally.samples);
	/* Nobody says that it ended. */
	for (uint64_t i = 1; i < 1000 && atomic_load(&block->state) == THREAD_LIVE; i++) {
		work_at(start_ns + (100 + i) * 1000000000ull, 0);
		usleep(1000);
	}
	assert_int_not_equal(atomic_load(&block->state), THREAD_LIVE);
	assert_int_equal(atomic_load(&block->timer_mark), 0);
}

static void *short_life(void *errors)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	errno = 55;
	sampler_thread_started();
	if (errno != 55)
		atomic_fetch_add((atomic_int *)errors, 1);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < 5000000)
		jit.outer(1000);
	errno = 56;
	sampler_thread_ends();
	if (errno != 56 || sig_self != NULL)
		atomic_fetch_add((atomic_int *)errors, 1);
	return NULL;
}

static void count_taken(void *context, struct thread *thread)
{
	if (atomic_load(&thread->state) != THREAD_FREE)
		++*(int *)context;
}

static void threads_come_and_go(void **unused)
{
	enum { ROUNDS = 60, AT_ONCE = 4 };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC) + 5000000000000ull;
	struct tally tally = { 0 };
	atomic_int errors = 0;
	int taken = 0;
	uint32_t blocks;

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[AT_ONCE];
		struct tally more;

		for (int i = 0; i < AT_ONCE; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, short_life, &errors), 0);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
		now_ns += 300000000;
		more = work_at(now_ns, 0);
		tally.samples += more.samples;
		tally.guest += more.guest;
		tally.complete += more.complete;
	}
	assert_int_equal(atomic_load(&errors), 0);
	work_at(now_ns + 2000000000, 0);
	work_at(now_ns + 4000000000, 0);
	blocks_each(count_taken, &taken);
	blocks = atomic_load(&thread_table.count);
	print_message("%d threads, %ld samples, %u blocks used, %d taken at the end\n",
		      ROUNDS * AT_ONCE, tally.samples, blocks, taken);
	/* Lives of one period; the kernel looks at CPU timers only every 4 ms: most end before. */
	assert_true(tally.samples > ROUNDS * AT_ONCE / 10);
	assert_int_equal(tally.complete, tally.guest);
	/* Blocks and rings are used again: four lives at once, a second of grace. */
	assert_true(blocks <= 40);
	assert_true(taken <= 2);
	assert_int_equal(stat_get(STAT_LOST_NO_THREAD), 0);
}

static void *adopt_and_burn(void *unused)
{
	state.adopt_thread();
	burn(300000000);
	sampler_thread_ends();
	return unused;
}

/* At a quarter of the rate, threads that are there and new ones: each sample counts for four. */
static void rate_changes_for_all_threads(void **unused)
{
	enum { PERIODS = 4, NEW = 2 };
	pthread_t threads[NEW];
	struct tally own, all;

	(void)unused;
	work(0);
	sampler_set_periods(PERIODS);
	assert_int_equal(sampler_info().periods, PERIODS);
	work(0);
	for (int i = 0; i < NEW; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, adopt_and_burn, NULL), 0);
	for (int i = 0; i < NEW; i++)
		pthread_join(threads[i], NULL);
	all = work(0);
	print_message("new threads: %ld samples of weight %ld\n", all.samples, all.weight);
	assert_in_range(all.weight, NEW * HZ * 15 / 100, NEW * HZ * 4 / 10);
	assert_int_equal(all.weight % PERIODS, 0);
	assert_true(all.samples * PERIODS <= all.weight);
	burn(1000000000);
	own = work((pid_t)syscall(SYS_gettid));
	print_message("this one: %ld samples of weight %ld\n", own.samples, own.weight);
	assert_in_range(own.weight, HZ * 8 / 10, HZ * 11 / 10);
	assert_true(own.samples * PERIODS <= own.weight);
	sampler_set_periods(1);
	work(0);
	burn(500000000);
	own = work((pid_t)syscall(SYS_gettid));
	/* One may have been on its way. */
	assert_in_range(own.weight, HZ * 4 / 10, HZ * 6 / 10 + PERIODS);
	assert_true(own.samples > own.weight / PERIODS);
}

/* In the child only the forking thread is left, with a clock of its own. */
static int child_of_fork(void)
{
	struct thread *before = sig_self;
	struct tally tally;

	sampler_after_fork();
	if (sig_self != before || before->tid != (pid_t)syscall(SYS_gettid) ||
	    before->tid != getpid())
		return 1;
	burn(300000000);
	tally = work(getpid());
	if (tally.weight < HZ * 2 / 10 || tally.complete != tally.guest)
		return 2;
	return 0;
}

static void child_samples_itself(void **unused)
{
	struct tally tally;
	int status = -1;
	pid_t child;

	(void)unused;
	work(0);
	child = fork();
	if (child == 0)
		_exit(child_of_fork());
	burn(200000000);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* And the parent goes on. */
	tally = work((pid_t)syscall(SYS_gettid));
	assert_true(tally.weight >= HZ * 1 / 10);
}

static void info_names_the_clock(void **unused)
{
	struct sampler_info info = sampler_info();

	(void)unused;
	assert_int_equal(info.clock, CLOCK_CPU_TIMER);
	assert_string_equal(info.clock_name, "cpu timer");
	assert_null(info.why);
	assert_int_equal(info.signal, SIGPROF);
	assert_int_equal(info.requested_hz, HZ);
}

static volatile sig_atomic_t host_signals;

static void on_host(int signo)
{
	host_signals += signo == SIGPROF;
}

/* The host begins to handle the clocks' signal: threads of then and later get another one. */
static void moves_when_the_host_takes_the_signal(void **unused)
{
	struct sigaction action = { .sa_handler = on_host };
	enum { NEW = 2 };
	pthread_t threads[NEW];
	struct tally tally;

	(void)unused;
	work(0);
	assert_true(signal_host_action(SIGPROF, &action, NULL));
	/* Until our thread's next turn the clocks are those of before. */
	burn(100000000);
	/* As above: a turn may find that pthread_create() blocks signals. */
	do {
		usleep(10000);
		work(0);
	} while (atomic_load(&sig_self->timer_mark) >> 32 != SIGVTALRM);
	assert_int_equal(sampler_info().signal, SIGVTALRM);
	burn(500000000);
	tally = work((pid_t)syscall(SYS_gettid));
	assert_in_range(tally.weight, HZ * 4 / 10, HZ * 6 / 10);
	assert_int_equal(tally.complete, tally.guest);
	for (int i = 0; i < NEW; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, adopt_and_burn, NULL), 0);
	for (int i = 0; i < NEW; i++)
		pthread_join(threads[i], NULL);
	tally = work(0);
	assert_in_range(tally.weight, NEW * HZ * 15 / 100, NEW * HZ * 4 / 10);
	assert_int_equal(host_signals, 0);
	raise(SIGPROF);
	assert_int_equal(host_signals, 1);
}

static void stopped_is_silent(void **unused)
{
	unsigned long long before;

	(void)unused;
	sampler_stop();
	work(0);
	before = stat_get(STAT_SIGNALS);
	burn(200000000);
	assert_int_equal(work(0).samples, 0);
	assert_int_equal(stat_get(STAT_SIGNALS), before);
	assert_int_equal(atomic_load(&sig_self->timer_mark), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adopted_thread_is_sampled),
		cmocka_unit_test(unannounced_thread_is_found),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(rate_changes_for_all_threads),
		cmocka_unit_test(child_samples_itself),
		cmocka_unit_test(info_names_the_clock),
		cmocka_unit_test(moves_when_the_host_takes_the_signal),
		cmocka_unit_test(stopped_is_silent),
	};

	return cmocka_run_group_tests(tests, setup_group, NULL);
}
