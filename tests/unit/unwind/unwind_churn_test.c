/* SPDX-License-Identifier: MIT */
/*
 * unwind_churn_test.c - unwinding while libraries come and go under the samples.
 *
 * One thread opens, uses and closes a library, 4,000 times a second, and takes samples inside it;
 * the main thread unwinds them when the library may be gone, or back. Its tables can only be copied
 * in the short times when it is there; once they were, stacks through it are whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <sched.h>
#include <time.h>
#include <zlib.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/capture.h"

enum {
	SAMPLES = 20000,
	SLOTS = 64,
	FRAMES = 64,
	CLOSES_PER_SECOND = 4000,
	DEADLINE_S = 120,
};

struct slot {
	atomic_int full;
	uint64_t thread_return; /* the frame that every stack must reach */
	struct capture capture;
};

static struct {
	struct slot slots[SLOTS];
	atomic_bool quit;
	unsigned int next, closes;
	uint64_t thread_return;
} self;

typedef int (*deflate_init_function)(z_streamp, int, int, int, int, int, const char *, int);

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static voidpf sample_in_allocator(voidpf opaque, uInt items, uInt size)
{
	struct slot *slot = &self.slots[self.next % SLOTS];

	(void)opaque, (void)items, (void)size;
	/* acquire: pairs with the main thread's release when it has unwound the sample */
	if (atomic_load_explicit(&slot->full, memory_order_acquire) != 0)
		return NULL;
	slot->thread_return = self.thread_return;
	capture_here(&slot->capture);
	/* release: pairs with the main thread's acquire */
	atomic_store_explicit(&slot->full, 1, memory_order_release);
	self.next++;
	return NULL;
}

static __attribute__((noinline)) void open_use_close(void)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	z_stream stream = { .zalloc = sample_in_allocator };
	deflate_init_function deflate_init;

	if (library == NULL)
		return;
	deflate_init = (deflate_init_function)dlsym(library, "deflateInit2_");
	(void)deflate_init(&stream, 6, Z_DEFLATED, 15, 8, 0, ZLIB_VERSION, sizeof(stream));
	dlclose(library);
	self.closes++;
}

static void *churn(void *argument)
{
	uint64_t start = now_ns();

	self.thread_return = (uintptr_t)__builtin_return_address(0);
	while (!atomic_load(&self.quit)) {
		open_use_close();
		/* no faster than asked, as fast as it can be when late */
		while (now_ns() < start + self.closes * (1000000000ull / CLOSES_PER_SECOND) &&
		       !atomic_load(&self.quit))
			sched_yield();
	}
	return argument;
}

static bool reaches(const struct unwind_frame *frames, size_t count, uint64_t pc)
{
	while (count > 0) {
		if (frames[--count].pc == pc)
			return true;
	}
	return false;
}

static void test_churn(void **state)
{
	uint64_t started = now_ns(), longest = 0;
	unsigned int taken = 0, complete = 0, taken_late = 0, complete_late = 0;
	bool has_tables = false; /* they were copied once: the library must be there for that */
	struct unwind_frame frames[FRAMES];
	pthread_t thread;

	(void)state;
	assert_int_equal(unwind_start(), 0);
	assert_int_equal(pthread_create(&thread, NULL, churn, NULL), 0);
	while (taken_late < SAMPLES / 2 && now_ns() - started < DEADLINE_S * 1000000000ull) {
		struct slot *slot = &self.slots[taken % SLOTS];
		struct unwind_input input;
		uint64_t before;
		size_t count;

		if (atomic_load_explicit(&slot->full, memory_order_acquire) == 0) {
			sched_yield();
			continue;
		}
		before = now_ns();
		input = capture_input(&slot->capture, 1);
		if (unwind(&input, frames, FRAMES, &count) == UNWIND_COMPLETE &&
		    reaches(frames, count, slot->thread_return)) {
			complete++;
			complete_late += has_tables;
			taken_late += has_tables;
			has_tables = true;
		} else {
			taken_late += has_tables;
		}
		if (now_ns() - before > longest)
			longest = now_ns() - before;
		atomic_store_explicit(&slot->full, 0, memory_order_release);
		taken++;
	}
	atomic_store(&self.quit, true);
	pthread_join(thread, NULL);
	print_message("%u samples, complete %.2f %%, once tables were seen %.2f %%; %.0f closes a "
		      "second, "
		      "longest %.1f ms\n",
		      taken, 100.0 * complete / (taken ? taken : 1),
		      100.0 * complete_late / (taken_late ? taken_late : 1),
		      self.closes / ((double)(now_ns() - started) / 1e9), (double)longest / 1e6);
	assert_int_equal(taken_late, SAMPLES / 2);
	assert_true(complete_late > SAMPLES / 2 / 100 * 95);
	assert_true(longest < 2000000000ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_churn),
	};
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		print_message("skipped: no libz.so.1\n");
		return 77;
	}
	dlclose(library);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
