/* SPDX-License-Identifier: MIT */
/*
 * firefox_tracks.h - which groups and instances get a track, and the rows of each.
 */
#ifndef PRELOAD_EXPORT_FIREFOX_TRACKS_H
#define PRELOAD_EXPORT_FIREFOX_TRACKS_H

#include "preload/export/firefox_tables.h"
#include "preload/read/totals.h"

enum { FIREFOX_TRACK_MAX = 30, FIREFOX_WAIT_TRACK_MAX = 10, FIREFOX_VISIBLE_MAX = 10 };

struct firefox_track {
	uint32_t group,
		instance; /* TOTALS_NONE: group: `(other groups)`, instance: the whole group */
	bool is_visible;
	bool is_waiting; /* the group's waits, in milliseconds; they are in no other track */
};

/* A sample as tracks need it. */
struct firefox_sample {
	const struct recording_sample *sample;
	struct totals_place place;
	uint32_t stack;
};

struct firefox_tracks {
	const struct recording *recording;
	struct totals *totals;
	struct firefox_sample *samples; /* by time */
	size_t sample_count;
	struct recording_sample *merged; /* what samples are of after firefox_tracks_merge() */
	uint64_t merged_ns;		 /* how far; 0: they were not */
	/* As shown: a group, its waits, its instances. */
	struct firefox_track tracks[FIREFOX_TRACK_MAX + FIREFOX_WAIT_TRACK_MAX];
	uint32_t track_count;
	bool *has_track; /* by group */
};

/* Chooses tracks, fills TABLES. 0 or -ENOMEM; firefox_tracks_free() in both cases. */
int firefox_tracks_make(struct firefox_tracks *tracks, const struct recording *recording,
			struct firefox_tables *tables);

/*
 * Makes samples of one track, thread and stack one, within spans of time that double until the
 * tracks are about size_max bytes of JSON, or one span covers all. 0 or -ENOMEM.
 */
int firefox_tracks_merge(struct firefox_tracks *tracks, uint64_t size_max);

struct firefox_marks;

/* Writes `threads`. 0 or -ENOMEM. */
int firefox_tracks_write(const struct firefox_tracks *tracks, const struct firefox_marks *marks,
			 struct json *json);
void firefox_tracks_free(struct firefox_tracks *tracks);

#endif /* PRELOAD_EXPORT_FIREFOX_TRACKS_H */
