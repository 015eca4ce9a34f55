/* SPDX-License-Identifier: MIT */
/*
 * live_test.c - the handler under a fast clock over real machine code: complete chains, hostile
 * frame pointers, fibers at the end of their mapping, errno.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/base/stats.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"
#include "tests/unit/sig/jit.h"

enum { RING_SIZE = 1 << 20, PERIOD_NS = 50000, DEADLINE_S = 20 };

static struct jit jit;
static struct thread block;
static _Atomic(struct ring *) pool[1];
static timer_t timer;
static time_t deadline;

static void on_foreign(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
}

static int setup_group(void **unused)
{
	struct sigaction action = { .sa_sigaction = handler_on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
	struct ring *ring = calloc(1, sizeof(*ring) + RING_SIZE);

	(void)unused;
	if (ring == NULL || !jit_make(&jit))
		return -1;
	ring->size = RING_SIZE;
	atomic_store(&pool[0], ring);
	handler_setup.ring_pool = pool;
	handler_setup.ring_pool_size = 1;
	handler_setup.foreign = on_foreign;
	block.tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&block.state, THREAD_LIVE);
	thread_table.blocks = &block;
	thread_table.capacity = 1;
	atomic_store(&thread_table.count, 1);
	sigfillset(&action.sa_mask);
	sigaction(SIGPROF, &action, NULL);
	event.sigev_value.sival_ptr = &block;
	event._sigev_un._tid = block.tid;
	return timer_create(CLOCK_MONOTONIC, &event, &timer);
}

static void set_clock(long period_ns)
{
	struct itimerspec times = { { 0, period_ns }, { 0, period_ns } };
	struct timespec now;

	timer_settime(timer, 0, &times, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = now.tv_sec + DEADLINE_S;
}

static bool is_late(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > deadline;
}

struct tally {
	long samples, complete, truncated, on_boundary;
};

/* Takes what is in the ring. */
static void drain(struct tally *tally)
{
	struct ring *ring = atomic_load(&block.ring);
	const struct sample *sample;

	while (ring != NULL && (sample = ring_peek(ring)) != NULL) {
		uintptr_t offset = sample_pcs(sample)[0] - (uintptr_t)jit.page;

		if (sample->kind == SAMPLE_GUEST) {
			tally->samples++;
			tally->complete += jit_is_complete(&jit, sample);
			tally->truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
			/* push, mov or ret of one of the functions */
			tally->on_boundary += offset == JIT_LEAF || offset == JIT_LEAF + 1 ||
					      offset == JIT_LEAF + 5 || offset == JIT_INNER ||
					      offset == JIT_INNER + 1;
		}
		ring_release(ring, sample);
	}
}

static void every_chain_is_complete(void **unused)
{
	struct tally tally = { 0 };

	(void)unused;
	set_clock(PERIOD_NS);
	while (tally.samples < 20000 && !is_late()) {
		jit.outer(100000);
		drain(&tally);
	}
	set_clock(0);
	print_message("%ld samples, %ld of them on push, mov or ret\n", tally.samples,
		      tally.on_boundary);
	assert_true(tally.samples >= 1000);
	assert_true(tally.on_boundary > 100);
	assert_int_equal(tally.complete, tally.samples);
}

static volatile int enough;
static int wanted_runs;

/* The clock goes on until the handler ran often enough; a second timer would be another test. */
static void on_check(int signo)
{
	(void)signo;
	if (--wanted_runs <= 0)
		enough = 1;
}

static void spin_with(uintptr_t frame_pointer, struct tally *tally)
{
	enough = 0;
	wanted_runs = 20;
	jit.spin(frame_pointer, &enough);
	drain(tally);
}

static void hostile_frame_pointers_are_survived(void **unused)
{
	static uint64_t self_pointing[4];
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uintptr_t hostile[] = {
		0,
		1,
		0x8000000000000000u,
		0xffffffffffffff00u,
		UINTPTR_MAX,
		(uintptr_t)self_pointing,
		(uintptr_t)pages + 4096 - 4,
		(uintptr_t)pages + 4096 - 8,
		(uintptr_t)pages + 4096,
		(uintptr_t)jit.page,
	};
	struct sigaction action = { .sa_handler = on_check, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct itimerspec times = { { 0, 1000000 }, { 0, 1000000 } }, off = { 0 };
	timer_t checker;

	(void)unused;
	self_pointing[0] = (uintptr_t)self_pointing;
	self_pointing[1] = (uintptr_t)jit.page + JIT_SPIN;
	mprotect(pages + 4096, 4096, PROT_NONE);
	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &checker);
	timer_settime(checker, 0, &times, NULL);
	set_clock(PERIOD_NS);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct tally tally = { 0 };

		spin_with(hostile[i], &tally);
		assert_true(tally.samples > 10);
		/* A few ticks hit the instructions before and after the loop. */
		assert_true(tally.truncated > 0 || i == 9);
	}
	set_clock(0);
	timer_settime(checker, 0, &off, NULL);
	timer_delete(checker);
	munmap(pages, 8192);
}

static ucontext_t main_context, fiber_context;

static void fiber_body(void)
{
	for (;;) {
		jit.outer(200);
		swapcontext(&fiber_context, &main_context);
	}
}

/* A fiber whose stack is a small mapping between guard pages. */
static void run_fiber(void)
{
	enum { STACK = 4 * 4096, SWITCHES = 100 };
	char *pages = mmap(NULL, STACK + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(mprotect(pages + 4096, STACK, PROT_READ | PROT_WRITE), 0);
	getcontext(&fiber_context);
	fiber_context.uc_stack = (stack_t){ .ss_sp = pages + 4096, .ss_size = STACK };
	fiber_context.uc_link = NULL;
	makecontext(&fiber_context, fiber_body, 0);
	for (int i = 0; i < SWITCHES; i++)
		swapcontext(&main_context, &fiber_context);
	munmap(pages, STACK + 8192);
}

static void fibers_are_walked(void **unused)
{
	struct tally tally = { 0 };
	long fibers = 0;

	(void)unused;
	/* What the sampler knows of a thread: the bounds of its ordinary stack. */
	atomic_store(&block.stack_start,
		     ((uintptr_t)__builtin_frame_address(0) & ~0xffful) - (1 << 20));
	atomic_store(&block.stack_end, ((uintptr_t)__builtin_frame_address(0) & ~0xffful) + 4096);
	set_clock(PERIOD_NS);
	while ((tally.samples < 5000 || fibers < 200) && !is_late()) {
		run_fiber();
		drain(&tally);
		fibers++;
	}
	set_clock(0);
	drain(&tally);
	print_message("%ld samples on %ld fibers\n", tally.samples, fibers);
	assert_true(tally.samples >= 500);
	assert_int_equal(tally.complete, tally.samples);
	atomic_store(&block.stack_end, 0);
}

static void errno_is_never_touched(void **unused)
{
	unsigned long long before = stat_get(STAT_SIGNALS);
	struct tally tally = { 0 };
	long wrong = 0;

	(void)unused;
	set_clock(PERIOD_NS);
	for (long i = 0; i < 300000 && !is_late(); i++) {
		if (open("/nonexistent/file", O_RDONLY) != -1 || errno != ENOENT)
			wrong++;
		if (i % 1000 == 0) {
			jit.outer(100);
			drain(&tally);
		}
	}
	set_clock(0);
	assert_int_equal(wrong, 0);
	assert_true(stat_get(STAT_SIGNALS) - before > 100);
}

static void every_signal_is_accounted_for(void **unused)
{
	(void)unused;
	assert_int_equal(stat_get(STAT_SIGNALS),
			 stat_get(STAT_SAMPLES) + stat_get(STAT_HOST_ONLY) +
				 stat_get(STAT_LOST_RING_FULL) + stat_get(STAT_LOST_NO_RING) +
				 stat_get(STAT_LOST_NESTED) + stat_get(STAT_LOST_NO_THREAD) +
				 stat_get(STAT_LOST_STACK));
	print_message("%llu signals, %llu samples, %llu host only; handler %.2f us on average\n",
		      stat_get(STAT_SIGNALS), stat_get(STAT_SAMPLES), stat_get(STAT_HOST_ONLY),
		      (double)stat_get(STAT_HANDLER_NS) / 1000 / (double)stat_get(STAT_SIGNALS));
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
	/* It holds signals back until the next call of libc: none would land in the guest. */
	print_message("skipped: no asynchronous signals under ThreadSanitizer\n");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_chain_is_complete),
		cmocka_unit_test(hostile_frame_pointers_are_survived),
		cmocka_unit_test(fibers_are_walked),
		cmocka_unit_test(errno_is_never_touched),
		cmocka_unit_test(every_signal_is_accounted_for),
	};

	return cmocka_run_group_tests(tests, setup_group, NULL);
}
