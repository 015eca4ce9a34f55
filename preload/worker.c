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
#include "preload/commands.h"
#include "preload/control/control.h"
#include "preload/descriptors.h"
#include "preload/errand.h"
#include "preload/flush.h"
#include "preload/headcount.h"
#include "preload/hook/hook.h"
#include "preload/intake.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/load/parked.h"
#include "preload/manual.h"
#include "preload/output.h"
#include "preload/runtime/followed.h"
#include "preload/runtime/gdb_jit.h"
#include "preload/sampler/clocks.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/signal.h"
#include "preload/sampler/waiting.h"
#include "preload/session.h"
#include "preload/spending.h"
#include "preload/turn.h"
#include "preload/unwind/unwind.h"
#include "preload/wake.h"

#define MILLISECOND_NS UINT64_C(1000000)

enum {
	STACK_SIZE = 1 << 20, /* demangling recurses */
	TURN_MS = 50,	      /* between drains */
	SLOW_TURN_MS = 200,   /* at the kernel's tick or below, where a ring lasts for seconds */
	PARKED_MS = 100,      /* between looks at asynchronous calls, whose times are exact */
	CHUNK_MS = 1000,      /* between writes: what a kill costs at most */
	SHORT_CHUNK_MS = 100, /* in young Go programs */
	WATCH_FIRST_MS = 50,
	WATCH_LONGEST_MS = 2000,
	BUSY_MS = 2,	 /* between looks at a client that waits for bytes, likewise */
	ALONE_MS = 1000, /* between looks whether a thread of the host is left */
};

static struct {
	atomic_bool is_watching, is_sampling;
	atomic_int finish; /* 0 no, 1 asked for, 2 done */

	/* Our thread's own. */
	uint64_t first_chunk_ns, next_chunk_ns, next_watch_ns, watch_interval_ns, next_sampler_ns,
		next_waiting_ns, next_parked_ns, next_alone_ns;
	bool has_unwinder; /* libunwind was opened, or is not there */
} self;

/* ---- one turn ------------------------------------------------------------------------------- */

/* Nobody asks what is in memory while nothing is to be sampled. */
static bool has_to_watch(void)
{
	return atomic_load(&self.is_watching) && session_now().is_wanted;
}

static void watch(uint64_t now)
{
	if (now < self.next_watch_ns || !has_to_watch())
		return;
	load_scan(0);
	self.watch_interval_ns = self.watch_interval_ns == 0 ? WATCH_FIRST_MS * MILLISECOND_NS
							     : self.watch_interval_ns * 2;
	if (self.watch_interval_ns > WATCH_LONGEST_MS * MILLISECOND_NS)
		self.watch_interval_ns = WATCH_LONGEST_MS * MILLISECOND_NS;
	self.next_watch_ns = now + self.watch_interval_ns;
}

/* No sample will ask for what is gone, once those that are under way have come in. */
static void rest(uint64_t now)
{
	uint64_t drained;

	self.next_sampler_ns = sampler_work(now);
	drained = intake_samples();
	load_reclaim(drained);
	unwind_forget_images(drained);
}

/* Here, and not earlier: libunwind makes descriptors at its first use, and they must be ours. */
static void need_unwinder(void)
{
	if (self.has_unwinder)
		return;
	self.has_unwinder = true;
	unwind_choose(config_current()->own_unwinder ? UNWINDER_CFI : UNWINDER_LIBUNWIND);
	unwind_start();
}

/* Go programs end by system call, which nobody sees: young ones lose a tenth of what they did. */
static uint64_t chunk_ns(uint64_t now)
{
	uint64_t tenth;

	if (self.first_chunk_ns == 0)
		self.first_chunk_ns = now;
	tenth = (now - self.first_chunk_ns) / 10;
	if (tenth >= CHUNK_MS * MILLISECOND_NS || !signal_is_on_alternate_stack())
		return CHUNK_MS * MILLISECOND_NS;
	return tenth > SHORT_CHUNK_MS * MILLISECOND_NS ? tenth : SHORT_CHUNK_MS * MILLISECOND_NS;
}

static void sample(uint64_t now)
{
	uint64_t drained;

	/* At every turn: we may have been woken for a thread that waits for its clock. */
	self.next_sampler_ns = sampler_work(now);
	need_unwinder();
	self.next_waiting_ns = intake_waits(now);
	if (now >= self.next_parked_ns) {
		intake_parked();
		self.next_parked_ns = now + PARKED_MS * MILLISECOND_NS;
	}
	spending_begin();
	drained = intake_samples();
	spending_end();
	load_reclaim(drained);
	unwind_forget_images(drained);
	if (now < self.next_chunk_ns)
		return;
	output_write();
	spending_judge(now);
	instance_reclaim();
	self.next_chunk_ns = now + chunk_ns(now);
}

void worker_rest(void)
{
	atomic_store(&self.is_sampling, false);
	intake_samples();
	intake_parked();
	output_end();
}

static void take_turn(void)
{
	int flushes = flush_wanted();
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!flush_is_answered(flushes))
		self.next_chunk_ns = 0;

	intake_loads();
	intake_told(now);
	errand_work();
	control_work(now);
	session_work(now);
	watch(now);
	if (atomic_load(&self.is_sampling))
		sample(now);
	else
		rest(now);
	flush_answer(flushes);
}

static void last_turn(void)
{
	intake_loads();
	intake_told(clock_ns(CLOCK_MONOTONIC));
	errand_work();
	/* Again, here: clocks that only we can close, and a session that began meanwhile. */
	sampler_stop();
	if (atomic_load(&self.is_sampling)) {
		intake_samples();
		intake_parked();
	}
	output_finish();
	control_close();
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Handlers wake us when a ring is half full; waking up is most of what we cost at low rates. */
static uint64_t turn_ns(void)
{
	return (session_now().hz > CLOCKS_TICK_HZ ? TURN_MS : SLOW_TURN_MS) * MILLISECOND_NS;
}

/* When something has to be done even if nobody wakes us; UINT64_MAX: never. */
static uint64_t next_turn_ns(uint64_t now)
{
	uint64_t next = earlier(session_next_ns(), control_next_ns());

	next = earlier(next, runtime_gdb_jit_next_ns());
	if (has_to_watch())
		next = earlier(next, self.next_watch_ns);
	if (!atomic_load(&self.is_sampling))
		return next;
	next = earlier(next, earlier(now + turn_ns(), self.next_chunk_ns));
	return earlier(next, earlier(self.next_sampler_ns, self.next_waiting_ns));
}

/*
 * While samples are taken handlers wake us, by the futex alone; clients then wait for the next
 * turn, but for those that wait for bytes.
 */
static void sleep_until_next(int seen)
{
	struct pollfd descriptors[WAKE_DESCRIPTORS_MAX];
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = next_turn_ns(now);
	bool is_sampling = atomic_load(&self.is_sampling);
	size_t count = 0;

	if (!is_sampling || control_is_busy())
		count = control_descriptors(descriptors, ARRAY_SIZE(descriptors));
	if (is_sampling && count > 0)
		next = earlier(next, now + BUSY_MS * MILLISECOND_NS);
	if (next != UINT64_MAX)
		next = next > now ? next - now : 0;
	wake_wait(seen, next, descriptors, count);
}

/* In its own table the host would close and reuse our descriptors, and write to our files. */
static void step_back(void)
{
	log_line(LOG_ERROR, "no descriptor table of our own (%s): nothing is recorded",
		 strerror(errno));
	atomic_store(&state.on, false);
	sampler_stop();
}

/* Then nobody will ask us to end. */
static bool is_alone(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < self.next_alone_ns)
		return false;
	self.next_alone_ns = now + ALONE_MS * MILLISECOND_NS;
	return headcount_is_alone();
}

static void work_until_asked_to_end(void)
{
	turn_begin();
	control_open(commands_answer);
	while (atomic_load(&self.finish) == 0 && !is_alone()) {
		int seen = wake_seen();

		take_turn();
		turn_end();
		sleep_until_next(seen);
		turn_begin();
	}
	last_turn();
	turn_end();
}

/* worker_finish() waits for it. */
static void say_done(void)
{
	atomic_store(&self.finish, 2);
	syscall(SYS_futex, &self.finish, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *run(void *argument)
{
	(void)argument;
	hook_begin(); /* for good: what this thread calls is never the host's doing */
	if (descriptors_own()) {
		prctl(PR_SET_NAME, "guestprof");
		work_until_asked_to_end();
		/* Where we are the last, libc calls exit() here, and what handlers of the host's
		 * write to by number must not be ours. */
		descriptors_close();
	} else {
		step_back();
	}
	errand_close();
	say_done();
	headcount_leave();
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
	if (error == 0)
		headcount_leave_out();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

void worker_start(void)
{
	int saved_errno = errno, error = turn_start(create_thread);

	if (error != 0)
		log_line(LOG_ERROR, "no thread of our own (%s): nothing will be recorded",
			 strerror(error));
	errno = saved_errno;
}

void worker_watch(void)
{
	atomic_store(&self.is_watching, true);
	wake_up();
}

void worker_sample(void)
{
	atomic_store(&self.is_sampling, true);
	wake_up();
}

void worker_finish(uint64_t limit_ns)
{
	int saved_errno = errno, idle = 0;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ns, now;

	if (!turn_has_thread() || !atomic_compare_exchange_strong(&self.finish, &idle, 1))
		return;
	wake_up();
	while (atomic_load(&self.finish) != 2 && (now = clock_ns(CLOCK_MONOTONIC)) < end) {
		struct timespec left = {
			.tv_sec = (time_t)((end - now) / 1000000000u),
			.tv_nsec = (long)((end - now) % 1000000000u),
		};

		syscall(SYS_futex, &self.finish, FUTEX_WAIT_PRIVATE, 1, &left, NULL, 0);
	}
	errno = saved_errno;
}

void worker_fork_child(bool was_stopped)
{
	turn_fork_child();
	headcount_fork_child();
	wake_fork_child();
	errand_fork_child();
	manual_fork_child();
	control_fork_child();
	session_fork_child();
	spending_fork_child();
	followed_fork_child();
	atomic_store(&self.finish, 0);
	flush_fork_child();
	self.first_chunk_ns = self.next_chunk_ns = self.next_sampler_ns = 0;
	waiting_after_fork();
	parked_fork_child();
	if (was_stopped)
		output_fork_child();
}
