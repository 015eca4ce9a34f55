/* SPDX-License-Identifier: MIT */
/* firefox_threads.c - a track's rows: where they lie in time, and their columns as JSON. Threads:
 * one at a time. */
#include "preload/export/firefox_marks.h"
#include "preload/export/firefox_tracks.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* 35 years: later times are damage, and sums of them would wrap. */
#define TIME_MAX_US ((uint64_t)1 << 50)

/* A row of a track. Times in microseconds: whole numbers keep sums exact. */
struct row {
	uint32_t stack; /* FIREFOX_NONE: nothing ran */
	uint64_t delta_us, cpu_us;
	uint64_t weight; /* samples; of waits nanoseconds */
};

struct track_rows {
	struct row *list;
	size_t count, room;
	uint64_t now_us;	 /* of the last row */
	uint64_t cpu_ns, cpu_us; /* so far, and how much of it is in rows */
};

static bool is_in_track(const struct firefox_tracks *tracks, const struct firefox_track *track,
			const struct firefox_sample *sample)
{
	if ((sample->sample->wall_ns != 0) != track->is_waiting)
		return false;
	if (track->instance != TOTALS_NONE)
		return sample->place.instance == track->instance;
	if (track->group != TOTALS_NONE)
		return sample->place.group == track->group;
	return !tracks->has_track[sample->place.group];
}

/* *COUNT: threads that ran in the track, at least 1: so many cores it can have used at once. */
static int count_threads(const struct firefox_tracks *tracks, const struct firefox_track *track,
			 uint32_t *count)
{
	struct pairs threads = { 0 };
	uint32_t id = 0;

	for (size_t i = 0; i < tracks->sample_count && id != PAIRS_NONE; i++) {
		if (is_in_track(tracks, track, &tracks->samples[i]))
			id = pairs_id(&threads, tracks->samples[i].sample->thread_id, 0);
	}
	*count = threads.count != 0 ? threads.count : 1;
	pairs_free(&threads);
	return id == PAIRS_NONE ? -ENOMEM : 0;
}

static int add_row(struct track_rows *rows, uint32_t stack, uint64_t at_us, uint64_t cpu_us,
		   uint64_t weight)
{
	int error = rows_reserve(&rows->list, &rows->room, rows->count, sizeof(*rows->list));

	if (error != 0)
		return error;
	rows->list[rows->count++] = (struct row){ stack, at_us - rows->now_us, cpu_us, weight };
	rows->now_us = at_us;
	return 0;
}

/* WIDTH: the time that SAMPLE's CPU time takes at least. */
static int add_sample(struct track_rows *rows, const struct firefox_sample *sample,
		      uint64_t width_us, uint64_t period_us)
{
	uint64_t at_us = sample->sample->time_ns / 1000, gap_us = width_us, cpu_us;
	int error = 0;

	if (at_us < rows->now_us + width_us)
		at_us = rows->now_us + width_us;
	if (gap_us < period_us)
		gap_us = period_us;
	/* A long time without a sample: CPU time must not be spread over it. */
	if (at_us - rows->now_us > 2 * gap_us)
		error = add_row(rows, FIREFOX_NONE, at_us - gap_us, 0, 0);
	rows->cpu_ns += sample->sample->cpu_ns;
	cpu_us = rows->cpu_ns / 1000 - rows->cpu_us;
	rows->cpu_us += cpu_us;
	if (error == 0)
		error = add_row(rows, sample->stack, at_us, cpu_us, sample->sample->count);
	return error;
}

/* A wait takes no CPU time, and those of several threads overlap: rows are where they began. */
static int add_wait(struct track_rows *rows, const struct firefox_sample *sample)
{
	uint64_t at_us = sample->sample->time_ns / 1000;

	if (at_us < rows->now_us)
		at_us = rows->now_us;
	return add_row(rows, sample->stack, at_us, 0, sample->sample->wall_ns);
}

/*
 * The front end shows the time from the first row to the last, and of markers what lies between:
 * there is a row without a stack at both ends.
 */
static int add_end(struct track_rows *rows, uint64_t end_us)
{
	if (end_us <= rows->now_us || end_us > TIME_MAX_US)
		return 0;
	return add_row(rows, FIREFOX_NONE, end_us, 0, 0);
}

static int make_rows(const struct firefox_tracks *tracks, const struct firefox_track *track,
		     struct track_rows *rows)
{
	uint64_t period_us = tracks->recording->period_ns / 1000;
	uint32_t threads;
	int error = count_threads(tracks, track, &threads);

	if (error == 0)
		error = add_row(rows, FIREFOX_NONE, 0, 0, 0);
	for (size_t i = 0; error == 0 && i < tracks->sample_count; i++) {
		const struct firefox_sample *sample = &tracks->samples[i];
		uint64_t width_us = sample->sample->cpu_ns / 1000 / threads;

		if (!is_in_track(tracks, track, sample))
			continue;
		if (rows->now_us > TIME_MAX_US || width_us > TIME_MAX_US ||
		    sample->sample->time_ns / 1000 > TIME_MAX_US || period_us > TIME_MAX_US)
			return -ERANGE;
		error = track->is_waiting ? add_wait(rows, sample)
					  : add_sample(rows, sample, width_us, period_us);
	}
	return error == 0 ? add_end(rows, tracks->recording->duration_ns / 1000) : error;
}

static void write_weight(struct json *json, const struct row *row, bool is_waiting)
{
	if (is_waiting)
		json_millionths(json, NULL, row->weight);
	else
		json_integer(json, NULL, (int64_t)row->weight);
}

static void write_samples(struct json *json, const struct track_rows *rows, bool is_waiting)
{
	json_begin_object(json, "samples");
	json_integer(json, "length", (int64_t)rows->count);
	json_text(json, "weightType", is_waiting ? "tracing-ms" : "samples");
	json_begin_array(json, "stack");
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->list[i].stack == FIREFOX_NONE)
			json_null(json, NULL);
		else
			json_integer(json, NULL, rows->list[i].stack);
	}
	json_end_array(json);
	json_begin_array(json, "timeDeltas");
	for (size_t i = 0; i < rows->count; i++)
		json_millionths(json, NULL, rows->list[i].delta_us * 1000);
	json_end_array(json);
	json_begin_array(json, "weight");
	for (size_t i = 0; i < rows->count; i++)
		write_weight(json, &rows->list[i], is_waiting);
	json_end_array(json);
	json_begin_array(json, "threadCPUDelta");
	for (size_t i = 0; i < rows->count; i++)
		json_integer(json, NULL, (int64_t)rows->list[i].cpu_us);
	json_end_array(json);
	json_end_object(json);
}

static const char *track_name(const struct firefox_tracks *tracks,
			      const struct firefox_track *track)
{
	if (track->instance != TOTALS_NONE)
		return tracks->totals->instances[track->instance].instance;
	if (track->group != TOTALS_NONE)
		return tracks->totals->groups[track->group].module;
	return tracks->recording->sample_count != 0 ? "(other groups)" : "(no samples)";
}

/* Of several processes, an instance's is told apart as the report does. */
static void write_name(const struct firefox_tracks *tracks, const struct firefox_track *track,
		       struct json *json)
{
	char name[512];
	const char *known = track_name(tracks, track), *shown = name;

	if (track->is_waiting)
		snprintf(name, sizeof(name), "%.480s (waiting)", known);
	else if (track->instance != TOTALS_NONE && tracks->recording->process_count > 1)
		snprintf(name, sizeof(name), "%.480s (%" PRIu64 ")", known,
			 tracks->totals->instances[track->instance].pid);
	else
		shown = known;
	json_text(json, "name", shown);
}

/*
 * The front end shows threads of one pid below the first, its main thread: so every group is a
 * process of its own there, and its instances are the threads.
 */
static void write_head(const struct firefox_tracks *tracks, uint32_t index, uint32_t process,
		       struct json *json)
{
	const struct firefox_track *track = &tracks->tracks[index];
	const struct recording *recording = tracks->recording;
	bool is_group = track->instance == TOTALS_NONE && !track->is_waiting;
	char text[64];

	write_name(tracks, track, json);
	json_bool(json, "isMainThread", is_group);
	json_text(json, "processType", "default");
	json_text(json, "processName", recording->program[0] != '\0' ? recording->program : "host");
	json_integer(json, "processStartupTime", 0);
	json_millionths(json, "processShutdownTime", recording->duration_ns);
	json_integer(json, "registerTime", 0);
	json_null(json, "unregisterTime");
	json_raw(json, "pausedRanges", "[]");
	snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu32, recording->pid, process);
	json_text(json, "pid", text);
	snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu32, recording->pid, index + 1);
	json_text(json, "tid", text);
}

static int write_track(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
		       uint32_t index, uint32_t process, struct json *json)
{
	struct track_rows rows = { 0 };
	int error = make_rows(tracks, &tracks->tracks[index], &rows);

	json_begin_object(json, NULL);
	write_head(tracks, index, process, json);
	write_samples(json, &rows, tracks->tracks[index].is_waiting);
	firefox_marks_write(marks, index, json);
	json_end_object(json);
	free(rows.list);
	return error;
}

int firefox_tracks_write(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
			 struct json *json)
{
	uint32_t process = 0;
	int error = 0;

	json_begin_array(json, "threads");
	for (uint32_t i = 0; error == 0 && i < tracks->track_count; i++) {
		process +=
			tracks->tracks[i].instance == TOTALS_NONE && !tracks->tracks[i].is_waiting;
		error = write_track(tracks, marks, i, process, json);
	}
	json_end_array(json);
	return error;
}
