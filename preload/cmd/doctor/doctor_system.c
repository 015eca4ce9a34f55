/* SPDX-License-Identifier: MIT */
/*
 * doctor_system.c - what the kernel lets a program do that we start: clocks, sandbox, limits.
 *
 * What may be refused is tried, in a child: a sandbox may kill for it.
 */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/live/procfile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Above it the kernel's tick is too coarse for timers (preload/sampler/clocks.h). */
enum { TICK_HZ = 250, KILLED = 255, STATUS_MAX = 8192 };

/* ---- trying ---------------------------------------------------------------------------------- */

static int try_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	timer_t timer;

	return timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 ? 0 : errno;
}

static int open_perf(bool without_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_hv = 1,
		.exclude_kernel = without_kernel,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0 ? 0
											 : errno;
}

static int try_perf(void)
{
	return open_perf(false);
}

static int try_perf_without_kernel(void)
{
	return open_perf(true);
}

/* Kernels before 5.9 have none, and our thread then shares the host's table of descriptors. */
static int try_close_range(void)
{
	return syscall(436, ~0U, ~0U, 0) == 0 ? 0 : errno;
}

/* What CALL gives in a child: 0, an errno, KILLED. */
static int in_child(int (*call)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(call() & 0xff);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return EAGAIN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}

static const char *outcome(int error)
{
	return error == KILLED ? "the sandbox kills for it" : strerror(error);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static int perf_paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (file == NULL)
		return -1;
	if (fscanf(file, "%d", &level) != 1)
		level = -1;
	fclose(file);
	return level;
}

static void check_perf(struct doctor *doctor)
{
	int error = in_child(try_perf),
	    less = error == EACCES ? in_child(try_perf_without_kernel) : error;
	bool is_wanted = doctor->config.hz > TICK_HZ;

	if (error == 0)
		doctor_add(doctor, DOCTOR_OK, "perf_event", NULL,
			   "allowed: rates above %d Hz are exact", TICK_HZ);
	else if (less == 0)
		doctor_add(doctor, is_wanted ? DOCTOR_LIMIT : DOCTOR_OK, "perf_event",
			   "sysctl kernel.perf_event_paranoid=1, or run it as root",
			   "without the kernel's part (perf_event_paranoid is %d): above %d Hz "
			   "time in system calls is missed",
			   perf_paranoid(), TICK_HZ);
	else
		doctor_add(doctor, is_wanted ? DOCTOR_LIMIT : DOCTOR_OK, "perf_event",
			   "sysctl kernel.perf_event_paranoid=2; in a container allow "
			   "perf_event_open (seccomp profile, CAP_PERFMON)",
			   "refused (%s; perf_event_paranoid is %d): at most about %d samples a "
			   "second of CPU time",
			   outcome(error), perf_paranoid(), TICK_HZ);
}

static void check_timer(struct doctor *doctor)
{
	int error = in_child(try_timer);

	if (error == 0)
		doctor_add(doctor, DOCTOR_OK, "timer", NULL, "CPU timers work; %u Hz is asked for",
			   doctor->config.hz);
	else
		doctor_add(doctor, DOCTOR_NO, "timer",
			   "allow timer_create in the sandbox; ulimit -i for more",
			   "timer_create is refused: %s", outcome(error));
	error = in_child(try_close_range);
	if (error == KILLED)
		doctor_add(doctor, DOCTOR_NO, "seccomp", "allow close_range in the sandbox",
			   "the sandbox kills for close_range, which our thread begins with");
}

static void check_time_source(struct doctor *doctor)
{
	FILE *file =
		fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[32] = "";

	if (file == NULL)
		return;
	if (fscanf(file, "%31s", name) != 1)
		name[0] = '\0';
	fclose(file);
	if (strcmp(name, "hpet") == 0 || strcmp(name, "acpi_pm") == 0 || strcmp(name, "xen") == 0)
		doctor_add(doctor, DOCTOR_LIMIT, "time",
			   "boot with clocksource=tsc, if the machine has a stable one",
			   "the kernel's clock is %s: reading it takes a system call for each "
			   "sample",
			   name);
	else if (name[0] != '\0')
		doctor_add(doctor, DOCTOR_OK, "time", NULL, "the kernel's clock is %s", name);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static const struct {
	int resource;
	uint64_t least;
	const char *name, *why;
} limits[] = {
	{ RLIMIT_SIGPENDING, 256, "ulimit -i", "each thread's timer takes one" },
	{ RLIMIT_NOFILE, 256, "ulimit -n", "perf_event takes one for each thread" },
	{ RLIMIT_FSIZE, 64 << 20, "ulimit -f", "the recording is cut there" },
	{ RLIMIT_AS, (uint64_t)1 << 30, "ulimit -v",
	  "engines reserve much address space, and we up to GUESTPROF_MEMORY" },
};

void doctor_limits(struct doctor *doctor, pid_t pid)
{
	size_t before = doctor->row_count;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit limit;

		/* Another user's process. */
		if (prlimit(pid, limits[i].resource, NULL, &limit) != 0)
			return;
		if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= limits[i].least)
			continue;
		doctor_add(doctor, DOCTOR_LIMIT, "limits", "raise it", "%s is %llu: %s",
			   limits[i].name, (unsigned long long)limit.rlim_cur, limits[i].why);
	}
	if (doctor->row_count == before)
		doctor_add(doctor, DOCTOR_OK, "limits", NULL, "none is too low");
}

/* ---- settings -------------------------------------------------------------------------------- */

static void complain(void *context, const char *line)
{
	doctor_add(context, DOCTOR_LIMIT, "settings", "correct it, or leave it out", "%s", line);
}

void doctor_settings(struct doctor *doctor)
{
	config_read(&doctor->config, doctor->environment, complain, doctor);
}

void doctor_system(struct doctor *doctor)
{
	char text[STATUS_MAX];

	if (procfile_read(getpid(), "status", text, sizeof(text)) > 0 &&
	    procfile_number(text, "Seccomp", 10) != 0)
		doctor_add(doctor, DOCTOR_OK, "seccomp", NULL,
			   "a sandbox is here, which the program inherits; what we need of it was "
			   "tried");
	check_timer(doctor);
	check_perf(doctor);
	check_time_source(doctor);
	doctor_limits(doctor, 0);
	doctor_signals(doctor);
}
