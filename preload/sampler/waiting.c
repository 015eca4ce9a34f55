/* SPDX-License-Identifier: MIT */
/*
 * waiting.c - looks at threads that sleep in the kernel, from outside.
 *
 * A thread may wake while it is looked at. Its CPU clock is read before and after, and what the
 * kernel says of its system call too: when both are as before, it has not run in between.
 */
#include "preload/sampler/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/sampler/asleep.h"
#include "preload/sampler/blocks.h"
#include "preload/sampler/syscalls.h"
#include "preload/sampler/tasks.h"
#include "preload/sig/handler.h"

enum {
	LINE_SIZE = 256,     /* nine words of 16 digits */
	LONGEST_PERIODS = 2, /* a look stands for, unless the thread slept all the time */
	COST_FACTOR = 50,    /* a look at all threads takes 2 % of the time at most ... */
	COST_LOOKS = 32, /* ... over so many: a period that followed what is seen would bias it */
	JITTER = 4,	 /* the period varies by a quarter: hosts have rhythms of their own */
};

#define SECOND_NS UINT64_C(1000000000)

/* What the last look at a thread saw. */
struct seen {
	pid_t tid;	 /* 0: nothing yet */
	bool is_waiting; /* and it was given to TAKE */
	uint64_t cpu_ns, time_ns;
};

struct visit {
	uint64_t now_ns;
	void (*take)(void *context, const struct wait *wait);
	void *context;
};

static struct {
	uint64_t period_ns; /* 0: off */
	uint64_t next_ns;
	uint64_t planned_ns; /* the period, longer where looks cost much */
	uint64_t cost_ns;    /* CPU time of a look at all threads, smoothed */
	bool whole;
	uint32_t random;
	struct seen *seen; /* BLOCKS_MAX */
} self;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	if (clock_gettime(clock, &now) != 0)
		return UINT64_MAX;
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* CPU time of thread TID, to the nanosecond; UINT64_MAX when it is gone. */
static uint64_t thread_cpu_ns(pid_t tid)
{
	/* As pthread_getcpuclockid() makes it (linux/posix-timers.h: CPUCLOCK_PERTHREAD_MASK 4,
	 * CPUCLOCK_SCHED 2). */
	return clock_ns((clockid_t)((~(unsigned int)tid << 3) | 6));
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* 0, -EACCES (refused), -ESRCH (gone, or its line makes no sense). */
static int read_call(pid_t tid, char text[LINE_SIZE], struct syscalls_line *line)
{
	int size = tasks_read_file(tid, "syscall", text, LINE_SIZE);

	if (size == -EACCES || size == -EPERM) {
		stat_count(STAT_WAITS_REFUSED);
		return -EACCES;
	}
	if (size <= 0 || syscalls_parse(text, line) != 0)
		return -ESRCH;
	return 0;
}

static bool has_moved(pid_t tid, uint64_t cpu_ns, const char *before)
{
	struct syscalls_line line;
	char text[LINE_SIZE];

	return read_call(tid, text, &line) != 0 || strcmp(text, before) != 0 ||
	       thread_cpu_ns(tid) != cpu_ns;
}

static void give(const struct visit *visit, struct seen *seen, struct wait *wait)
{
	uint64_t since = visit->now_ns - seen->time_ns;

	/* The first look at a thread stands for a period, as those at others do. */
	if (seen->tid != wait->thread->tid)
		since = self.planned_ns;
	/* Without a sample it slept all along; else all that is known is what is seen now. */
	if (wait->sample != NULL && since > LONGEST_PERIODS * self.planned_ns)
		since = LONGEST_PERIODS * self.planned_ns;
	wait->time_ns = visit->now_ns;
	wait->wall_ns = since;
	visit->take(visit->context, wait);
}

/* True when the thread waits with a guest on its stack: that was given. */
static bool look(const struct visit *visit, struct seen *seen, struct wait *wait, uint64_t cpu_ns)
{
	pid_t tid = wait->thread->tid;
	char text[LINE_SIZE], what[SYSCALLS_NAME_SIZE];
	struct syscalls_line line;

	if (read_call(tid, text, &line) != 0 || line.state == SYSCALLS_RUNNING)
		return false;
	switch (asleep_take(wait->thread, line.stack_pointer, line.pc, self.whole, &wait->sample)) {
	case ASLEEP_NO_GUEST:
		return false;
	case ASLEEP_UNREADABLE:
		stat_count(STAT_LOST_STACK);
		return false;
	case ASLEEP_TAKEN:
		break;
	}
	if (has_moved(tid, cpu_ns, text)) {
		stat_count(STAT_WAITS_MOVED);
		return false;
	}
	wait->what = syscalls_describe(&line, what);
	wait->descriptor = syscalls_descriptor(&line);
	give(visit, seen, wait);
	return true;
}

static void visit_thread(void *context, struct thread *thread)
{
	const struct visit *visit = context;
	struct wait wait = {
		.thread = thread,
		.slot = (uint32_t)(thread - thread_table.blocks),
		.descriptor = -1,
	};
	struct seen *seen = &self.seen[wait.slot];
	uint64_t cpu_ns;
	bool is_waiting;

	/* Both are only hints while the thread runs; a thread that sleeps has written them. */
	if (!blocks_is_live(thread) || (thread->depth == 0 && !thread->had_guest)) {
		seen->tid = 0;
		return;
	}
	cpu_ns = thread_cpu_ns(thread->tid);
	if (cpu_ns == UINT64_MAX)
		return;
	if (seen->tid == thread->tid && seen->cpu_ns == cpu_ns) {
		is_waiting = seen->is_waiting;
		if (is_waiting)
			give(visit, seen, &wait);
	} else {
		is_waiting = look(visit, seen, &wait, cpu_ns);
	}
	*seen = (struct seen){
		.tid = thread->tid,
		.is_waiting = is_waiting,
		.cpu_ns = cpu_ns,
		.time_ns = visit->now_ns,
	};
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Marsaglia's xorshift: enough to be out of step with a host's own timers. */
static uint64_t jittered(uint64_t period_ns)
{
	uint32_t random = self.random;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	self.random = random;
	return period_ns - period_ns / (2 * JITTER) + period_ns / JITTER * (random >> 16) / 65536;
}

/*
 * Here and not at the first look: this is a thread of the host's, and ours cannot reach standard
 * error either where this is refused (log.h).
 */
static void say_if_refused(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/syscall", syscall(SYS_gettid));
	if (access(path, R_OK) != 0)
		log_line(LOG_ERROR, "GUESTPROF_WALL: %s: %s%s: no waiting time", path,
			 strerror(errno), errno == EACCES ? " (PR_SET_DUMPABLE is 0)" : "");
}

void waiting_after_fork(void)
{
	if (self.seen != NULL)
		memset(self.seen, 0, BLOCKS_MAX * sizeof(*self.seen));
	self.next_ns = 0;
}

void waiting_start(uint32_t hz, bool whole)
{
	if (self.seen == NULL)
		self.seen = calloc(BLOCKS_MAX, sizeof(*self.seen));
	if (self.seen == NULL)
		return;
	/* What was seen before a session says nothing of the time since then. */
	waiting_after_fork();
	self.period_ns = self.planned_ns = SECOND_NS / hz;
	self.whole = whole;
	say_if_refused();
	self.random = (uint32_t)clock_ns(CLOCK_MONOTONIC) | 1;
}

uint64_t waiting_work(uint64_t now_ns, void (*take)(void *context, const struct wait *wait),
		      void *context)
{
	struct visit visit = { .now_ns = now_ns, .take = take, .context = context };
	uint64_t before;

	if (self.period_ns == 0)
		return UINT64_MAX;
	if (now_ns < self.next_ns)
		return self.next_ns;
	if (atomic_load_explicit(&handler_setup.stopped, memory_order_relaxed)) {
		/* Time that passes now counts for nobody, nor does it later. */
		waiting_after_fork();
		return now_ns + SECOND_NS;
	}
	before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	blocks_each(visit_thread, &visit);
	self.cost_ns += (clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / COST_LOOKS;
	self.cost_ns -= self.cost_ns / COST_LOOKS;
	self.planned_ns = self.cost_ns * COST_FACTOR;
	if (self.planned_ns < self.period_ns)
		self.planned_ns = self.period_ns;
	self.next_ns = now_ns + jittered(self.planned_ns);
	return self.next_ns;
}
