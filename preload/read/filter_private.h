/* SPDX-License-Identifier: MIT */
/*
 * filter_private.h - what the files of filter_apply() share.
 */
#ifndef PRELOAD_READ_FILTER_PRIVATE_H
#define PRELOAD_READ_FILTER_PRIVATE_H

#include "preload/read/filter.h"

#include <regex.h>

struct filter_label {
	char *key; /* owned */
	bool has_value;
	regex_t value;
};

struct filter {
	regex_t include[FILTER_PATTERNS_MAX], exclude[FILTER_PATTERNS_MAX], focus;
	struct filter_label labels[FILTER_PATTERNS_MAX];
	size_t include_count, exclude_count, label_count;
	bool has_focus;
	char *module, *instance, *thread; /* owned; NULL: any */
	bool has_time;
	uint64_t from_ns, to_ns;
	enum filter_view view;
	char *text; /* owned: as options */
};

/* What the patterns say of a location; by index. */
struct filter_mark {
	uint32_t included; /* bit i: include[i] is in it */
	bool is_excluded;
	uint32_t focus_lines; /* lines up to the outermost one in focus; 0: none is */
};

/* Is PATTERN found in TEXT? *FAILED is set when that could not be told: no memory. */
bool filter_matches(const regex_t *pattern, const char *text, bool *failed);

/* Does SAMPLE have the labels, thread, time that are asked for? FAILED: as above. */
bool filter_wants(const struct filter *filter, const struct recording *recording,
		  const struct recording_sample *sample, bool *failed);

/* Leaves frames of SAMPLE out, in place; false when nothing of a guest is left of it. */
bool filter_view_cut(enum filter_view view, struct recording_sample *sample);

/* What the samples of a recording add up to by group. 0 or -ENOMEM. */
struct filter_sums {
	struct filter_sum {
		uint64_t samples, cpu_ns, wall_ns, by_state[STATE_COUNT], instances;
	} * list; /* by index in groups; owned */
	uint64_t samples, unnamed, truncated;
};
int filter_sum(const struct recording *recording, struct filter_sums *sums);

/* Makes groups and counters follow from BEFORE to what RECORDING has now. 0 or -ENOMEM. */
int filter_settle(const struct filter *filter, struct recording *recording,
		  const struct filter_sums *before);

#endif /* PRELOAD_READ_FILTER_PRIVATE_H */
