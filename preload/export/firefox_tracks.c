/* SPDX-License-Identifier: MIT */
/* firefox_tracks.c - chooses the tracks, heaviest first, and sorts the samples. Threads: one at a
 * time. */
#include "preload/export/firefox_tracks.h"

#include <errno.h>
#include <stdlib.h>

static int compare_times(const void *a, const void *b)
{
	const struct firefox_sample *left = a, *right = b;

	if (left->sample->time_ns != right->sample->time_ns)
		return left->sample->time_ns < right->sample->time_ns ? -1 : 1;
	return left->sample < right->sample ? -1 : left->sample > right->sample;
}

static int place_samples(struct firefox_tracks *tracks, struct firefox_tables *tables)
{
	const struct recording *recording = tracks->recording;

	tracks->samples = calloc(recording->sample_count + 1, sizeof(*tracks->samples));
	if (tracks->samples == NULL)
		return -ENOMEM;
	tracks->sample_count = recording->sample_count;
	for (size_t i = 0; i < recording->sample_count; i++) {
		struct firefox_sample *sample = &tracks->samples[i];

		sample->sample = &recording->samples[i];
		sample->stack = firefox_tables_stack(tables, sample->sample);
		if (totals_place(tracks->totals, recording, sample->sample, &sample->place) != 0)
			return -ENOMEM;
	}
	if (recording->sample_count != 0)
		qsort(tracks->samples, recording->sample_count, sizeof(*tracks->samples),
		      compare_times);
	return tables->failed ? -ENOMEM : 0;
}

static bool is_sampled(const struct totals_row *row)
{
	return row->weight.samples != 0 || row->weight.wall_ns != 0;
}

/* Groups that were sampled, heaviest first; the last track is for those that are too many. */
static uint32_t choose_groups(struct firefox_tracks *tracks, struct firefox_track *chosen)
{
	const struct totals *totals = tracks->totals;
	uint32_t sampled = 0, count;

	while (sampled < totals->group_count &&
	       is_sampled(&totals->groups[totals->group_order[sampled]]))
		sampled++;
	count = sampled <= FIREFOX_TRACK_MAX ? sampled : FIREFOX_TRACK_MAX - 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t group = totals->group_order[i];

		tracks->has_track[group] = true;
		chosen[i] = (struct firefox_track){ group, TOTALS_NONE, i < FIREFOX_VISIBLE_MAX,
						    false };
	}
	if (count < sampled)
		chosen[count++] = (struct firefox_track){ TOTALS_NONE, TOTALS_NONE, false, false };
	return count;
}

static uint32_t choose_instances(const struct firefox_tracks *tracks, struct firefox_track *chosen,
				 uint32_t count)
{
	const struct totals *totals = tracks->totals;

	for (uint32_t i = 0; i < totals->instance_count && count < FIREFOX_TRACK_MAX; i++) {
		uint32_t index = totals->instance_order[i];
		const struct totals_row *instance = &totals->instances[index];

		/* The only one of its group would be the same track again; waits have theirs. */
		if (!tracks->has_track[instance->group] || instance->weight.samples == 0 ||
		    instance->weight.samples == totals->groups[instance->group].weight.samples)
			continue;
		chosen[count] = (struct firefox_track){ instance->group, index,
							count < FIREFOX_VISIBLE_MAX, false };
		count++;
	}
	return count;
}

static void add_waits(struct firefox_tracks *tracks, const struct firefox_track *group,
		      uint32_t *count)
{
	if (group->group == TOTALS_NONE || *count == FIREFOX_WAIT_TRACK_MAX ||
	    tracks->totals->groups[group->group].weight.wall_ns == 0)
		return;
	++*count;
	tracks->tracks[tracks->track_count] = *group;
	tracks->tracks[tracks->track_count++].is_waiting = true;
}

/* In the order they are shown: instances below their group. */
static void arrange(struct firefox_tracks *tracks, const struct firefox_track *chosen,
		    uint32_t count)
{
	uint32_t waits = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (chosen[i].instance != TOTALS_NONE)
			continue;
		tracks->tracks[tracks->track_count++] = chosen[i];
		add_waits(tracks, &chosen[i], &waits);
		for (uint32_t j = i + 1; j < count; j++) {
			if (chosen[j].instance != TOTALS_NONE && chosen[j].group == chosen[i].group)
				tracks->tracks[tracks->track_count++] = chosen[j];
		}
	}
}

int firefox_tracks_make(struct firefox_tracks *tracks, const struct recording *recording,
			struct firefox_tables *tables)
{
	struct firefox_track chosen[FIREFOX_TRACK_MAX];
	uint32_t count;
	int error;

	*tracks = (struct firefox_tracks){ .recording = recording, .totals = totals_of(recording) };
	if (tracks->totals == NULL)
		return -ENOMEM;
	error = place_samples(tracks, tables);
	if (error != 0)
		return error;
	tracks->has_track = calloc((size_t)tracks->totals->group_count + 1, sizeof(bool));
	if (tracks->has_track == NULL)
		return -ENOMEM;
	count = choose_groups(tracks, chosen);
	count = choose_instances(tracks, chosen, count);
	arrange(tracks, chosen, count);
	return 0;
}

void firefox_tracks_free(struct firefox_tracks *tracks)
{
	totals_free(tracks->totals);
	free(tracks->samples);
	free(tracks->merged);
	free(tracks->has_track);
}
