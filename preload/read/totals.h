/* SPDX-License-Identifier: MIT */
/*
 * totals.h - recordings summed up: by group, by named instance, by function, as a call tree, and by
 * one more thing on request.
 *
 * Groups of several recordings are one when module and identity are equal; an instance belongs to
 * the process it was seen in. What is counted exactly (messages Group) goes before what samples
 * add up to. Texts live as long as the totals, and are not escaped.
 */
#ifndef PRELOAD_READ_TOTALS_H
#define PRELOAD_READ_TOTALS_H

#include "preload/read/frames.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/reader.h"

#define TOTALS_NONE UINT32_MAX
#define TOTALS_LABEL_END '\x1f' /* no label has one in it */

struct totals_weight {
	uint64_t samples, cpu_ns;
	uint64_t wall_ns; /* waited; counts for neither of the others */
};

struct totals_function {
	const char *module, *name; /* module: "" when the code belongs to none */
	const char *file;	   /* "" when unknown */
	int64_t line; /* where it begins, or with by_line the one that ran; 0: unknown */
	enum frame_kind kind;
	struct totals_weight self, total; /* total: on the stack, once a sample */
	uint64_t last_sample;		  /* private: the last one that total counts */
};

/* Where a guest waits, and in what: its innermost function, and the leaf. */
struct totals_wait {
	uint32_t group;
	uint32_t function,
		call; /* indexes in functions; function: TOTALS_NONE when none is known */
	uint64_t wall_ns;
};

/* A function where it was called: below its callers, below the group. */
struct totals_node {
	uint32_t parent;   /* index in nodes, smaller than its own; TOTALS_NONE: this is a group */
	uint32_t function; /* index in functions, or of a group in groups */
	struct totals_weight self, total;
	struct totals_weight guessed; /* of total: where this frame was not found with certainty */
};

/* What recordings are split by beside groups and instances. */
enum totals_by {
	TOTALS_BY_NOTHING,
	TOTALS_BY_MODULE, /* identity, whatever its labels; name, where there is no identity */
	TOTALS_BY_LABEL,  /* value of the label label_key */
	TOTALS_BY_THREAD,
};

/* A group, a named instance of one, or a part. */
/* Of which instance a sample is. */
enum totals_certainty { TOTALS_EXACT, TOTALS_LIKELY, TOTALS_MODULE_ONLY, TOTALS_CERTAINTIES };

struct totals_row {
	const char *module, *identity; /* identity: "" when unknown; module of a part: its name */
	const char *instance;	       /* NULL: none */
	const char *labels; /* of a group: `key=value`, TOTALS_LABEL_END behind each; NULL */
	uint32_t group;	    /* index in groups; of a group its own */
	uint64_t pid;	    /* of an instance: its process */
	uint64_t instances_created, instances_sampled;
	uint64_t merged; /* of a group: those that are part of it because there were too many */
	struct totals_weight weight;
	uint64_t samples_by_state[STATE_COUNT];
	/* of a group: samples that have a label wasm_instance */
	uint64_t samples_by_certainty[TOTALS_CERTAINTIES];
	uint32_t hottest; /* by self weight: index in functions, or TOTALS_NONE */
	struct totals_weight hottest_self;
	struct totals_weight seen;	     /* private: in samples of the recording being added */
	uint64_t seen_by_state[STATE_COUNT]; /* private */
};

struct totals {
	/* Four that may be set before the first recording. */
	bool by_line;	       /* lines count as functions do */
	bool by_total;	       /* functions are ordered by what they were on the stack of */
	enum totals_by by;     /* what parts are */
	const char *label_key; /* borrowed */
	struct totals_row *groups, *instances, *parts;
	struct totals_node *nodes;
	struct totals_function *functions;
	struct totals_wait *waits;
	struct recording_stat *stats;
	uint32_t group_count, instance_count, part_count, function_count, wait_count, stat_count,
		node_count;
	/* Indexes by falling weight; made by totals_finish(). */
	uint32_t *group_order, *instance_order, *part_order, *function_order, *wait_order,
		*node_order;
	struct totals_weight weight;
	uint64_t duration_ns; /* of the time that at least one process covers */
	uint64_t lost, unnamed, truncated, own_cpu_ns, process_cpu_ns, signals;
	size_t recording_count;
	struct totals_private *own;
};

struct totals *totals_new(void); /* NULL without memory */
void totals_free(struct totals *totals);

/* 0 or -ENOMEM; after that only totals_free(). */
int totals_add(struct totals *totals, const struct recording *recording);

/* To be called once, after the last recording: orders and hottest functions. 0 or -ENOMEM. */
int totals_finish(struct totals *totals);

/* All of that for RECORDING alone (totals_free()), or NULL without memory. */
struct totals *totals_of(const struct recording *recording);

/* Where SAMPLE of the recording added last belongs. 0 or -ENOMEM. */
struct totals_place {
	uint32_t group, instance; /* instance: TOTALS_NONE when it has no name of its own */
};
int totals_place(struct totals *totals, const struct recording *recording,
		 const struct recording_sample *sample, struct totals_place *place);

/* False of `resize.wasm#*`, which stands for the instances that have no name of their own. */
bool totals_is_named(const char *instance);

/* How certain it is which instance a sample with the label INSTANCE is of. */
enum totals_certainty totals_certainty(const char *instance);

/* Name of the group that SAMPLE belongs to, never empty. */
const char *totals_module(const struct recording *recording, const struct recording_sample *sample);

/* What shares are made of: CPU time, or samples where no CPU time was recorded. */
uint64_t totals_measure(const struct totals *totals, const struct totals_weight *weight);

#endif /* PRELOAD_READ_TOTALS_H */
