/* SPDX-License-Identifier: MIT */
/*
 * totals_private.h - what totals.c and totals_functions.c share.
 */
#ifndef PRELOAD_ENCODE_TOTALS_PRIVATE_H
#define PRELOAD_ENCODE_TOTALS_PRIVATE_H

#include "preload/encode/totals.h"

struct totals_interval {
	uint64_t start, end;
};

/* Self weight of a function in a row. */
struct totals_self {
	uint64_t row;
	uint32_t function;
	struct totals_weight weight;
};

struct totals_private {
	struct names names; /* of modules, identities, instances, functions */
	struct pairs groups, instances, function_places, functions, self_ids, stats, waits;
	/* Of the recording being added: module name -> identity; frame -> function. */
	struct pairs modules, frame_ids;
	const char **identity_of_module;
	uint32_t *function_of_frame;
	struct totals_self *self; /* by pair (row, function) */
	struct totals_interval *intervals;
	size_t wait_room, group_room, instance_room, function_room, stat_room, module_room,
		frame_room, self_room, interval_count, interval_room;
	struct frames frames;
	uint64_t sample_number;
};

void totals_add_weight(struct totals_weight *to, const struct totals_weight *more);

/* Counts SAMPLE for its functions, and for the hottest ones of PLACE. 0 or -ENOMEM. */
int totals_count_functions(struct totals *totals, const struct recording_sample *sample,
			   const struct totals_place *place);
/* Sets `hottest` of every row. */
void totals_find_hottest(struct totals *totals);

#endif /* PRELOAD_ENCODE_TOTALS_PRIVATE_H */
