/* SPDX-License-Identifier: MIT */
/*
 * clocks_bench.c - what a sampling clock costs by itself, with a handler that only counts.
 *
 * usage: clocks_bench [PAIRS [NAME...]]. Prints two tables. The first: a thread that computes, in
 * PAIRS of chunks of fixed work with the clock on and off in turn; the share that it takes longer,
 * microseconds a signal, and of a thread that sends signals its own share of a core. The second: a
 * thread that sleeps and wakes all the time, which a clock by perf_event is taken from and given
 * back to at each switch; microseconds more a sleep.
 * The thread that sends looks at whether the sampled one has used the CPU since it looked last, and
 * whether it is marked as in a guest, as a sampler would.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"

enum { STEPS = 10000000, SLEEPS = 2000, DEFAULT_PAIRS = 40, MAX_PAIRS = 1000 };

static atomic_ulong signals;

static struct {
	pid_t tid; /* of the sampled thread */
	int fd;	   /* perf_event; -1: none */
	timer_t timer;
	pthread_t sender;
	long period_ns;
	atomic_bool is_on, is_ended, is_in_guest;
	atomic_ullong sender_ns; /* CPU time of the sender while the clock is on */
} self = { .fd = -1 };

static void on_signal(int signo)
{
	(void)signo;
	atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
}

/* ---- perf_event ------------------------------------------------------------------------------ */

static int open_perf(bool is_trap)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)self.period_ns,
		.wakeup_events = is_trap ? 0 : 1,
		.disabled = 1,
		.exclude_hv = 1,
		.sigtrap = is_trap,
		.remove_on_exec = is_trap, /* the kernel asks for it */
	};
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = self.tid };

	self.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (self.fd < 0 && errno == EACCES) {
		attr.exclude_kernel = 1;
		self.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (self.fd < 0 || is_trap)
		return self.fd < 0 ? -errno : 0;
	if (fcntl(self.fd, F_SETFL, O_ASYNC) != 0 || fcntl(self.fd, F_SETSIG, SIGPROF) != 0 ||
	    fcntl(self.fd, F_SETOWN_EX, &owner) != 0)
		return -errno;
	return 0;
}

static int open_cpu_clock(void)
{
	return open_perf(false);
}

static int open_trap(void)
{
	return open_perf(true);
}

static void set_perf(bool on)
{
	ioctl(self.fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void close_perf(void)
{
	close(self.fd);
	self.fd = -1;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static int open_timer(clockid_t clock)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };

	event._sigev_un._tid = self.tid;
	return timer_create(clock, &event, &self.timer) == 0 ? 0 : -errno;
}

static int open_cpu_timer(void)
{
	return open_timer(CLOCK_THREAD_CPUTIME_ID);
}

static int open_monotonic_timer(void)
{
	return open_timer(CLOCK_MONOTONIC);
}

static void set_timer(bool on)
{
	struct timespec period = { .tv_nsec = on ? self.period_ns : 0 };
	struct itimerspec spec = { .it_interval = period, .it_value = period };

	timer_settime(self.timer, 0, &spec, NULL);
}

static void close_timer(void)
{
	timer_delete(self.timer);
}

/* ---- a thread that sends --------------------------------------------------------------------- */

/* The sampled thread's CPU clock, as pthread_getcpuclockid() makes it. */
static uint64_t sampled_cpu_ns(void)
{
	return clock_ns((clockid_t)((~(unsigned int)self.tid << 3) | 6));
}

static void add_ns(struct timespec *time, long ns)
{
	time->tv_nsec += ns;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

static void *send_signals(void *unused)
{
	uint64_t seen_ns = 0, before_ns = 0;
	struct timespec next;

	(void)unused;
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!atomic_load(&self.is_ended)) {
		uint64_t used_ns;

		add_ns(&next, self.period_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (atomic_load(&self.is_on))
			atomic_fetch_add(&self.sender_ns, used_ns - before_ns);
		before_ns = used_ns;
		if (!atomic_load(&self.is_on) || !atomic_load(&self.is_in_guest))
			continue;
		used_ns = sampled_cpu_ns();
		if (used_ns != seen_ns)
			syscall(SYS_tgkill, getpid(), self.tid, SIGPROF);
		seen_ns = used_ns;
	}
	return NULL;
}

static int open_sender(void)
{
	sigset_t all, before;
	int error;

	atomic_store(&self.is_ended, false);
	atomic_store(&self.sender_ns, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&self.sender, NULL, send_signals, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static void set_sender(bool on)
{
	atomic_store(&self.is_on, on);
}

static void close_sender(void)
{
	atomic_store(&self.is_ended, true);
	pthread_join(self.sender, NULL);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static int open_none(void)
{
	return 0;
}

static void set_none(bool on)
{
	(void)on;
}

static void close_none(void)
{
}

static const struct clock {
	const char *name;
	int (*open)(void);
	void (*set)(bool on);
	void (*close)(void);
} clocks[] = {
	{ "none", open_none, set_none, close_none },
	{ "cpu-timer", open_cpu_timer, set_timer, close_timer },
	{ "perf-setsig", open_cpu_clock, set_perf, close_perf },
	{ "perf-sigtrap", open_trap, set_perf, close_perf },
	{ "monotonic-timer", open_monotonic_timer, set_timer, close_timer },
	{ "tgkill-thread", open_sender, set_sender, close_sender },
};

/* CPU time of a chunk of work. */
static double compute_ns(void)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), value = 1;

	for (int i = 0; i < STEPS; i++) {
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
		__asm__ volatile("" : : "r"(value));
	}
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
}

static int pipes[2][2];

static void *answer(void *unused)
{
	char byte;

	(void)unused;
	while (read(pipes[0][0], &byte, 1) == 1)
		if (write(pipes[1][1], &byte, 1) != 1)
			break;
	return NULL;
}

/* CPU time of both threads, and of nothing else, for SLEEPS sleeps of this one. */
static double sleep_ns(void)
{
	uint64_t sender_ns = atomic_load(&self.sender_ns);
	uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	char byte = 'x';

	for (int i = 0; i < SLEEPS; i++) {
		if (write(pipes[0][1], &byte, 1) != 1)
			exit(EXIT_FAILURE);
		while (read(pipes[1][0], &byte, 1) != 1)
			if (errno != EINTR)
				exit(EXIT_FAILURE);
	}
	return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) -
	       (double)(atomic_load(&self.sender_ns) - sender_ns);
}

struct result {
	double more;	       /* median of the pairs' (on / off - 1) */
	double off_ns;	       /* median */
	double on_ns, wall_ns; /* in all, with the clock on; the second as time passes */
	unsigned long signal_count;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* PAIRS of chunks of WORK, on and off in turn, so that a machine that drifts drifts for both. */
static struct result measure(const struct clock *clock, int pairs, double (*work)(void))
{
	static double more[MAX_PAIRS], off[MAX_PAIRS];
	struct result result = { 0 };

	work();
	for (int i = 0; i < pairs; i++) {
		double took[2];

		for (int turn = 0; turn < 2; turn++) {
			bool on = (turn ^ (i & 1)) != 0;
			unsigned long before = atomic_load(&signals);
			uint64_t begin = clock_ns(CLOCK_MONOTONIC);

			clock->set(on);
			took[on] = work();
			clock->set(false);
			if (!on)
				continue;
			result.signal_count += atomic_load(&signals) - before;
			result.wall_ns += (double)(clock_ns(CLOCK_MONOTONIC) - begin);
		}
		more[i] = took[1] / took[0] - 1;
		off[i] = took[0];
		result.on_ns += took[1];
	}
	qsort(more, (size_t)pairs, sizeof(*more), compare);
	qsort(off, (size_t)pairs, sizeof(*off), compare);
	result.more = more[pairs / 2];
	result.off_ns = off[pairs / 2];
	return result;
}

static void print_computing(const struct clock *clock, int hz, int pairs)
{
	struct result result = measure(clock, pairs, compute_ns);
	double rate = (double)result.signal_count / result.on_ns * 1e9;

	printf("| %-15s | %d | %.0f | %.2f | %.2f | %.2f |\n", clock->name, hz, rate,
	       100 * result.more,
	       result.signal_count != 0 ? result.more / (1 + result.more) * 1e6 / rate : 0.0,
	       100 * (double)atomic_load(&self.sender_ns) / result.wall_ns);
}

static void print_sleeping(const struct clock *clock, int hz, int pairs)
{
	struct result result = measure(clock, pairs, sleep_ns);

	printf("| %-15s | %d | %.2f | %.2f |\n", clock->name, hz, result.off_ns / SLEEPS / 1e3,
	       result.more * result.off_ns / SLEEPS / 1e3);
}

static bool is_among(char **names, const char *name)
{
	if (*names == NULL)
		return true;
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static void measure_one(const struct clock *clock, int hz, int pairs,
			void (*print)(const struct clock *, int, int))
{
	int error;

	self.period_ns = 1000000000 / hz;
	error = clock->open();
	if (error != 0) {
		printf("| %-15s | %d | %s |\n", clock->name, hz, strerror(-error));
		return;
	}
	print(clock, hz, pairs);
	clock->close();
	atomic_store(&self.sender_ns, 0);
	fflush(stdout);
}

static void measure_all(const int *rates, int rate_count, int pairs, char **names,
			void (*print)(const struct clock *, int, int))
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		for (int j = 0; j < rate_count && is_among(names, clocks[i].name); j++)
			measure_one(&clocks[i], rates[j], pairs, print);
}

int main(int argc, char **argv)
{
	static const int fast[] = { 1000, 4000 }, all[] = { 1, 100, 1000, 4000 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int pairs = argc > 1 ? atoi(argv[1]) : DEFAULT_PAIRS;
	char **names = argc > 2 ? argv + 2 : argv + argc;
	pthread_t partner;

	if (pairs < 2 || pairs > MAX_PAIRS)
		return 2;
	self.tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&self.is_in_guest, true);
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	printf("| clock | Hz | signals a CPU second | CPU time more, %% | us a signal | the "
	       "sender, %% "
	       "of a core |\n| --- | --- | --- | --- | --- | --- |\n");
	measure_all(fast, 2, pairs, names, print_computing);
	if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 ||
	    pthread_create(&partner, NULL, answer, NULL) != 0)
		return 1;
	printf("\n| clock | Hz | a sleep and its waking, us | more, us |\n| --- | --- | --- | --- "
	       "|\n");
	measure_all(all, 4, pairs, names, print_sleeping);
	return 0;
}
