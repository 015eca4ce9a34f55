/* SPDX-License-Identifier: MIT */
/* firefox_merge.c - fewer samples for a file that a browser can open. Threads: one at a time. */
#include "preload/export/firefox_tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_SIZE = 32 }; /* of the four columns of a sample, at most, but for waits */

#define FIRST_SPAN_NS UINT64_C(2000000000) /* twice a chunk of a recording */
#define LAST_SPAN_NS (UINT64_C(1) << 62)

/* What is one within a span. */
struct merging {
	struct pairs threads, keys;
	uint64_t span_ns, current; /* the span that keys are of */
};

/* Number of SAMPLE's key in its span, *IS_NEW if it is the first; PAIRS_NONE without memory. */
static uint32_t key_of(struct merging *merging, const struct firefox_sample *sample, bool *is_new)
{
	uint64_t span = sample->sample->time_ns / merging->span_ns;
	uint64_t thread =
		pairs_id(&merging->threads, sample->sample->thread_id, sample->sample->process);
	uint64_t place = (uint64_t)sample->place.group << 32 | sample->place.instance;
	uint64_t what = (uint64_t)sample->stack << 32 | (thread & 0x7fffffff) << 1 |
			(sample->sample->wall_ns != 0);
	uint32_t known, id;

	if (span != merging->current)
		pairs_free(&merging->keys);
	merging->current = span;
	known = merging->keys.count;
	id = thread == PAIRS_NONE ? PAIRS_NONE : pairs_id(&merging->keys, place, what);
	*is_new = id == known;
	return id;
}

static void merging_end(struct merging *merging)
{
	pairs_free(&merging->threads);
	pairs_free(&merging->keys);
}

/* Whether an instance's samples are in a track of its own too. */
static bool has_own_track(const struct firefox_tracks *tracks, uint32_t instance)
{
	for (uint32_t i = 0; instance != TOTALS_NONE && i < tracks->track_count; i++) {
		if (tracks->tracks[i].instance == instance)
			return true;
	}
	return false;
}

/* Bytes of JSON when samples are merged within SPAN_NS, 0: as they are. 0 or -ENOMEM. */
static int measure(const struct firefox_tracks *tracks, uint64_t span_ns, uint64_t *size)
{
	struct merging merging = { .span_ns = span_ns, .current = UINT64_MAX };
	uint32_t id = 0;

	*size = 0;
	for (size_t i = 0; i < tracks->sample_count && id != PAIRS_NONE; i++) {
		const struct firefox_sample *sample = &tracks->samples[i];
		bool is_new = true;

		if (span_ns != 0)
			id = key_of(&merging, sample, &is_new);
		if (is_new)
			*size += (uint64_t)ROW_SIZE
				 << has_own_track(tracks, sample->place.instance);
	}
	merging_end(&merging);
	return id == PAIRS_NONE ? -ENOMEM : 0;
}

static void add(struct recording_sample *sum, const struct recording_sample *sample)
{
	sum->count += sample->count;
	sum->cpu_ns += sample->cpu_ns;
	sum->wall_ns += sample->wall_ns;
}

/* Samples are in order of time, so those of one span follow each other. */
static int merge(struct firefox_tracks *tracks, uint64_t span_ns)
{
	struct merging merging = { .span_ns = span_ns, .current = UINT64_MAX };
	size_t count = 0, first = 0; /* first: of the span */
	uint64_t span = UINT64_MAX;
	uint32_t id = 0;

	tracks->merged = malloc((tracks->sample_count + 1) * sizeof(*tracks->merged));
	if (tracks->merged == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < tracks->sample_count && id != PAIRS_NONE; i++) {
		struct firefox_sample sample = tracks->samples[i];
		bool is_new;

		id = key_of(&merging, &sample, &is_new);
		if (merging.current != span)
			first = count;
		span = merging.current;
		if (id != PAIRS_NONE && is_new) {
			tracks->merged[count] = *sample.sample;
			sample.sample = &tracks->merged[count];
			tracks->samples[count++] = sample;
		} else if (id != PAIRS_NONE) {
			add(&tracks->merged[first + id], sample.sample);
		}
	}
	merging_end(&merging);
	tracks->sample_count = count;
	return id == PAIRS_NONE ? -ENOMEM : 0;
}

int firefox_tracks_merge(struct firefox_tracks *tracks, uint64_t size_max)
{
	uint64_t size, last_ns, span_ns = 0;
	int error = measure(tracks, 0, &size);

	if (error != 0 || size <= size_max)
		return error;
	last_ns = tracks->samples[tracks->sample_count - 1].sample->time_ns;
	while (error == 0 && size > size_max && span_ns <= last_ns && span_ns < LAST_SPAN_NS) {
		span_ns = span_ns == 0 ? FIRST_SPAN_NS : span_ns * 2;
		error = measure(tracks, span_ns, &size);
	}
	tracks->merged_ns = span_ns;
	return error == 0 ? merge(tracks, span_ns) : error;
}
