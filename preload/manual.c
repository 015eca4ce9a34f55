/* SPDX-License-Identifier: MIT */
/*
 * manual.c - profiles that the host samples itself.
 *
 * The sample is the handler's own work, done here with the registers of the caller: the engine's
 * exit record leads to the guest's frames. Only numbers are kept until our thread comes by, 50 ms
 * later at most, before any code they point to can be forgotten.
 */
#include "preload/manual.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/encode/writer.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/marks.h"
#include "preload/profile/profile.h"
#include "preload/sig/ranges.h"
#include "preload/sig/sample.h"
#include "preload/sig/thread.h"
#include "preload/sig/tick.h"
#include "symtab/symtab.h"

enum { MOST_BYTES = 16 << 20 }; /* appended between two visits of our thread */

#define WRITE_BUDGET_NS UINT64_C(10000000000)

/* Followed by the sample. */
struct taken {
	uint64_t cpu_ns, tid;
};

/* What became of the samples; the rest our thread finds out. */
struct outcomes {
	uint64_t kept, unlisted, host_only, lost;
};

struct buffer {
	uint8_t *bytes;
	size_t size, capacity;
};

struct manual {
	struct manual *next; /* in the list of open ones */
	char *name;
	uint64_t interval_ns, start_ns;
	struct module_set *set;
	struct config config;

	pthread_mutex_t lock; /* guards all below */
	struct buffer appended;
	struct sample *scratch; /* SAMPLE_LARGEST bytes */
	struct marks marks;
	struct outcomes outcomes;

	/* our thread's */
	struct profile *profile;
	uint64_t stats[STAT_COUNT]; /* of this profile alone, base/stats.h */
};

static struct {
	pthread_mutex_t lock; /* guards the list; taken before a profile's own */
	struct manual *open;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- made and freed ---------------------------------------------------------------------------
 */

struct manual *manual_new(const char *name, uint64_t interval_ns, struct module_set *set)
{
	struct manual *manual = calloc(1, sizeof(*manual));

	if (manual == NULL)
		return NULL;
	manual->name = strdup(name);
	if (manual->name == NULL) {
		free(manual);
		return NULL;
	}
	manual->interval_ns = interval_ns;
	manual->start_ns = manual->marks.start_ns = clock_ns(CLOCK_MONOTONIC);
	manual->set = set_ref(set);
	manual->config = *config_current();
	manual->config.stacks = STACKS_GUEST;
	manual->config.wall = false;
	pthread_mutex_init(&manual->lock, NULL);
	pthread_mutex_lock(&self.lock);
	manual->next = self.open;
	self.open = manual;
	pthread_mutex_unlock(&self.lock);
	return manual;
}

static void leave_list(const struct manual *manual)
{
	struct manual **link = &self.open;

	pthread_mutex_lock(&self.lock);
	while (*link != NULL && *link != manual)
		link = &(*link)->next;
	if (*link != NULL)
		*link = manual->next;
	pthread_mutex_unlock(&self.lock);
}

void manual_free(struct manual *manual)
{
	if (manual == NULL)
		return;
	leave_list(manual); /* from here on our thread does not come by */
	marks_free(&manual->marks);
	profile_free(manual->profile);
	set_unref(manual->set);
	free(manual->appended.bytes);
	free(manual->scratch);
	free(manual->name);
	pthread_mutex_destroy(&manual->lock);
	free(manual);
}

/* ---- the host's threads -----------------------------------------------------------------------
 */

/* Whether a frame of a listed module is among SAMPLE's; a stack that is still to be unwound may be.
 */
static bool may_be_listed(const struct module_set *set, const struct ranges *ranges,
			  const struct sample *sample)
{
	if (sample->pc_count == 0)
		return set_count(set) != 0;
	for (uint32_t i = 0; i < sample->pc_count; i++) {
		uint64_t word = sample_pcs(sample)[i];
		const struct range *range = ranges_find(ranges, word);
		struct instance_info info;

		if (sample_is_entry(word) && instance_get((uint32_t)word, &info) &&
		    set_has(set, info.loading, NULL))
			return true;
		if (range != NULL && set_has(set, range->id, NULL))
			return true;
	}
	return false;
}

/*
 * What a tick would have taken here, into the profile's scratch. False when no listed module is on
 * the stack (counted); asked while the array that the sample was taken with is held.
 */
static bool take_here(struct manual *manual, struct thread *thread)
{
	ucontext_t context = { 0 };
	struct tick tick = {
		.thread = thread,
		.context = &context,
		.weight = 1,
		.buffer = manual->scratch,
	};
	uint64_t before;
	bool is_wanted;

	getcontext(&context);
	manual->scratch->size = 0;
	tick.ranges = thread_ranges_begin(thread, &before);
	tick_sample(&tick);
	is_wanted = manual->scratch->size != 0 &&
		    may_be_listed(manual->set, tick.ranges, manual->scratch);
	thread_ranges_end(thread, before);
	manual->outcomes.host_only += manual->scratch->size == 0;
	manual->outcomes.unlisted += manual->scratch->size != 0 && !is_wanted;
	return is_wanted;
}

static int append(struct buffer *buffer, const struct taken *taken, const struct sample *sample)
{
	size_t size = sizeof(*taken) + sample->size, capacity = buffer->capacity;
	uint8_t *bytes;

	if (buffer->size + size > MOST_BYTES)
		return -ENOMEM;
	while (buffer->size + size > capacity)
		capacity = capacity != 0 ? capacity * 2 : 4096;
	if (capacity != buffer->capacity) {
		bytes = realloc(buffer->bytes, capacity);
		if (bytes == NULL)
			return -ENOMEM;
		buffer->bytes = bytes;
		buffer->capacity = capacity;
	}
	memcpy(buffer->bytes + buffer->size, taken, sizeof(*taken));
	memcpy(buffer->bytes + buffer->size + sizeof(*taken), sample, sample->size);
	buffer->size += size;
	return 0;
}

static int sample_locked(struct manual *manual, struct thread *thread, uint64_t cpu_ns)
{
	struct taken taken = { .cpu_ns = cpu_ns, .tid = (uint64_t)thread->tid };
	int error = 0;

	if (manual->scratch == NULL && (manual->scratch = malloc(SAMPLE_LARGEST)) == NULL)
		error = -ENOMEM;
	if (error == 0 && !take_here(manual, thread))
		return 0;
	if (error == 0)
		error = append(&manual->appended, &taken, manual->scratch);
	manual->outcomes.kept += error == 0;
	manual->outcomes.lost += error != 0;
	return error == 0 ? 1 : error;
}

int manual_sample(struct manual *manual, uint64_t cpu_ns)
{
	struct thread *thread = sig_self;
	int result;

	if (thread == NULL && state.adopt_thread != NULL)
		thread = state.adopt_thread();
	if (thread == NULL)
		return 0;
	pthread_mutex_lock(&manual->lock);
	result = sample_locked(manual, thread, cpu_ns);
	pthread_mutex_unlock(&manual->lock);
	return result;
}

int manual_host_call(struct manual *manual, bool begins, const char *name)
{
	struct thread *thread = sig_self;
	int result;

	if (thread == NULL && state.adopt_thread != NULL)
		thread = state.adopt_thread();
	if (thread == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&manual->lock);
	result = begins ? marks_begin(&manual->marks, (uint64_t)thread->tid, name)
			: marks_end(&manual->marks, (uint64_t)thread->tid);
	pthread_mutex_unlock(&manual->lock);
	return result;
}

/* ---- our thread -------------------------------------------------------------------------------
 */

static bool has_profile(struct manual *manual)
{
	struct profile_options options = {
		.config = &manual->config,
		.symtab = load_symtab(),
		.set = manual->set,
		.start_ns = manual->start_ns,
		.period_ns = manual->interval_ns,
		.stats = manual->stats,
		.is_written_once = true,
	};

	if (manual->profile == NULL)
		manual->profile = profile_new(&options);
	return manual->profile != NULL;
}

static struct buffer take_appended(struct manual *manual)
{
	struct buffer buffer;

	pthread_mutex_lock(&manual->lock);
	buffer = manual->appended;
	manual->appended = (struct buffer){ 0 };
	pthread_mutex_unlock(&manual->lock);
	return buffer;
}

static void drain_one(struct manual *manual, void (*before)(const struct sample *sample))
{
	struct buffer buffer = take_appended(manual);
	size_t at = 0;

	while (at < buffer.size && has_profile(manual)) {
		const struct taken *taken = (const void *)(buffer.bytes + at);
		const struct sample *sample = (const void *)(taken + 1);

		before(sample);
		profile_take_timed(manual->profile, sample, taken->tid, manual->name,
				   taken->cpu_ns);
		at += sizeof(*taken) + sample->size;
	}
	free(buffer.bytes);
}

void manual_drain(void (*before)(const struct sample *sample))
{
	pthread_mutex_lock(&self.lock);
	for (struct manual *manual = self.open; manual != NULL; manual = manual->next)
		drain_one(manual, before);
	pthread_mutex_unlock(&self.lock);
}

/* The last visit: no other thread uses the profile any more. */
static void count_outcomes(struct manual *manual)
{
	manual->stats[STAT_SAMPLES] += manual->outcomes.kept;
	manual->stats[STAT_UNLISTED] += manual->outcomes.unlisted;
	manual->stats[STAT_HOST_ONLY] += manual->outcomes.host_only;
	manual->stats[STAT_LOST_MEMORY] += manual->outcomes.lost;
}

int manual_write(struct manual *manual, const char *path, void (*before)(const struct sample *))
{
	struct writer_info info = {
		.name = manual->name,
		.clock_name = "host",
		.requested_hz = (uint32_t)(1000000000u / manual->interval_ns),
		.stacks = "guest",
		.period_ns = manual->interval_ns,
		.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.intervals_dropped = manual->marks.dropped,
	};
	struct writer *writer;
	struct chunk chunk;
	int error;

	drain_one(manual, before);
	if (!has_profile(manual))
		return -ENOMEM;
	writer = writer_prepare(path, true,
				clock_ns(CLOCK_REALTIME) -
					(clock_ns(CLOCK_MONOTONIC) - manual->start_ns));
	if (writer == NULL)
		return -ENOMEM;
	chunk = *profile_chunk(manual->profile, clock_ns(CLOCK_MONOTONIC));
	count_outcomes(manual);
	chunk.stats = manual->stats;
	chunk.intervals = manual->marks.calls;
	chunk.interval_count = manual->marks.count;
	error = writer_append(writer, &chunk, &info);
	if (error == 0)
		error = writer_finish(writer, WRITE_BUDGET_NS);
	writer_free(writer, false);
	return error;
}

void manual_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
	for (struct manual *manual = self.open; manual != NULL; manual = manual->next)
		pthread_mutex_init(&manual->lock, NULL);
}
