/* SPDX-License-Identifier: MIT */
/* wait.c - host functions that wait, each in another system call, for so many microseconds. */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static struct timespec time_of(uint32_t us)
{
	return (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000 };
}

/*
 * A signal that ends a wait early is said on stderr, where a comparison of two runs finds it; the
 * wait then goes on to its end, since above 250 Hz the clock may do that (README).
 */
static bool interrupted(const char *what)
{
	bool was_signal = errno == EINTR;

	if (was_signal)
		perror(what); /* which may change errno */
	return was_signal;
}

static void expect(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

wasm_trap_t *wait_sleep(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	struct timespec time = time_of((uint32_t)args[0].of.i32);

	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	while (nanosleep(&time, &time) != 0)
		expect(interrupted("host: nanosleep"), "host: nanosleep");
	return NULL;
}

wasm_trap_t *wait_receive(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			  size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	struct itimerspec timer = { .it_value = time_of((uint32_t)args[0].of.i32) };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t expirations;

	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	expect(fd >= 0 && timerfd_settime(fd, 0, &timer, NULL) == 0, "host: timerfd");
	expect(read(fd, &expirations, sizeof(expirations)) == sizeof(expirations), "host: read");
	close(fd);
	return NULL;
}

wasm_trap_t *wait_lock(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
		       size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	struct timespec time = time_of((uint32_t)args[0].of.i32);
	uint32_t word = 0;

	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	while (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) != -1 ||
	       errno != ETIMEDOUT)
		expect(interrupted("host: futex"), "host: futex");
	return NULL;
}
