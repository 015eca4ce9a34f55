/* SPDX-License-Identifier: MIT */
/*
 * feed.h - a recording that grows: its bytes are taken as they come, and what fell into a window of
 * time is a recording again. The command only.
 *
 * Tables (strings, mappings, functions, locations) are kept whole, samples for FEED_KEPT_NS, so a
 * window costs what is in it and the tables, however long the process runs. The bytes may be
 * anybody's: everything is bounded.
 *
 *   taken:  | tables ... | samples of second 1 | tables | samples of second 2 | a torn field
 *   kept:     tables: as they are     samples: as they are, with their time      not taken yet
 *
 * Threads: one at a time.
 */
#ifndef PRELOAD_READ_FEED_H
#define PRELOAD_READ_FEED_H

#include "preload/encode/pb.h"
#include "preload/read/reader.h"

#define FEED_KEPT_NS ((uint64_t)320 * 1000 * 1000 * 1000)

enum {
	FEED_TABLES_MAX = 256 << 20, /* bytes */
	FEED_SAMPLES_MAX = 64 << 20, /* bytes: then the oldest go */
	FEED_ROWS_MAX = 4 << 20,     /* of strings, and of samples */
	FEED_GROUPS_MAX = 2000,	     /* a process has 1,000 at most; others are not counted */
};

/* What a group has used since the recording began, as its process counted it. */
struct feed_counters {
	uint64_t samples_by_state[STATE_COUNT];
	uint64_t cpu_ns, wall_ns, instances_created;
};

struct feed_group {
	const char *module; /* its name; texts are the feed's */
	const struct recording_label *labels;
	size_t label_count;
	struct feed_counters counters;
	struct feed_counters told; /* the caller's: what of it has been taken */
};

struct feed;

struct feed *feed_new(void); /* NULL without memory */
void feed_free(struct feed *feed);

/*
 * Takes the whole fields that SIZE BYTES begin with, which follow those taken before; *TAKEN is
 * their size. The rest must come again, with what follows it. 0; -EINVAL: not our recording,
 * -EFBIG: over a bound, -ENOMEM: after each of those only feed_free().
 */
int feed_take(struct feed *feed, const uint8_t *bytes, size_t size, size_t *taken);

/* When the recording began; 0 as long as that is not known. */
uint64_t feed_start_unix_ns(const struct feed *feed);
/* How long it had run at the last chunk. */
uint64_t feed_duration_ns(const struct feed *feed);
uint64_t feed_pid(const struct feed *feed);
/* "" unknown. */
const char *feed_program(const struct feed *feed);
/* Samples that went before they were FEED_KEPT_NS old. */
uint64_t feed_dropped(const struct feed *feed);

/* Its groups; they keep their index. */
size_t feed_group_count(const struct feed *feed);
struct feed_group *feed_group(struct feed *feed, size_t index);

/* Calls VISIT with each of the process's counters (base/stats.h), as they are now. */
void feed_each_stat(const struct feed *feed,
		    void (*visit)(void *context, const char *name, size_t name_size,
				  uint64_t value),
		    void *context);

/*
 * Appends to OUT a recording of the samples from FROM_UNIX_NS until before TO_UNIX_NS. A row of a
 * recording spans up to a second and counts where it begins, so windows that follow each other have
 * each row once. False: there are none, and nothing was appended.
 */
bool feed_window(const struct feed *feed, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct pb_writer *out);

#endif /* PRELOAD_READ_FEED_H */
