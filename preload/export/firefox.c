/* SPDX-License-Identifier: MIT */
/* firefox.c - the profile as a whole: meta, then tables, then tracks. Threads: one at a time. */
#include "preload/export/firefox.h"

#include "preload/encode/recording.h"
#include "preload/export/firefox_marks.h"
#include "preload/export/firefox_tracks.h"
#include "preload/read/rates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROCESSED_VERSION = 61, GECKO_VERSION = 24 };

static void write_categories(struct json *json)
{
	static const char *const names[CATEGORY_COUNT][2] = {
		[CATEGORY_GUEST] = { "Guest", "blue" },
		[CATEGORY_HOST] = { "Host", "orange" },
		[CATEGORY_BUILTIN] = { "Builtin", "yellow" },
		[CATEGORY_TRAMPOLINE] = { "Trampoline", "green" },
		[CATEGORY_INLINED] = { "Inlined", "lightblue" },
		[CATEGORY_WAITING] = { "Waiting", "purple" },
		[CATEGORY_INTERPRETER] = { "Interpreter", "brown" },
		/* A grey one must be there: it is the default
		   (src/profile-logic/data-structures.ts). */
		[CATEGORY_OTHER] = { "Other", "grey" },
	};

	json_begin_array(json, "categories");
	for (int i = 0; i < CATEGORY_COUNT; i++) {
		json_begin_object(json, NULL);
		json_text(json, "name", names[i][0]);
		json_text(json, "color", names[i][1]);
		json_raw(json, "subcategories", "[\"Other\"]");
		json_end_object(json);
	}
	json_end_array(json);
}

/* Nothing for "", which is unknown. */
static void extra_text(struct json *json, const char *label, const char *value)
{
	if (value[0] == '\0')
		return;
	json_begin_object(json, NULL);
	json_text(json, "label", label);
	json_text(json, "format", "string");
	json_text(json, "value", value);
	json_end_object(json);
}

static void extra_number(struct json *json, const char *label, uint64_t value)
{
	json_begin_object(json, NULL);
	json_text(json, "label", label);
	json_text(json, "format", "integer");
	json_integer(json, "value", (int64_t)value);
	json_end_object(json);
}

static void write_losses(const struct firefox_tracks *tracks, struct json *json)
{
	const struct totals *totals = tracks->totals;
	char label[80];

	extra_number(json, "Samples", totals->weight.samples);
	extra_number(json, "Lost samples", totals->lost);
	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strncmp(totals->stats[i].name, "lost_", 5) != 0 || totals->stats[i].value == 0)
			continue;
		snprintf(label, sizeof(label), "Lost samples: %.60s", totals->stats[i].name + 5);
		extra_number(json, label, totals->stats[i].value);
	}
	extra_number(json, "Samples without a name", totals->unnamed);
	extra_number(json, "Samples with a cut stack", totals->truncated);
}

/* What is not shown because it is too much. */
static void write_left_out(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
			   struct json *json)
{
	if (marks->calls_left_out != 0)
		extra_number(json, "Host calls without a marker: the shortest",
			     marks->calls_left_out);
	if (marks->lives_left_out != 0)
		extra_number(json, "Instances without a marker: the shortest lived",
			     marks->lives_left_out);
	if (tracks->merged_ns != 0)
		extra_number(json, "Equal stacks are one sample within seconds",
			     tracks->merged_ns / 1000000000);
}

/* When GUESTPROF_BUDGET changed the rate: the first ones. */
static void write_rates(const struct recording *recording, struct json *json)
{
	enum { MOST = 8 };
	char text[RATES_LINE_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];

		for (size_t r = 0; r < process->rate_count && count++ < MOST; r++)
			extra_text(json, "Rate", rates_describe(text, process, &process->rates[r]));
	}
}

/* What the front end shows under "Profile info". */
static void write_extra(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
			struct json *json)
{
	const struct recording *recording = tracks->recording;

	json_begin_array(json, "extra");
	json_begin_object(json, NULL);
	json_text(json, "label", "guestprof");
	json_begin_array(json, "entries");
	extra_text(json, "Clock", recording->clock);
	extra_text(json, "Why not a better clock", recording->clock_why);
	extra_number(json, "Samples per CPU second asked for", recording->requested_hz);
	write_rates(recording, json);
	extra_text(json, "Stacks", recording->stacks);
	extra_text(json, "Only", recording->filter);
	if (recording->process_count > 1)
		extra_number(json, "Processes", recording->process_count);
	for (size_t i = 0; i < recording->engine_count; i++)
		extra_text(json, "Engine", recording->engines[i]);
	write_losses(tracks, json);
	write_left_out(tracks, marks, json);
	extra_number(json, "Own CPU time in microseconds", tracks->totals->own_cpu_ns / 1000);
	json_end_array(json);
	json_end_object(json);
	json_end_array(json);
}

static void write_visible(const struct firefox_tracks *tracks, struct json *json)
{
	json_begin_array(json, "initialVisibleThreads");
	for (uint32_t i = 0; i < tracks->track_count; i++) {
		if (tracks->tracks[i].is_visible)
			json_integer(json, NULL, i);
	}
	json_end_array(json);
	json_raw(json, "initialSelectedThreads", "[0]");
}

static void write_meta(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
		       struct json *json)
{
	const struct recording *recording = tracks->recording;
	char product[128];

	snprintf(product, sizeof(product), "guestprof: %.100s",
		 recording->program[0] != '\0' ? recording->program : "profile");
	json_begin_object(json, "meta");
	json_integer(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_integer(json, "version", GECKO_VERSION);
	json_text(json, "product", product);
	json_text(json, "importedFrom", "guestprof " RECORDING_LIBRARY_VERSION);
	json_millionths(json, "interval",
			recording->period_ns >= 1000 ? recording->period_ns : 1000 * 1000);
	json_millionths(json, "startTime", recording->time_unix_ns);
	json_integer(json, "processType", 0);
	json_integer(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_bool(json, "symbolicated", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_bool(json, "keepProfileThreadOrder", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_text(json, "platform", "Linux");
	json_text(json, "oscpu", "Linux x86_64");
	json_raw(json, "extensions", "{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}");
	json_raw(json, "sampleUnits",
		 "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\302\265s\"}");
	firefox_marks_write_schema(json);
	write_categories(json);
	write_visible(tracks, json);
	write_extra(tracks, marks, json);
	json_end_object(json);
}

/* The front end takes no profile without a thread: an empty recording gets one without rows. */
static void ensure_track(struct firefox_tracks *tracks)
{
	if (tracks->track_count == 0)
		tracks->tracks[tracks->track_count++] =
			(struct firefox_track){ TOTALS_NONE, TOTALS_NONE, true, false };
}

static void write_all(const struct firefox_tracks *tracks, const struct firefox_tables *tables,
		      const struct firefox_marks *marks, struct json *json, int *error)
{
	json_begin_object(json, NULL);
	write_meta(tracks, marks, json);
	json_raw(json, "pages", "[]");
	json_raw(json, "profilerOverhead", "[]");
	json_raw(json, "counters", "[]");
	firefox_tables_write(tables, json);
	*error = firefox_tracks_write(tracks, marks, json);
	json_end_object(json);
	output_text(json->output, "\n");
}

static int merge(struct firefox_tracks *tracks, const struct firefox_tables *tables,
		 uint64_t size_max)
{
	uint64_t used = firefox_tables_size(tables);

	return firefox_tracks_merge(tracks, used < size_max ? size_max - used : 0);
}

int firefox_write(const struct recording *recording, uint64_t size_max, struct output *output,
		  uint64_t *merged_ns)
{
	struct firefox_tables tables = { 0 };
	struct firefox_marks marks = { 0 };
	struct firefox_tracks tracks;
	struct json json = { .output = output };
	int error = firefox_tracks_make(&tracks, recording, &tables);

	if (error != 0)
		goto out;
	ensure_track(&tracks);
	error = firefox_marks_make(&marks, &tracks, &tables);
	if (error == 0)
		error = merge(&tracks, &tables, size_max);
	if (error != 0)
		goto out;
	*merged_ns = tracks.merged_ns;
	if (tables.failed)
		error = -ENOMEM;
	else
		write_all(&tracks, &tables, &marks, &json, &error);
	if (json.failed && error == 0)
		error = -ENOMEM;
out:
	firefox_marks_free(&marks);
	firefox_tracks_free(&tracks);
	firefox_tables_free(&tables);
	return error;
}
