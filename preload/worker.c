/* SPDX-License-Identifier: MIT */
/*
 * worker.c - our one thread in the host: takes in loads, watches, gives clocks to threads, drains,
 * writes.
 *
 * Its first act is a descriptor table of its own: the recording, perf_event and libunwind's pipe
 * are invisible to a host that closes or reuses descriptors. It blocks all signals, holds no lock
 * of the host's, and is the only user of the symbol set, the unwinder, the profile and the writer.
 */
#include "preload/worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/errand.h"
#include "preload/hook/hook.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/load/parked.h"
#include "preload/manual.h"
#include "preload/output.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/waiting.h"
#include "preload/sig/ranges.h"
#include "preload/sig/ring.h"
#include "preload/sig/thread.h"
#include "preload/unwind/unwind.h"
#include "symtab/symtab.h"

#define MILLISECOND_NS UINT64_C(1000000)

enum {
	STACK_SIZE = 1 << 20, /* demangling recurses */
	TURN_MS = 50,	      /* between drains */
	PARKED_MS = 100,      /* between looks at asynchronous calls, whose times are exact */
	CHUNK_MS = 1000,      /* between writes: what a kill costs at most */
	WATCH_FIRST_MS = 50,
	WATCH_LONGEST_MS = 2000,
	FORK_WAIT_MS = 200,
};

static struct {
	pthread_mutex_t starting; /* guards is_started */
	bool is_started;
	pthread_mutex_t turn; /* held by our thread but while it waits: a fork stops it there */
	atomic_int wake_word;
	atomic_bool is_watching, is_sampling;
	atomic_int finish; /* 0 no, 1 asked for, 2 done */

	/* Our thread's own. */
	uint64_t worked; /* generation up to which loads were taken in */
	uint64_t next_chunk_ns, next_watch_ns, watch_interval_ns, next_sampler_ns, next_waiting_ns,
		next_parked_ns;
	bool has_unwinder; /* libunwind was opened, or is not there */
} self = { .starting = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_MUTEX_INITIALIZER };

static long futex(atomic_int *word, int operation, int value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

/* ---- one turn ------------------------------------------------------------------------------- */

static void on_added(const struct symtab_entry *entry)
{
	size_t size;
	uintptr_t address;
	const uint8_t *eh_frame = module_eh_frame(entry->module, &size, &address);

	log_line(LOG_DEBUG, "module %s (%.12s), %u functions", module_name(entry->module),
		 module_identity(entry->module), module_function_count(entry->module));
	/* Without tables too: frames in it are then told by its code and the frame pointer. */
	if (unwind_add_image(entry->id, entry->text, entry->text_size, eh_frame,
			     eh_frame != NULL ? size : 0, address, entry->born) != 0)
		log_line(LOG_INFO, "%s: its unwind tables are damaged", module_name(entry->module));
	output_note_engine(module_engine(entry->module), module_engine_version(entry->module));
}

static void on_retired(uint32_t loading, uint64_t died)
{
	unwind_retire_image(loading, died);
}

static uint64_t current_generation(void)
{
	const struct ranges *ranges = ranges_current();

	return ranges != NULL ? ranges->generation : 0;
}

void worker_take_in_loads(void)
{
	static const struct load_observer observer = { .added = on_added, .retired = on_retired };

	self.worked = load_work(&observer);
}

/* Code that was loaded since the turn began: its names first. */
void worker_prepare_sample(const struct sample *sample)
{
	if (sample->generation > self.worked)
		worker_take_in_loads();
}

static void drain_ring(void *context, struct thread *thread, struct ring *ring)
{
	const struct sample *sample;

	(void)context;
	while ((sample = ring_peek(ring)) != NULL) {
		worker_prepare_sample(sample);
		output_take(sample, (uint64_t)thread->tid, thread->name);
		/* A stack that led from a fiber to where nothing was copied: next time it will be.
		 */
		thread_note_resumer(thread, (uintptr_t)unwind_missing());
		ring_release(ring, sample);
	}
}

/* Empties all rings. Afterwards none holds a sample from before the generation that is returned. */
static uint64_t drain(void)
{
	uint64_t generation = current_generation(), oldest = thread_oldest_generation();

	sampler_each_ring(drain_ring, NULL);
	manual_drain(worker_prepare_sample);
	return oldest < generation ? oldest : generation;
}

static void take_wait(void *context, const struct wait *wait)
{
	(void)context;
	if (wait->sample != NULL)
		worker_prepare_sample(wait->sample);
	output_take_wait(wait);
}

static void take_parked(void *context, uint32_t instance, uint64_t wall_ns)
{
	(void)context;
	output_take_parked(instance, wall_ns);
}

static void watch(uint64_t now)
{
	if (!atomic_load(&self.is_watching) || now < self.next_watch_ns)
		return;
	load_scan(0);
	self.watch_interval_ns = self.watch_interval_ns == 0 ? WATCH_FIRST_MS * MILLISECOND_NS
							     : self.watch_interval_ns * 2;
	if (self.watch_interval_ns > WATCH_LONGEST_MS * MILLISECOND_NS)
		self.watch_interval_ns = WATCH_LONGEST_MS * MILLISECOND_NS;
	self.next_watch_ns = now + self.watch_interval_ns;
}

static void sample(uint64_t now)
{
	uint64_t drained;

	if (!atomic_load(&self.is_sampling)) {
		/* No sample will ever ask for what is gone. */
		load_reclaim(current_generation());
		return;
	}
	/* At every turn: we may have been woken for a thread that waits for its clock. */
	self.next_sampler_ns = sampler_work(now);
	/* Here, and not earlier: libunwind makes descriptors at its first use, and they must be
	 * ours. */
	if (!self.has_unwinder) {
		self.has_unwinder = true;
		unwind_choose(config_current()->own_unwinder ? UNWINDER_CFI : UNWINDER_LIBUNWIND);
		unwind_start();
	}
	self.next_waiting_ns = waiting_work(now, take_wait, NULL);
	if (now >= self.next_parked_ns) {
		parked_collect(take_parked, NULL);
		self.next_parked_ns = now + PARKED_MS * MILLISECOND_NS;
	}
	drained = drain();
	load_reclaim(drained);
	unwind_forget_images(drained);
	if (now < self.next_chunk_ns)
		return;
	output_write(now);
	instance_reclaim();
	self.next_chunk_ns = now + CHUNK_MS * MILLISECOND_NS;
}

static void turn(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	worker_take_in_loads();
	errand_work();
	watch(now);
	sample(now);
}

static void last_turn(void)
{
	worker_take_in_loads();
	errand_work();
	if (atomic_load(&self.is_sampling)) {
		drain();
		parked_collect(take_parked, NULL);
	}
	output_finish(clock_ns(CLOCK_MONOTONIC));
}

/* How long nothing has to be done if nobody wakes us; NULL: for ever. */
static const struct timespec *wait_time(struct timespec *time)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = UINT64_MAX, wait;

	if (atomic_load(&self.is_sampling))
		until = now + TURN_MS * MILLISECOND_NS;
	if (atomic_load(&self.is_sampling) && self.next_sampler_ns < until)
		until = self.next_sampler_ns;
	if (atomic_load(&self.is_sampling) && self.next_waiting_ns < until)
		until = self.next_waiting_ns;
	if (atomic_load(&self.is_watching) && self.next_watch_ns < until)
		until = self.next_watch_ns;
	if (until == UINT64_MAX)
		return NULL;
	wait = until > now ? until - now : 0;
	time->tv_sec = (time_t)(wait / 1000000000u);
	time->tv_nsec = (long)(wait % 1000000000u);
	return time;
}

static bool own_descriptor_table(void)
{
	/* close_range(2) since Linux 5.9, CLOSE_RANGE_UNSHARE 2; else unshare(2) and close one by
	 * one. */
	if (syscall(SYS_close_range, 0U, ~0U, 2U) != 0) {
		if (syscall(SYS_unshare, 0x400 /* CLONE_FILES */) != 0)
			return false;
		for (int fd = 0; fd < 65536; fd++)
			close(fd);
	}
	log_own_descriptors();
	return true;
}

/* In the host's table our descriptors would be closed and reused by the host, and its files
 * written. */
static void step_back(void)
{
	log_line(LOG_ERROR, "no descriptor table of our own (%s): nothing is recorded",
		 strerror(errno));
	atomic_store(&state.on, false);
	sampler_stop();
}

static void work_until_asked_to_end(void)
{
	struct timespec time;

	pthread_mutex_lock(&self.turn);
	while (atomic_load(&self.finish) == 0) {
		int word = atomic_load(&self.wake_word);

		turn();
		pthread_mutex_unlock(&self.turn);
		futex(&self.wake_word, FUTEX_WAIT, word, wait_time(&time));
		pthread_mutex_lock(&self.turn);
	}
	last_turn();
	pthread_mutex_unlock(&self.turn);
}

static void *run(void *argument)
{
	(void)argument;
	hook_begin(); /* for good: what this thread calls is never the host's doing */
	if (own_descriptor_table()) {
		prctl(PR_SET_NAME, "guestprof");
		work_until_asked_to_end();
	} else {
		step_back();
	}
	errand_close();
	atomic_store(&self.finish, 2);
	futex(&self.finish, FUTEX_WAKE, 1, NULL);
	return NULL;
}

/* ---- from outside ---------------------------------------------------------------------------- */

static int create_thread(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(__typeof__(create))hook_next_symbol("pthread_create");
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (create == NULL)
		return ENOSYS;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
	error = create(&thread, &attributes, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

void worker_start(void)
{
	int saved_errno = errno, error = 0;

	pthread_mutex_lock(&self.starting);
	if (!self.is_started) {
		error = create_thread();
		self.is_started = error == 0;
	}
	pthread_mutex_unlock(&self.starting);
	if (error != 0)
		log_line(LOG_ERROR, "no thread of our own (%s): nothing will be recorded",
			 strerror(error));
	errno = saved_errno;
}

void worker_watch(void)
{
	atomic_store(&self.is_watching, true);
	worker_wake();
}

void worker_sample(void)
{
	atomic_store(&self.is_sampling, true);
	worker_wake();
}

void worker_wake(void)
{
	int saved_errno = errno;

	atomic_fetch_add(&self.wake_word, 1);
	futex(&self.wake_word, FUTEX_WAKE, 1, NULL);
	errno = saved_errno;
}

atomic_int *worker_wake_word(void)
{
	return &self.wake_word;
}

void worker_finish(uint64_t limit_ns)
{
	int saved_errno = errno, idle = 0;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ns, now;

	if (!self.is_started || !atomic_compare_exchange_strong(&self.finish, &idle, 1))
		return;
	worker_wake();
	while (atomic_load(&self.finish) != 2 && (now = clock_ns(CLOCK_MONOTONIC)) < end) {
		struct timespec left = {
			.tv_sec = (time_t)((end - now) / 1000000000u),
			.tv_nsec = (long)((end - now) % 1000000000u),
		};

		futex(&self.finish, FUTEX_WAIT, 1, &left);
	}
	errno = saved_errno;
}

/* Whether the forking thread made our thread stand still. */
static __thread __attribute__((tls_model("initial-exec"))) bool holds_turn;

bool worker_fork_prepare(void)
{
	struct timespec until;

	/* Nobody starts our thread meanwhile: the parent's half must undo just what this one did.
	 */
	pthread_mutex_lock(&self.starting);
	if (!self.is_started)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += FORK_WAIT_MS * (long)MILLISECOND_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	holds_turn = pthread_mutex_timedlock(&self.turn, &until) == 0;
	return holds_turn;
}

void worker_fork_parent(void)
{
	if (holds_turn)
		pthread_mutex_unlock(&self.turn);
	holds_turn = false;
	pthread_mutex_unlock(&self.starting);
}

void worker_fork_child(bool was_stopped)
{
	pthread_mutex_init(&self.starting, NULL);
	pthread_mutex_init(&self.turn, NULL);
	holds_turn = false;
	errand_fork_child();
	manual_fork_child();
	self.is_started = false;
	atomic_store(&self.finish, 0);
	self.next_chunk_ns = self.next_sampler_ns = 0;
	waiting_after_fork();
	parked_fork_child();
	if (was_stopped)
		output_fork_child();
}
