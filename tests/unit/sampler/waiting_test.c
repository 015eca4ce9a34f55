/* SPDX-License-Identifier: MIT */
/*
 * waiting_test.c - threads that really sleep below guest code, looked at from outside. The times at
 * which they are looked at are the test's choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/stats.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/waiting.h"
#include "preload/sig/handler.h"
#include "preload/sig/ranges.h"
#include "preload/sig/thread.h"

enum { DEADLINE_S = 20, HZ = 100 };

#define PERIOD_NS UINT64_C(10000000)

/* A guest that only calls out: push rbp; mov rbp, rsp; call rdi; pop rbp; ret. */
static const uint8_t guest_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
static void (*guest)(void (*host)(void));
static uintptr_t guest_return;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A host thread in a guest, or not, that waits until it is told to go on. */
struct sleeper {
	pthread_t thread;
	int ends[2];
	bool in_guest;
	bool spins, has_no_entry;
	atomic_int rounds; /* waits that began */
	atomic_bool stop;
	struct thread *block;
};

static __thread struct sleeper *mine;

static void receive(void)
{
	char byte;

	while (!atomic_load(&mine->stop)) {
		atomic_fetch_add(&mine->rounds, 1);
		if (!mine->spins && read(mine->ends[0], &byte, 1) != 1)
			return;
	}
}

static void *sleeper_run(void *argument)
{
	struct sleeper *sleeper = argument;
	struct entry entry = { .sp = (uintptr_t)__builtin_frame_address(0), .instance = 5 };
	uint32_t depth;

	mine = sleeper;
	sleeper->block = blocks_take((pid_t)syscall(SYS_gettid));
	if (!sleeper->in_guest || sleeper->has_no_entry) {
		if (sleeper->in_guest)
			guest(receive);
		else
			receive();
		return NULL;
	}
	depth = thread_enter(sleeper->block, &entry);
	guest(receive);
	thread_leave(sleeper->block, depth);
	return NULL;
}

static bool is_asleep(const struct sleeper *sleeper)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", sleeper->block->tid);
	file = fopen(path, "r");
	if (file == NULL || fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	if (file != NULL)
		fclose(file);
	return strncmp(text, "0 ", 2) == 0;
}

/* Until it has begun its wait number ROUND, and sleeps. */
static void wait_for(struct sleeper *sleeper, int round)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t end_ns = now_ns() + DEADLINE_S * UINT64_C(1000000000);

	while (now_ns() < end_ns) {
		if (atomic_load(&sleeper->rounds) >= round &&
		    (sleeper->spins || is_asleep(sleeper)))
			return;
		nanosleep(&pause, NULL);
	}
	fail_msg("the thread does not sleep");
}

static void sleeper_start(struct sleeper *sleeper)
{
	assert_int_equal(pipe(sleeper->ends), 0);
	assert_int_equal(pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper), 0);
	wait_for(sleeper, 1);
}

static void sleeper_stop(struct sleeper *sleeper)
{
	atomic_store(&sleeper->stop, true);
	assert_int_equal(write(sleeper->ends[1], "", 1), 1);
	pthread_join(sleeper->thread, NULL);
	blocks_end(sleeper->block);
	close(sleeper->ends[0]);
	close(sleeper->ends[1]);
}

/* ---- what was seen --------------------------------------------------------------------------- */

static struct {
	int count, fresh;
	uint64_t wall_ns, last_ns;
	char what[32];
	int descriptor;
	uint32_t instance;
	bool has_guest;
} seen;

static void remember(void *context, const struct wait *wait)
{
	const struct sample *sample = wait->sample;

	(void)context;
	seen.count++;
	seen.wall_ns += wait->wall_ns;
	seen.last_ns = wait->wall_ns;
	if (sample == NULL)
		return;
	seen.fresh++;
	snprintf(seen.what, sizeof(seen.what), "%s", wait->what);
	seen.descriptor = wait->descriptor;
	seen.instance = sample->instance;
	for (size_t at = 0; at < sample->slice_size; at += 8)
		seen.has_guest |= memcmp(sample_slice(sample) + at, &guest_return, 8) == 0;
}

static uint64_t time_ns = UINT64_C(1000000000);

/* A look LATER than the one before. */
static void look(uint64_t later_ns)
{
	time_ns += later_ns;
	waiting_work(time_ns, remember, NULL);
}

static int forget(void **unused)
{
	(void)unused;
	memset(&seen, 0, sizeof(seen));
	waiting_after_fork();
	return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_wait_has_its_length(void **unused)
{
	struct sleeper sleeper = { .in_guest = true };

	(void)unused;
	sleeper_start(&sleeper);
	look(PERIOD_NS);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.fresh, 1);
	assert_int_equal(seen.wall_ns, PERIOD_NS);
	assert_string_equal(seen.what, "[read]");
	assert_int_equal(seen.descriptor, sleeper.ends[0]);
	assert_int_equal(seen.instance, 5);
	assert_true(seen.has_guest);
	/* The same wait: however long nobody looked, it lasted. */
	look(2 * PERIOD_NS);
	assert_int_equal(seen.last_ns, 2 * PERIOD_NS);
	look(UINT64_C(3000000000));
	assert_int_equal(seen.last_ns, UINT64_C(3000000000));
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.fresh, 1);
	sleeper_stop(&sleeper);
}

static void another_wait_is_looked_at_anew(void **unused)
{
	struct sleeper sleeper = { .in_guest = true };

	(void)unused;
	sleeper_start(&sleeper);
	look(PERIOD_NS);
	assert_int_equal(write(sleeper.ends[1], "", 1), 1);
	wait_for(&sleeper, 2);
	look(2 * PERIOD_NS);
	assert_int_equal(seen.fresh, 2);
	assert_int_equal(seen.last_ns, 2 * PERIOD_NS);
	/* Nobody looked for long, and it is not the wait of then: no more than two periods. */
	assert_int_equal(write(sleeper.ends[1], "", 1), 1);
	wait_for(&sleeper, 3);
	look(UINT64_C(3000000000));
	assert_int_equal(seen.fresh, 3);
	assert_int_equal(seen.last_ns, 2 * PERIOD_NS);
	sleeper_stop(&sleeper);
}

static void threads_that_do_not_wait_in_a_guest(void **unused)
{
	struct sleeper host = { .in_guest = false }, running = { .in_guest = true, .spins = true };

	(void)unused;
	sleeper_start(&host);
	sleeper_start(&running);
	for (int i = 0; i < 20; i++)
		look(2 * PERIOD_NS);
	assert_int_equal(seen.count, 0);
	sleeper_stop(&host);
	sleeper_stop(&running);
	look(2 * PERIOD_NS);
	assert_int_equal(seen.count, 0);
}

static void a_host_whose_entries_are_not_known(void **unused)
{
	struct sleeper sleeper = { .in_guest = true, .has_no_entry = true };

	(void)unused;
	sleeper_start(&sleeper);
	look(PERIOD_NS);
	assert_int_equal(seen.count, 0);
	/* The handler met it in guest code. */
	sleeper.block->had_guest = true;
	look(PERIOD_NS * 3 / 2);
	assert_int_equal(seen.count, 1);
	assert_true(seen.has_guest);
	assert_int_equal(seen.instance, 0);
	sleeper_stop(&sleeper);
}

static void what_is_stopped_does_not_look(void **unused)
{
	struct sleeper sleeper = { .in_guest = true };

	(void)unused;
	sleeper_start(&sleeper);
	look(PERIOD_NS);
	atomic_store(&handler_setup.stopped, true);
	look(UINT64_C(3000000000));
	assert_int_equal(seen.count, 1);
	/* The time in between is nobody's. */
	atomic_store(&handler_setup.stopped, false);
	look(UINT64_C(3000000000));
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.last_ns, PERIOD_NS);
	sleeper_stop(&sleeper);
}

static void looks_keep_their_time(void **unused)
{
	uint64_t next;

	(void)unused;
	time_ns += UINT64_C(1000000000);
	for (int i = 0; i < 1000; i++) {
		next = waiting_work(time_ns, remember, NULL);
		assert_true(next >= time_ns + PERIOD_NS * 3 / 4);
		/* Longer where looking was expensive, as on a loaded machine. */
		assert_true(next <= time_ns + PERIOD_NS * 100);
		assert_int_equal(waiting_work(next - 1, remember, NULL), next);
		time_ns = next;
	}
	assert_int_equal(seen.count, 0);
}

/* Exit status of a child that may not look: 0 if it went as it should. */
static int refused_child(void)
{
	struct sleeper sleeper = { .in_guest = true };

	/* Other credentials make a process undumpable too. */
	if (setgid(65534) != 0 || setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
		return 1;
	forget(NULL);
	sleeper_start(&sleeper);
	prctl(PR_SET_DUMPABLE, 0);
	look(PERIOD_NS);
	if (seen.count != 0 || stat_get(STAT_WAITS_REFUSED) != 1)
		return 2;
	/* It is not asked again as long as the thread sleeps on. */
	look(2 * PERIOD_NS);
	if (seen.count != 0 || stat_get(STAT_WAITS_REFUSED) != 1)
		return 3;
	prctl(PR_SET_DUMPABLE, 1);
	if (write(sleeper.ends[1], "", 1) != 1)
		return 4;
	wait_for(&sleeper, 2);
	look(2 * PERIOD_NS);
	return seen.count == 1 ? 0 : 5;
}

static void what_the_kernel_refuses_is_counted(void **unused)
{
	int status;
	pid_t child;

	(void)unused;
	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0)
		_exit(refused_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **unused)
{
	static uint64_t room[2 + sizeof(struct range) / 8];
	struct ranges *published = (struct ranges *)room;
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	memcpy(page, guest_code, sizeof(guest_code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	guest = (void (*)(void (*)(void)))(uintptr_t)page;
	guest_return = (uintptr_t)page + 6;
	published->generation = 1;
	published->count = 1;
	published->range[0] = (struct range){ .start = (uintptr_t)page,
					      .end = (uintptr_t)page + 4096,
					      .id = 1,
					      .has_frame_pointers = 1 };
	ranges_publish(published);
	/* Before it is started nothing is to be done, ever. */
	if (waiting_work(1, remember, NULL) != UINT64_MAX || blocks_start() != 0)
		return -1;
	waiting_start(HZ, false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_wait_has_its_length, forget),
		cmocka_unit_test_setup(another_wait_is_looked_at_anew, forget),
		cmocka_unit_test_setup(threads_that_do_not_wait_in_a_guest, forget),
		cmocka_unit_test_setup(a_host_whose_entries_are_not_known, forget),
		cmocka_unit_test_setup(what_is_stopped_does_not_look, forget),
		cmocka_unit_test_setup(looks_keep_their_time, forget),
		cmocka_unit_test_setup(what_the_kernel_refuses_is_counted, forget),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
