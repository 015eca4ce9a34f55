/* SPDX-License-Identifier: MIT */
/*
 * doctor_signals.c - whether the clock's signal is free, and who blocks it.
 *
 * What a program inherits from us is what this process ignores and blocks.
 */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/live/procfile.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MAX = 8192, TIMERS_MAX = 65536, THREADS_MAX = 20000 };

/* As in preload/sampler/front.c; above 250 Hz the last is the first (signal.h there). */
static const struct {
	int number;
	const char *name;
} candidates[] = {
	{ SIGPROF, "SIGPROF" }, { SIGVTALRM, "SIGVTALRM" }, { SIGSTKFLT, "SIGSTKFLT" },
	{ SIGIO, "SIGIO" },	{ SIGURG, "SIGURG" },
};

static uint64_t bit(int signal_number)
{
	return (uint64_t)1 << (signal_number - 1);
}

/* The first that is neither handled nor ignored, then the first that is ignored; or none. */
static const char *choose(uint64_t caught, uint64_t ignored, int *number)
{
	for (int pass = 0; pass < 2; pass++) {
		uint64_t taken = pass == 0 ? caught | ignored : caught;

		for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
			*number = candidates[i].number;
			if ((taken & bit(*number)) == 0)
				return candidates[i].name;
		}
	}
	*number = SIGPROF;
	return NULL;
}

/* ---- threads that block it --------------------------------------------------------------------
 */

static void count_blocking(pid_t pid, int number, size_t *blocking, size_t *threads)
{
	char path[64], name[64], text[STATUS_MAX];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks != NULL && *threads < THREADS_MAX && (entry = readdir(tasks)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(name, sizeof(name), "task/%.20s/status", entry->d_name);
		if (procfile_read(pid, name, text, sizeof(text)) <= 0)
			continue;
		/* Our own thread blocks all; this process is called so, too. */
		if (pid != getpid() && strncmp(text, "Name:\tguestprof\n", 16) == 0)
			continue;
		++*threads;
		if ((procfile_number(text, "SigBlk", 16) & bit(number)) != 0)
			++*blocking;
	}
	if (tasks != NULL)
		closedir(tasks);
}

static void tell_blocking(struct doctor *doctor, pid_t pid, const char *name, int number)
{
	size_t blocking = 0, threads = 0;

	count_blocking(pid, number, &blocking, &threads);
	if (blocking == 0)
		return;
	if (doctor->pid != 0)
		doctor_add(doctor, DOCTOR_LIMIT, "signals",
			   "let threads that run guests leave that signal unblocked",
			   "%zu of %zu threads block %s: they are not sampled while they do",
			   blocking, threads, name);
	else
		doctor_add(doctor, DOCTOR_LIMIT, "signals",
			   "start it from where that signal is not blocked",
			   "%s is blocked here, and the program inherits that: a thread is not "
			   "sampled while it blocks it",
			   name);
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* How many timers of process PID send NUMBER. /proc/PID/timers has a line `signal: 27/VALUE`. */
static size_t count_timers(pid_t pid, int number)
{
	char *text = malloc(TIMERS_MAX);
	size_t count = 0;

	if (text == NULL)
		return 0;
	procfile_read(pid, "timers", text, TIMERS_MAX);
	for (const char *at = text; (at = procfile_field(at, "signal")) != NULL;)
		count += strtol(at, NULL, 10) == number;
	free(text);
	return count;
}

void doctor_signals(struct doctor *doctor)
{
	pid_t pid = doctor->pid != 0 ? doctor->pid : getpid();
	uint64_t caught, ignored;
	char text[STATUS_MAX];
	const char *name;
	bool is_ours;
	int number;

	if (procfile_read(pid, "status", text, sizeof(text)) <= 0)
		return;
	caught = doctor->pid != 0 ? procfile_number(text, "SigCgt", 16) : 0;
	ignored = procfile_number(text, "SigIgn", 16);
	/* A handler there may be ours. */
	is_ours = doctor->is_preloaded && (caught & bit(SIGPROF)) != 0;
	if (is_ours)
		caught &= ~bit(SIGPROF);
	name = choose(caught, ignored, &number);
	if (is_ours)
		doctor_add(doctor, DOCTOR_OK, "signals", NULL,
			   "SIGPROF is handled, by us or by the host; another is used then");
	else if (name == NULL)
		doctor_add(
			doctor, DOCTOR_LIMIT, "signals", "let it leave one of them alone",
			"it handles SIGPROF, SIGVTALRM, SIGSTKFLT, SIGIO and SIGURG: its handler "
			"of SIGPROF gets what is not ours");
	else if (number != SIGPROF)
		doctor_add(doctor, DOCTOR_OK, "signals", NULL,
			   "SIGPROF is handled or ignored (%zu timers send it): %s is used instead",
			   doctor->pid != 0 ? count_timers(pid, SIGPROF) : 0, name);
	else
		doctor_add(doctor, DOCTOR_OK, "signals", NULL, "SIGPROF is free");
	tell_blocking(doctor, pid, name != NULL ? name : "SIGPROF", number);
}
