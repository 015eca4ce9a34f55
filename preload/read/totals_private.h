/* SPDX-License-Identifier: MIT */
/*
 * totals_private.h - what the files of totals.h share.
 */
#ifndef PRELOAD_READ_TOTALS_PRIVATE_H
#define PRELOAD_READ_TOTALS_PRIVATE_H

#include "preload/read/spans.h"
#include "preload/read/totals.h"

/* Self weight of a function in a row. */
struct totals_self {
	uint64_t row;
	uint32_t function;
	struct totals_weight weight;
};

struct totals_private {
	struct names names; /* of modules, identities, instances, functions, parts */
	struct pairs groups, instances, function_places, functions, self_ids, stats, waits;
	struct pairs nodes, parts, part_instances;
	/* Of the recording being added: module name -> identity; frame -> function. */
	struct pairs modules, frame_ids;
	const char **identity_of_module;
	uint32_t *function_of_frame;
	struct totals_self *self; /* by pair (row, function) */
	struct span *spans;	  /* of processes */
	size_t wait_room, group_room, instance_room, function_room, stat_room, module_room,
		frame_room, self_room, span_count, span_room, node_room, part_room;
	struct frames frames;
	uint64_t sample_number;
};

void totals_add_weight(struct totals_weight *to, const struct totals_weight *more);

/* Adds SAMPLE to what ROW has seen of the recording. */
void totals_see(struct totals_row *row, const struct recording_sample *sample);

/*
 * Counts SAMPLE for its functions, the call tree, and the hottest ones of PLACE and PART
 * (TOTALS_NONE: none). 0 or -ENOMEM.
 */
int totals_count_functions(struct totals *totals, const struct recording_sample *sample,
			   const struct totals_place *place, uint32_t part);

/* Counts SAMPLE for the part it is in; *PART: its index, or TOTALS_NONE. 0 or -ENOMEM. */
int totals_count_part(struct totals *totals, const struct recording *recording,
		      const struct recording_sample *sample, const struct totals_place *place,
		      uint32_t *part);
/* What a group has created belongs to a part too. 0 or -ENOMEM. */
int totals_count_part_group(struct totals *totals, const struct recording *recording,
			    const struct recording_group *group, uint32_t id);
/* Sets `hottest` of every row. */
void totals_find_hottest(struct totals *totals);

#endif /* PRELOAD_READ_TOTALS_PRIVATE_H */
