/* SPDX-License-Identifier: MIT */
/*
 * census.h - who used how much, over all processes that are watched: counters that only rise.
 *
 * A group here is a module's name and its labels, whatever process it ran in and however often that
 * was started: what one series of a metrics server is. As many as CENSUS_SHOWN_MAX are told apart
 * at a time; what the others use is counted as `(other)`, for good, so that no counter goes back
 * when a group gets a place of its own. A group that was not seen for CENSUS_STAY_NS gives its
 * place up, and goes on from where it was if it comes back.
 *
 * Threads: one at a time.
 */
#ifndef PRELOAD_READ_CENSUS_H
#define PRELOAD_READ_CENSUS_H

#include "preload/read/feed.h"

#define CENSUS_STAY_NS ((uint64_t)15 * 60 * 1000 * 1000 * 1000)

enum {
	CENSUS_SHOWN_MAX = 100,	     /* groups with counters of their own */
	CENSUS_GROUPS_MAX = 10000,   /* that are remembered */
	CENSUS_PROCESSES_MAX = 1024, /* one that is gone gives its row up */
	CENSUS_TARGETS = 20,	     /* groups of a process that are targets of their own */
	CENSUS_TARGETS_MAX = 60,     /* with those that were, in the last CENSUS_STAY_NS */
};

struct census_group {
	const char *module; /* owned by the census, as all texts here */
	const struct recording_label *labels;
	size_t label_count;
	struct feed_counters counters;
	uint64_t last_ns;
	bool is_shown;
};

/* A group in a process. */
struct census_part {
	uint32_t group;
	uint64_t recent_ns; /* CPU time, of which half is forgotten in 35 s */
	uint64_t last_ns;   /* when it was last told of */
	uint64_t listed_ns; /* when it was last among the heaviest; 0: never */
};

struct census_process {
	char *key, *program;
	uint64_t pid;
	uint64_t last_ns; /* when it was last seen to write */
	struct census_part *parts;
	size_t part_count, part_room;
};

struct census_stat {
	const char *name; /* base/stats.h */
	uint64_t value;
};

struct census {
	struct census_group *groups;
	size_t group_count;
	struct feed_counters other;
	struct census_process *processes;
	size_t process_count;
	struct census_stat *stats;
	size_t stat_count;
	struct census_private *own;
};

struct census *census_new(void); /* NULL without memory */
void census_free(struct census *census);

/* Index of the process KEY, made if need be; it was seen at NOW_NS. UINT32_MAX: no memory or room.
 */
uint32_t census_process(struct census *census, const char *key, const char *program, uint64_t pid,
			uint64_t now_ns);

/* PROCESS's group GROUP has used MORE since it was last told of. 0 or -ENOMEM. */
int census_add(struct census *census, uint32_t process, const struct feed_group *group,
	       const struct feed_counters *more, uint64_t now_ns);

/* Adds to the counter NAME. */
void census_add_stat(struct census *census, const char *name, uint64_t more);

/* About each second: who is heavy, who gives up a place, who gets one. */
void census_turn(struct census *census, uint64_t now_ns);

/* Is it to be told of at NOW_NS? */
bool census_is_there(uint64_t last_ns, uint64_t now_ns);

#endif /* PRELOAD_READ_CENSUS_H */
