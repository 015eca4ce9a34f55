/* SPDX-License-Identifier: MIT */
/*
 * handler_bench.c - what one run of the handler's body costs, signal delivery not included.
 *
 * usage: handler_bench [RUNS]. Prints a line per case: frames, ranges, whether neighbouring frames
 * share a range, and the median and 99th percentile in ns by the TSC. Then with whole stacks, 32 KB
 * of them: the stack's bounds known, and not; in the guest, and in the host, where nobody recorded
 * the way out of the guest, so that the stack is searched too. Targets (medians): 500 ns at 8
 * frames, 1,000 ns at 64; 2,000 and 4,000 ns with whole stacks. Exits 1 when one is missed.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "preload/base/clock.h"
#include "preload/sig/handler.h"
#include "preload/sig/ranges.h"
#include "preload/sig/ring.h"

enum { MAX_FRAMES = 1000, MAX_RANGES = 4096, RANGE_SIZE = 4096, RING_SIZE = 1 << 20 };

static uint8_t
	code[MAX_RANGES * RANGE_SIZE]; /* zeros: nothing that a leaf fix would look at twice */
static uint64_t stack[4 * MAX_FRAMES + 64];
static struct thread block;
static _Atomic(struct ring *) pool[1];
static double ns_per_tick;

static void on_foreign(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
	abort();
}

static void calibrate(void)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), start = __rdtsc();

	while (clock_ns(CLOCK_MONOTONIC) - start_ns < 50000000)
		;
	ns_per_tick = (double)(clock_ns(CLOCK_MONOTONIC) - start_ns) / (double)(__rdtsc() - start);
}

static void publish(size_t count)
{
	struct ranges *ranges = calloc(1, sizeof(*ranges) + count * sizeof(ranges->range[0]));
	size_t size = sizeof(code) / count;

	if (ranges == NULL)
		exit(1);
	ranges->generation = 1;
	ranges->count = count;
	for (size_t i = 0; i < count; i++) {
		ranges->range[i].start = (uintptr_t)code + i * size;
		ranges->range[i].end = (uintptr_t)code + (i + 1) * size;
		ranges->range[i].has_frame_pointers = 1;
	}
	free((void *)ranges_publish(ranges));
}

/* FRAMES pcs in all: the leaf and its callers, four words a frame. */
static ucontext_t make_stack(int frames, bool spread)
{
	uint64_t *fp = stack;
	ucontext_t context;

	for (int i = 0; i < frames; i++, fp += 4) {
		size_t place = spread ? (size_t)i * 797 % MAX_RANGES * RANGE_SIZE : 0;

		fp[0] = (uintptr_t)(fp + 4);
		fp[1] = i == frames - 1 ? 0x1234 : (uintptr_t)code + place + 64;
	}
	memset(&context, 0, sizeof(context));
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 128);
	context.uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)stack;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)stack;
	context.uc_stack.ss_flags = SS_DISABLE;
	return context;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ticks at CONTEXT, which give samples of PCS pcs and a slice of SLICE bytes at least. */
static double measure_at(ucontext_t *context, uint32_t pcs, uint32_t slice, const char *what,
			 size_t runs)
{
	uint64_t *ticks = calloc(runs, sizeof(*ticks));
	siginfo_t info;
	double median;

	if (ticks == NULL)
		exit(1);
	memset(&info, 0, sizeof(info));
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = &block;
	for (size_t i = 0; i < runs; i++) {
		struct ring *ring;
		uint64_t start = __rdtsc();

		handler_on_signal(SIGPROF, &info, context);
		ticks[i] = __rdtsc() - start;
		ring = atomic_load(&block.ring);
		if (ring == NULL || ring_peek(ring) == NULL || ring_peek(ring)->pc_count != pcs ||
		    ring_peek(ring)->slice_size < slice) {
			fprintf(stderr, "handler_bench: the sample is not what it should be\n");
			exit(1);
		}
		ring_release(ring, ring_peek(ring));
	}
	qsort(ticks, runs, sizeof(*ticks), compare);
	median = (double)ticks[runs / 2] * ns_per_tick;
	printf("%-36s  p50 %7.1f ns  p99 %7.1f ns\n", what, median,
	       (double)ticks[runs * 99 / 100] * ns_per_tick);
	free(ticks);
	return median;
}

static double measure(int frames, size_t ranges, bool spread, size_t runs)
{
	ucontext_t context = make_stack(frames, spread);
	char what[64];

	publish(ranges);
	snprintf(what, sizeof(what), "frames %4d  ranges %4zu  %s", frames, ranges,
		 spread ? "spread" : "one");
	return measure_at(&context, (uint32_t)frames, 0, what, runs);
}

/* In the host, and a stack that nothing says where to look in. */
static double measure_host(size_t runs)
{
	ucontext_t context = make_stack(1, false);
	double median;

	memset(stack, 0, sizeof(stack));
	stack[4] = (uintptr_t)code + 64; /* all of it is searched */
	context.uc_mcontext.gregs[REG_RIP] = 0x1234;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)stack;
	block.had_guest = true;
	median = measure_at(&context, 0, 31000, "in the host, 32 KB", runs);
	block.had_guest = false;
	return median;
}

/* True when a target is missed. */
static bool measure_whole(size_t runs)
{
	bool missed;

	handler_setup.whole_stacks = true;
	printf("whole stacks, bounds known:\n");
	missed = measure(8, 1, false, runs) > 2000;
	missed |= measure_host(runs) > 2000;
	printf("whole stacks, bounds unknown:\n");
	atomic_store(&block.stack_end, 0);
	missed |= measure(8, 1, false, runs) > 4000;
	missed |= measure_host(runs) > 4000;
	return missed;
}

int main(int argc, char **argv)
{
	static const int frames[] = { 8, 64, 512 };
	size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	struct ring *ring = calloc(1, sizeof(*ring) + RING_SIZE);
	bool missed = false;

	if (ring == NULL || runs < 100)
		return 1;
	ring->size = RING_SIZE;
	atomic_store(&pool[0], ring);
	handler_setup.ring_pool = pool;
	handler_setup.ring_pool_size = 1;
	handler_setup.foreign = on_foreign;
	block.tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&block.state, THREAD_LIVE);
	atomic_store(&block.stack_start, (uintptr_t)stack);
	atomic_store(&block.stack_end, (uintptr_t)stack + sizeof(stack));
	thread_table.blocks = &block;
	thread_table.capacity = 1;
	atomic_store(&thread_table.count, 1);
	calibrate();
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		double one = measure(frames[i], 1, false, runs);
		double many = measure(frames[i], MAX_RANGES, false, runs);

		measure(frames[i], MAX_RANGES, true, runs);
		missed |= frames[i] == 8 && (one > 500 || many > 500);
		missed |= frames[i] == 64 && (one > 1000 || many > 1000);
	}
	missed |= measure_whole(runs);
	if (missed)
		printf("a target is missed: 500 ns at 8 frames, 1000 ns at 64, 2000 and 4000 ns "
		       "for whole "
		       "stacks\n");
	return missed;
}
