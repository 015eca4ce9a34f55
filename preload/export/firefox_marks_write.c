/* SPDX-License-Identifier: MIT */
/* firefox_marks_write.c - the markers of a track as columns of JSON, and what their data means.
 * Threads: one at a time. */
#include "preload/export/firefox_marks.h"

#include <inttypes.h>
#include <stdio.h>

/* One interval; src/types/profile.ts, MarkerPhase. */
enum { PHASE_INTERVAL = 1 };

/* src/types/markers.ts, MarkerSchema; a `unique-string` is a number in the string table. */
void firefox_marks_write_schema(struct json *json)
{
	json_raw(json, "markerSchema",
		 "[{\"name\":\"hostcall\","
		 "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		 "\"chartLabel\":\"{marker.data.call}\",\"tooltipLabel\":\"host call "
		 "{marker.data.call}\","
		 "\"tableLabel\":\"{marker.data.call}\",\"description\":\"The guest called its "
		 "host.\","
		 "\"fields\":[{\"key\":\"call\",\"label\":\"Call\",\"format\":\"unique-string\"},"
		 "{\"key\":\"thread\",\"label\":\"Thread id\",\"format\":\"string\"}]},"
		 "{\"name\":\"instance\","
		 "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		 "\"chartLabel\":\"{marker.data.instance}\","
		 "\"tooltipLabel\":\"instance {marker.data.instance}\","
		 "\"tableLabel\":\"{marker.data.instance}\","
		 "\"description\":\"From when to when an instance was there.\","
		 "\"fields\":[{\"key\":\"instance\",\"label\":\"Instance\",\"format\":\"unique-"
		 "string\"}]}]");
}

static void write_data(struct json *json, const struct firefox_mark *mark)
{
	char thread[24];

	json_begin_object(json, NULL);
	json_text(json, "type", mark->is_life ? "instance" : "hostcall");
	json_integer(json, mark->is_life ? "instance" : "call", mark->name);
	if (mark->thread_id != 0) {
		snprintf(thread, sizeof(thread), "%" PRIu64, mark->thread_id);
		json_text(json, "thread", thread);
	}
	json_end_object(json);
}

enum column { CATEGORY, DATA, END_TIME, NAME, PHASE, START_TIME, COLUMN_COUNT };

static void write_cell(struct json *json, enum column column, const struct firefox_mark *mark,
		       uint32_t life_name)
{
	switch (column) {
	case CATEGORY:
		json_integer(json, NULL, mark->is_life ? CATEGORY_GUEST : CATEGORY_HOST);
		break;
	case DATA:
		write_data(json, mark);
		break;
	case END_TIME:
		json_millionths(json, NULL, mark->start_ns + mark->duration_ns);
		break;
	case NAME:
		json_integer(json, NULL, mark->is_life ? life_name : mark->name);
		break;
	case PHASE:
		json_integer(json, NULL, PHASE_INTERVAL);
		break;
	case START_TIME:
		json_millionths(json, NULL, mark->start_ns);
		break;
	case COLUMN_COUNT:
		break;
	}
}

void firefox_marks_write(const struct firefox_marks *marks, uint32_t track, struct json *json)
{
	static const char *const names[COLUMN_COUNT] = { "category", "data",  "endTime",
							 "name",     "phase", "startTime" };
	size_t first = 0, end;

	while (first < marks->count && marks->list[first].track < track)
		first++;
	for (end = first; end < marks->count && marks->list[end].track == track;)
		end++;
	json_bool(json, "showMarkersInTimeline", end != first);
	json_begin_object(json, "markers");
	json_integer(json, "length", (int64_t)(end - first));
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		json_begin_array(json, names[column]);
		for (size_t i = first; i < end; i++)
			write_cell(json, column, &marks->list[i], marks->life_name);
		json_end_array(json);
	}
	json_end_object(json);
}
