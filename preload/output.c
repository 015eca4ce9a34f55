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
#include "preload/profile/history.h"
#include "preload/profile/profile.h"
#include "preload/profile/waits.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/waiting.h"
#include "preload/session.h"
#include "preload/sig/thread.h"
#include "preload/spending.h"

enum { MAX_ENGINES = 8 };

#define COMPRESS_BUDGET_NS UINT64_C(500000000)
/* While samples are being taken the rings fill up meanwhile: a larger file stays as it is. */
#define ROTATE_BUDGET_NS UINT64_C(20000000)

static struct {
	char *pattern; /* absolute */
	struct profile *profile;
	struct writer *writer;
	bool has_file, is_off;
	char *engines[MAX_ENGINES];
	size_t engine_count;

	struct config config; /* of the session: with its hz and stacks */
	uint64_t start_ns;    /* of the recording, CLOCK_MONOTONIC */
	struct history_counters
		before;		/* when it began; all 0: it counts from the process's start */
	int last_file;		/* of the session before, finished; 0: none */
	uint64_t began_unix_ns; /* first time that anything was described; 0: not yet */
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

	self.config = *config;
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

/* ---- recordings ------------------------------------------------------------------------------ */

static void note_counters(uint64_t now_ns)
{
	self.before.time_ns = now_ns;
	self.before.own_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	self.before.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (enum stat_id i = 0; i < STAT_COUNT; i++)
		self.before.stats[i] = stat_get(i);
}

static struct profile *new_profile(uint64_t now_ns)
{
	struct profile_options options = {
		.config = &self.config,
		.symtab = load_symtab(),
		.start_ns = now_ns,
		.period_ns = 1000000000u / self.config.hz,
		.takes_hostcalls = self.config.exact_hostcalls,
		/* Whoever is at the socket may ask for what has been. */
		.history_memory = self.config.control != NULL ? self.config.memory / 8 : 0,
	};

	return profile_new(&options);
}

/* Without a file only who is at the socket can get at the samples. */
static bool has_reader(void)
{
	return self.pattern != NULL || self.config.control != NULL;
}

static bool open_recording(uint64_t now_ns)
{
	self.start_ns = now_ns;
	self.profile = new_profile(now_ns);
	if (self.pattern != NULL && self.writer == NULL)
		self.writer = writer_prepare(self.pattern, self.config.exact_output,
					     clock_ns(CLOCK_REALTIME));
	return self.profile != NULL && (self.writer != NULL || self.pattern == NULL);
}

/* At the first sample; afterwards a cheap question. */
static bool is_open(void)
{
	if (self.profile != NULL)
		return true;
	if (self.is_off || !has_reader())
		return false;
	if (open_recording(clock_ns(CLOCK_MONOTONIC)))
		return true;
	self.is_off = true;
	log_line(LOG_ERROR, "no recording: %s", strerror(errno));
	profile_free(self.profile);
	self.profile = NULL;
	return false;
}

/* The tables are full: another profile names new stacks again. */
static void replace_profile(uint64_t now_ns)
{
	struct profile *next = new_profile(now_ns);

	if (next == NULL)
		return;
	profile_free(self.profile);
	self.profile = next;
}

/* What comes from now on belongs to another recording. */
static void begin_recording(uint64_t now_ns)
{
	self.start_ns = now_ns;
	self.has_file = false;
	note_counters(now_ns);
	if (self.profile == NULL)
		return;
	profile_restart(self.profile, now_ns);
	if (profile_is_full(self.profile))
		replace_profile(now_ns);
}

void output_begin(uint32_t hz, enum stacks stacks)
{
	bool is_first = self.profile == NULL && self.config.start;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	self.config.hz = hz;
	self.config.stacks = stacks;
	/* The first, from the first guest on, stands for the process from its start. */
	if (is_first)
		return;
	if (self.last_file > 0)
		close(self.last_file);
	self.last_file = 0;
	if (self.profile != NULL) {
		profile_forget_history(self.profile, now_ns);
		profile_set_period(self.profile, 1000000000u / hz);
	}
	begin_recording(now_ns);
}

static bool is_due_for_rotation(uint64_t now_ns)
{
	const struct config_rotate *rotate = &self.config.rotate;

	if (rotate->files == 0 || self.config.exact_output)
		return false;
	if (rotate->age_ns != 0 && now_ns - self.start_ns >= rotate->age_ns)
		return self.has_file || profile_is_full(self.profile);
	return self.has_file && rotate->size != 0 && writer_size(self.writer) >= rotate->size;
}

static void rotate(uint64_t now_ns, uint64_t budget_ns)
{
	if (self.writer != NULL)
		writer_next(self.writer, budget_ns, clock_ns(CLOCK_REALTIME),
			    self.config.exact_output ? 0 : self.config.rotate.files);
	begin_recording(now_ns);
}

/* ---- what is counted ------------------------------------------------------------------------- */

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
static void tell_launcher(const char *path)
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
	length = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), path);
	written = write(fd, line, (size_t)length);
	(void)written;
	close(fd);
}

void output_describe(struct writer_info *info, uint64_t start_ns)
{
	static const char *const stacks[] = { "guest", "hostcalls", "full" };
	struct sampler_info clock = sampler_info();

	if (self.began_unix_ns == 0)
		self.began_unix_ns = clock_ns(CLOCK_REALTIME);
	*info = (struct writer_info){
		.clock_name = clock.clock_name,
		.clock_why = clock.why,
		.requested_hz = self.config.hz,
		.stacks = stacks[self.config.stacks],
		.period_ns = 1000000000u / self.config.hz,
		.own_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - self.before.own_cpu_ns,
		.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - self.before.process_cpu_ns,
		.began_unix_ns = self.began_unix_ns,
		.engines = (const char *const *)self.engines,
		.engine_count = self.engine_count,
		.delivery_ns = spending_now().delivery_ns,
	};
	info->rate_count = spending_rates(start_ns, &info->rates);
}

/*
 * Up to NOW_NS: of now, and not of when the turn began. Its first sample may have opened the
 * recording since, and a chunk must not end before it begins.
 */
static void write_chunk(uint64_t now_ns)
{
	struct writer_info info;
	struct chunk chunk = *profile_chunk(self.profile, now_ns);

	chunk.stats_before = self.before.stats;
	if (self.writer == NULL || (chunk.sample_count == 0 && !self.has_file))
		return;
	output_describe(&info, self.start_ns);
	info.intervals_dropped = profile_intervals_dropped(self.profile);
	if (writer_append(self.writer, &chunk, &info) != 0 || self.has_file)
		return;
	self.has_file = true;
	tell_launcher(writer_path(self.writer));
}

void output_write(void)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (self.profile == NULL)
		return;
	spending_begin();
	write_chunk(now_ns);
	spending_end();
	if (is_due_for_rotation(now_ns))
		rotate(now_ns, ROTATE_BUDGET_NS);
}

void output_end(void)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool has_file;

	if (self.profile != NULL)
		write_chunk(now_ns);
	has_file = self.has_file;
	rotate(now_ns, COMPRESS_BUDGET_NS);
	if (has_file)
		self.last_file = open(writer_path(self.writer), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

void output_finish(void)
{
	struct session session = session_now();

	if (self.profile != NULL)
		write_chunk(clock_ns(CLOCK_MONOTONIC));
	/* There was a guest, but no sample of it: that is not the same as none. */
	if (!self.has_file && session.has_guest && session.is_wanted)
		tell_launcher("-");
	if (self.writer != NULL)
		writer_finish(self.writer, COMPRESS_BUDGET_NS);
}

struct profile *output_profile(void)
{
	return self.profile;
}

int output_file(void)
{
	int fd = self.has_file	      ? writer_file(self.writer)
		 : self.last_file > 0 ? self.last_file
				      : -1;

	return fd < 0 ? -ENOENT : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

const char *output_path(void)
{
	return self.writer != NULL ? writer_path(self.writer) : "";
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
	self.last_file = 0;
	self.began_unix_ns = 0;
	/* What the parent counted is the parent's. The clocks of CPU time begin anew. */
	note_counters(0);
	self.before.own_cpu_ns = self.before.process_cpu_ns = 0;
}
