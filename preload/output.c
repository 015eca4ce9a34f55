/* SPDX-License-Identifier: MIT */
/*
 * output.c - one profile, one writer, and the list that `guestprof record` reads.
 */
#include "preload/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/encode/writer.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/profile/profile.h"
#include "preload/profile/waits.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/waiting.h"
#include "preload/sig/thread.h"

enum { MAX_ENGINES = 8 };

#define COMPRESS_BUDGET_NS UINT64_C(500000000)

static struct {
	char *pattern; /* absolute */
	struct profile *profile;
	struct writer *writer;
	bool has_file, is_off;
	char *engines[MAX_ENGINES];
	size_t engine_count;
} self;

/* DIRECTORY with each % doubled, so that the pattern's own are the only ones. */
static void double_percents(const char *directory, char *out, size_t size)
{
	size_t length = 0;

	for (; *directory != '\0' && length + 2 < size; directory++) {
		if (*directory == '%')
			out[length++] = '%';
		out[length++] = *directory;
	}
	out[length] = '\0';
}

void output_configure(void)
{
	const struct config *config = config_current();
	const char *pattern = config->output;
	char directory[PATH_MAX], prefix[2 * PATH_MAX];

	if (strcmp(pattern, "none") == 0)
		return;
	/* A variable at the start may hold an absolute path. */
	if (*pattern == '/' || strncmp(pattern, "%{", 2) == 0 ||
	    getcwd(directory, sizeof(directory)) == NULL) {
		self.pattern = strdup(pattern);
		return;
	}
	/* An exact name is literal. */
	if (config->exact_output)
		snprintf(prefix, sizeof(prefix), "%s", directory);
	else
		double_percents(directory, prefix, sizeof(prefix));
	if (asprintf(&self.pattern, "%s/%s", prefix, pattern) < 0)
		self.pattern = NULL;
}

void output_note_engine(const char *engine, const char *version)
{
	char text[80];

	snprintf(text, sizeof(text), "%s%s%s", engine, *version != '\0' ? " " : "", version);
	for (size_t i = 0; i < self.engine_count; i++) {
		if (strcmp(self.engines[i], text) == 0)
			return;
	}
	if (self.engine_count < MAX_ENGINES &&
	    (self.engines[self.engine_count] = strdup(text)) != NULL)
		self.engine_count++;
}

/* At the first sample; afterwards a cheap question. */
static bool is_open(void)
{
	const struct config *config = config_current();
	struct profile_options options = {
		.config = config,
		.symtab = load_symtab(),
		.start_ns = clock_ns(CLOCK_MONOTONIC),
		.period_ns = 1000000000u / config->hz,
	};

	if (self.profile != NULL)
		return true;
	if (self.is_off || self.pattern == NULL)
		return false;
	self.profile = profile_new(&options);
	self.writer = writer_prepare(self.pattern, config->exact_output, clock_ns(CLOCK_REALTIME));
	if (self.profile != NULL && self.writer != NULL)
		return true;
	self.is_off = true;
	log_line(LOG_ERROR, "no recording: %s", strerror(errno));
	profile_free(self.profile);
	self.profile = NULL;
	return false;
}

void output_take(const struct sample *sample, uint64_t tid, const char *thread_name)
{
	if (is_open())
		profile_take(self.profile, sample, tid, thread_name);
	else
		stat_count(STAT_LOST_WRITE);
}

void output_take_wait(const struct wait *wait)
{
	struct waits_look taken = {
		.slot = wait->slot,
		.tid = (uint64_t)wait->thread->tid,
		.thread_name = wait->thread->name,
		.what = wait->what,
		.descriptor = wait->descriptor,
		.time_ns = wait->time_ns,
		.wall_ns = wait->wall_ns,
	};

	if (is_open())
		waits_take(self.profile, wait->sample, &taken);
	else
		stat_count(STAT_LOST_WRITE);
}

void output_take_parked(uint32_t instance, uint64_t wall_ns)
{
	if (is_open())
		waits_take_parked(self.profile, instance, clock_ns(CLOCK_MONOTONIC), wall_ns);
	else
		stat_count(STAT_LOST_WRITE);
}

/* One line "PID PATH" for the launcher that waits for us; it has its own file for it. */
static void tell_launcher(void)
{
	const char *list = config_current()->list;
	char line[PATH_MAX + 32];
	ssize_t written;
	int fd, length;

	if (list == NULL)
		return;
	fd = open(list, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	length = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), writer_path(self.writer));
	written = write(fd, line, (size_t)length);
	(void)written;
	close(fd);
}

void output_write(uint64_t now_ns)
{
	static const char *const stacks[] = { "guest", "hostcalls", "full" };
	const struct config *config = config_current();
	struct sampler_info clock = sampler_info();
	struct writer_info info = {
		.clock_name = clock.clock_name,
		.clock_why = clock.why,
		.requested_hz = config->hz,
		.stacks = stacks[config->stacks],
		.period_ns = 1000000000u / config->hz,
		.own_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.engines = (const char *const *)self.engines,
		.engine_count = self.engine_count,
	};
	const struct chunk *chunk;

	if (self.profile == NULL || self.writer == NULL)
		return;
	chunk = profile_chunk(self.profile, now_ns);
	if (chunk->sample_count == 0 && !self.has_file)
		return;
	if (writer_append(self.writer, chunk, &info) != 0 || self.has_file)
		return;
	self.has_file = true;
	tell_launcher();
}

void output_finish(uint64_t now_ns)
{
	output_write(now_ns);
	if (self.writer != NULL)
		writer_finish(self.writer, COMPRESS_BUDGET_NS);
}

void output_fork_child(void)
{
	/* The profile is the parent's; freeing its memory is work a child that only execs need not
	 * do. */
	if (self.writer != NULL)
		writer_free(self.writer, true);
	self.writer = NULL;
	self.profile = NULL;
	self.has_file = false;
}
