/* SPDX-License-Identifier: MIT */
/* firefox_marks.c - chooses the markers and finds the track of each. Threads: one at a time. */
#include "preload/export/firefox_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* When a thread was seen in a group. */
struct sighting {
	uint64_t thread_id, time_ns;
	uint32_t process, track;
};

struct places {
	struct sighting *list; /* by process, thread, time */
	size_t count;
	uint32_t *track_of_group;
	uint32_t other_track;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_sightings(const void *a, const void *b)
{
	const struct sighting *left = a, *right = b;
	int order = compare_numbers(left->process, right->process);

	if (order == 0)
		order = compare_numbers(left->thread_id, right->thread_id);
	return order != 0 ? order : compare_numbers(left->time_ns, right->time_ns);
}

static int map_groups(const struct firefox_tracks *tracks, struct places *places)
{
	size_t count = (size_t)tracks->totals->group_count + 1;

	places->track_of_group = malloc(count * sizeof(*places->track_of_group));
	if (places->track_of_group == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < tracks->track_count; i++) {
		if (tracks->tracks[i].group == TOTALS_NONE)
			places->other_track = i;
	}
	for (size_t i = 0; i < count; i++)
		places->track_of_group[i] = places->other_track;
	for (uint32_t i = 0; i < tracks->track_count; i++) {
		const struct firefox_track *track = &tracks->tracks[i];

		if (track->group != TOTALS_NONE && track->instance == TOTALS_NONE &&
		    !track->is_waiting)
			places->track_of_group[track->group] = i;
	}
	return 0;
}

static int find_places(const struct firefox_tracks *tracks, struct places *places)
{
	const struct recording *recording = tracks->recording;

	if (map_groups(tracks, places) != 0)
		return -ENOMEM;
	if (recording->interval_count == 0)
		return 0;
	places->list = malloc((tracks->sample_count + 1) * sizeof(*places->list));
	if (places->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < tracks->sample_count; i++) {
		const struct firefox_sample *sample = &tracks->samples[i];

		places->list[places->count++] = (struct sighting){
			.thread_id = sample->sample->thread_id,
			.time_ns = sample->sample->time_ns,
			.process = sample->sample->process,
			.track = places->track_of_group[sample->place.group],
		};
	}
	qsort(places->list, places->count, sizeof(*places->list), compare_sightings);
	return 0;
}

static bool is_of_thread(const struct places *places, size_t at,
			 const struct recording_interval *call)
{
	return at < places->count && places->list[at].thread_id == call->thread_id &&
	       places->list[at].process == call->process;
}

static uint32_t track_of_call(const struct places *places, const struct recording_interval *call)
{
	struct sighting wanted = { call->thread_id, call->start_ns, call->process, 0 };
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_sightings(&places->list[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && is_of_thread(places, low - 1, call))
		return places->list[low - 1].track;
	return is_of_thread(places, low, call) ? places->list[low].track : places->other_track;
}

static bool is_the_instance(const struct firefox_tracks *tracks, const struct firefox_track *track,
			    const struct recording_life *life)
{
	const struct totals_row *row;

	if (track->instance == TOTALS_NONE || track->is_waiting)
		return false;
	row = &tracks->totals->instances[track->instance];
	return strcmp(row->instance, life->instance) == 0 &&
	       strcmp(row->module, life->module) == 0 &&
	       row->pid == tracks->recording->processes[life->process].pid;
}

static uint32_t track_of_life(const struct firefox_tracks *tracks, const struct places *places,
			      const struct recording_life *life)
{
	uint32_t found = places->other_track;

	for (uint32_t i = 0; i < tracks->track_count; i++) {
		const struct firefox_track *track = &tracks->tracks[i];

		if (is_the_instance(tracks, track, life))
			return i;
		if (track->group != TOTALS_NONE && track->instance == TOTALS_NONE &&
		    !track->is_waiting &&
		    strcmp(tracks->totals->groups[track->group].module, life->module) == 0)
			found = i;
	}
	return found;
}

/* ---- the longest ----------------------------------------------------------------------------- */

struct candidate {
	uint64_t duration_ns;
	size_t index;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = compare_numbers(right->duration_ns, left->duration_ns);

	return order != 0 ? order : compare_numbers(left->index, right->index);
}

static uint64_t duration_of_life(const struct recording *recording,
				 const struct recording_life *life)
{
	uint64_t end_ns = life->has_ended ? life->end_ns : recording->duration_ns;

	return end_ns > life->start_ns ? end_ns - life->start_ns : 0;
}

/* All of them, longest first (caller frees); NULL without memory. */
static struct candidate *sort_calls(const struct recording *recording)
{
	size_t count = recording->interval_count;
	struct candidate *list = malloc((count + 1) * sizeof(*list));

	if (list == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		list[i] = (struct candidate){ recording->intervals[i].duration_ns, i };
	qsort(list, count, sizeof(*list), compare_candidates);
	return list;
}

static struct candidate *sort_lives(const struct recording *recording)
{
	size_t count = recording->life_count;
	struct candidate *list = malloc((count + 1) * sizeof(*list));

	if (list == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		list[i] =
			(struct candidate){ duration_of_life(recording, &recording->lives[i]), i };
	qsort(list, count, sizeof(*list), compare_candidates);
	return list;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int add_calls(struct firefox_marks *marks, const struct firefox_tracks *tracks,
		     struct firefox_tables *tables, const struct places *places, size_t count)
{
	const struct recording *recording = tracks->recording;
	struct candidate *sorted = sort_calls(recording);

	if (sorted == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct recording_interval *call = &recording->intervals[sorted[i].index];

		marks->list[marks->count++] = (struct firefox_mark){
			.start_ns = call->start_ns,
			.duration_ns = call->duration_ns,
			.thread_id = call->thread_id,
			.track = track_of_call(places, call),
			.name = firefox_tables_string(tables, call->name),
		};
	}
	free(sorted);
	return 0;
}

static int add_lives(struct firefox_marks *marks, const struct firefox_tracks *tracks,
		     struct firefox_tables *tables, const struct places *places, size_t count)
{
	const struct recording *recording = tracks->recording;
	struct candidate *sorted = sort_lives(recording);

	if (sorted == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct recording_life *life = &recording->lives[sorted[i].index];

		marks->list[marks->count++] = (struct firefox_mark){
			.start_ns = life->start_ns,
			.duration_ns = sorted[i].duration_ns,
			.track = track_of_life(tracks, places, life),
			.name = firefox_tables_string(tables, life->instance),
			.is_life = true,
		};
	}
	free(sorted);
	return 0;
}

static int compare_marks(const void *a, const void *b)
{
	const struct firefox_mark *left = a, *right = b;
	int order = compare_numbers(left->track, right->track);

	if (order == 0)
		order = compare_numbers(left->start_ns, right->start_ns);
	/* The outer one first. */
	return order != 0 ? order : compare_numbers(right->duration_ns, left->duration_ns);
}

int firefox_marks_make(struct firefox_marks *marks, const struct firefox_tracks *tracks,
		       struct firefox_tables *tables)
{
	const struct recording *recording = tracks->recording;
	size_t calls = recording->interval_count, lives = recording->life_count;
	size_t most_lives =
		calls < FIREFOX_MARK_MAX / 2 ? FIREFOX_MARK_MAX - calls : FIREFOX_MARK_MAX / 2;
	struct places places = { 0 };
	int error;

	lives = least(lives, most_lives);
	calls = least(calls, FIREFOX_MARK_MAX - lives);
	*marks = (struct firefox_marks){
		.calls_left_out = recording->intervals_dropped + recording->interval_count - calls,
		.lives_left_out = recording->life_count - lives,
		.list = calloc(calls + lives + 1, sizeof(*marks->list)),
	};
	error = marks->list == NULL ? -ENOMEM : find_places(tracks, &places);
	if (error == 0)
		error = add_calls(marks, tracks, tables, &places, calls);
	if (error == 0)
		error = add_lives(marks, tracks, tables, &places, lives);
	if (error == 0)
		qsort(marks->list, marks->count, sizeof(*marks->list), compare_marks);
	marks->life_name = firefox_tables_string(tables, "instance");
	free(places.list);
	free(places.track_of_group);
	return error;
}

void firefox_marks_free(struct firefox_marks *marks)
{
	free(marks->list);
	*marks = (struct firefox_marks){ 0 };
}
