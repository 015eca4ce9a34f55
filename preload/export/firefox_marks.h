/* SPDX-License-Identifier: MIT */
/*
 * firefox_marks.h - host calls and lives of instances as interval markers on the tracks.
 *
 * A host call is on the track of the group that its thread was last sampled in before it; an
 * instance on its own track, or its group's. FIREFOX_MARK_MAX in all, of each kind the longest;
 * either kind may have what the other leaves, and lives never more than half of what calls want.
 */
#ifndef PRELOAD_EXPORT_FIREFOX_MARKS_H
#define PRELOAD_EXPORT_FIREFOX_MARKS_H

#include "preload/export/firefox_tracks.h"

enum { FIREFOX_MARK_MAX = 5000 };

struct firefox_mark {
	uint64_t start_ns, duration_ns, thread_id;
	uint32_t track, name; /* name: string, of the call or the instance */
	bool is_life;
};

struct firefox_marks {
	struct firefox_mark *list; /* by track, then by time */
	size_t count;
	uint32_t life_name; /* string: what markers of lives are called */
	uint64_t calls_left_out, lives_left_out;
};

/* Chooses, and adds names to TABLES. 0 or -ENOMEM; firefox_marks_free() in both cases. */
int firefox_marks_make(struct firefox_marks *marks, const struct firefox_tracks *tracks,
		       struct firefox_tables *tables);

/* Writes `markerSchema` of meta. */
void firefox_marks_write_schema(struct json *json);

/* Writes `markers` of track number TRACK, and whether they are to be seen in its timeline. */
void firefox_marks_write(const struct firefox_marks *marks, uint32_t track, struct json *json);
void firefox_marks_free(struct firefox_marks *marks);

#endif /* PRELOAD_EXPORT_FIREFOX_MARKS_H */
