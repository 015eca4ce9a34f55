/* SPDX-License-Identifier: MIT */
/*
 * unwind_bench.c - what unwinding one sample costs, at 25 frames, with everything warm and cold.
 *
 * Prints microseconds a frame, and the share of a core at 100 samples a second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "preload/unwind/unwind.h"
#include "tests/bench/times.h"
#include "tests/unit/unwind/capture.h"

enum { DEPTH = 25, WARM = 20000, COLD = 200 };

static struct capture capture;

static __attribute__((noinline)) void descend(int depth)
{
	if (depth > 0)
		descend(depth - 1);
	else
		capture_here(&capture);
	__asm__ volatile("" ::: "memory");
}

static void measure(const char *what, int rounds, bool cold)
{
	struct unwind_input input = capture_input(&capture, 1);
	struct unwind_frame frames[DEPTH];
	double used = 0, frame_us;
	size_t count = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		double before;

		if (cold)
			unwind_after_fork(); /* drops what is remembered */
		before = thread_cpu_us();
		(void)unwind(&input, frames, DEPTH, &count);
		used += thread_cpu_us() - before;
	}
	frame_us = used / rounds / (double)(count != 0 ? count : 1);
	printf("unwind, %s: %zu frames, %.2f us a frame, %.2f %% of a core at 100 Hz\n", what,
	       count, frame_us, frame_us * (double)count * 100 / 1e4);
}

int main(void)
{
	if (unwind_start() != 0)
		return EXIT_FAILURE;
	descend(DEPTH);
	measure("first", 1, false);
	measure("warm", WARM, false);
	measure("cold rows", COLD, true);
	return EXIT_SUCCESS;
}
