/* SPDX-License-Identifier: MIT */
/*
 * reader.h - a recording, or any pprof file, in memory. The command only.
 */
#ifndef PRELOAD_READ_READER_H
#define PRELOAD_READ_READER_H

#include "preload/profile/chunk.h"
#include "symtab/base.h"

struct recording_mapping {
	uint64_t id, start, limit;
	const char *name, *identity, *engine; /* "" when unknown */
	uint32_t loading, function_count, name_origin;
	bool identity_is_wasm;
	const char *code, *image, *build_id_section, *path; /* "" when unknown */
	uint64_t code_offset;
	const uint8_t *layout; /* where each function is, see symtab/layout.h; NULL */
	size_t layout_size;
	const uint8_t *debug; /* as MAPPING_DEBUG; NULL */
	size_t debug_size;
	uint64_t debug_inflated_size;
};

struct recording_function {
	uint64_t id;
	const char *name, *system_name;
	/* "" when unknown: that the recorder has put the module's name there is undone */
	const char *filename;
	uint32_t wasm_index, core; /* UINT32_MAX: none */
	int64_t start_line;
};

struct recording_line {
	const struct recording_function *function;
	int64_t line, column;
};

struct recording_location {
	uint64_t id, address;
	const struct recording_mapping *mapping; /* NULL: none */
	const struct recording_line *lines;	 /* innermost inlined first, as in pprof */
	size_t line_count;
	enum frame_kind kind;
	bool address_is_wasm, is_guess;		  /* as LOCATION_IS_GUESS */
	const struct recording_mapping *importer; /* as LOCATION_IMPORTER; NULL */
};

/* A label that is none of ours: the user gave it, or another profiler. */
struct recording_label {
	const char *key, *value;
};

enum { RECORDING_LABELS_MAX = 32 }; /* more are left out */

struct recording_sample {
	/* leaf first; rows of the recording's table, but see locations.h */
	const struct recording_location **locations;
	size_t location_count;
	uint64_t count, cpu_ns, wall_ns;
	const char *module, *instance, *thread_name; /* "" when there is no label */
	enum wasm_state state;
	uint64_t thread_id, time_ns;
	uint32_t process; /* index in processes: names of instances are those of one process */
	const struct recording_label *labels;
	size_t label_count;
	int64_t descriptor; /* that a wait is for; -1: none */
	bool is_truncated;
};

struct recording_group {
	const char *module, *identity;
	uint64_t instances_created, instances_sampled, samples, cpu_ns;
	uint64_t samples_by_state[STATE_COUNT];
	uint64_t wall_ns;
	const struct recording_label *labels;
	size_t label_count;
	uint64_t merged;  /* groups that are part of this one because there were too many */
	const char *into; /* private: of the group that it is part of; such ones are taken out */
};

/* A host call that the host marked, or that was seen whole. */
struct recording_interval {
	const char *name;
	uint64_t start_ns, duration_ns, thread_id;
	uint32_t process;
};

/* What a host function was called by the instances of a module: each call was counted. */
struct recording_hostcall {
	const char *name, *module, *identity;
	uint64_t count, total_ns, longest_ns;
};

/* From when to when a named instance was there. */
struct recording_life {
	const char *module, *instance;
	uint64_t start_ns, end_ns;
	bool has_ended; /* else end_ns is 0 */
	uint32_t process;
};

struct recording_stat {
	const char *name;
	uint64_t value;
};

/* The rate changed; divisors of the rate that was asked for. */
struct recording_rate {
	uint64_t time_unix_ns;
	uint64_t from, to;
	uint64_t cost_ppm, budget_ppm; /* millionths of the process's CPU time */
};

/*
 * A process that samples are of. A recording has at least one: what a process wrote is of that one,
 * a merged one (merge.h) of several. Texts are "" when unknown.
 */
struct recording_process {
	uint64_t pid; /* 0: unknown */
	/* of several recordings of one process: its first start, and how long any of them ran */
	uint64_t time_unix_ns, duration_ns;
	uint64_t
		began_unix_ns; /* of its first recording, which need not be among them; 0 unknown */
	uint64_t period_ns, requested_hz;
	uint64_t own_cpu_ns, process_cpu_ns;
	const char *program, *clock, *clock_why, *stacks, *guestprof_version;
	const char *path; /* the file it was read from */
	const char **engines;
	size_t engine_count;
	uint64_t delivery_ns;	      /* of one signal, estimated; 0: unknown */
	struct recording_rate *rates; /* in order */
	size_t rate_count;
	bool is_ours, is_torn, has_ended; /* as in struct recording */
	uint64_t torn_at;
};

/*
 * Of several processes: pid is 0, texts that differ are "" (stacks: the narrowest), times are those
 * of all, counters and CPU times their sums, rates weighted by time.
 */
struct recording {
	const char *path;
	const char *filter; /* what was left out, as options: "--module resize"; "" nothing */
	bool is_ours;	    /* it carries our extension fields */
	bool is_torn;	    /* bytes after the last whole field were dropped */
	uint64_t torn_at;   /* if so: how many bytes, after inflating, were whole */
	bool has_ended;
	uint64_t time_unix_ns, duration_ns, period_ns;
	uint64_t pid, requested_hz, own_cpu_ns, process_cpu_ns;
	const char *program, *clock, *clock_why, *stacks, *guestprof_version;
	const char **engines;
	size_t engine_count;
	struct recording_mapping *mappings;
	size_t mapping_count;
	struct recording_function *functions;
	size_t function_count;
	struct recording_location *locations;
	size_t location_count;
	struct recording_sample *samples;
	size_t sample_count;
	struct recording_group *groups;
	size_t group_count;
	struct recording_stat *stats;
	size_t stat_count;
	struct recording_interval *intervals;
	size_t interval_count;
	uint64_t intervals_dropped; /* by the host: the shortest */
	struct recording_hostcall *hostcalls;
	size_t hostcall_count;
	struct recording_life *lives;
	size_t life_count;
	struct recording_process *processes;
	size_t process_count;
	void *memory; /* the reader's: everything above lives in it */
};

/*
 * Reads PATH, gzip or plain, "-" for standard input. On failure NULL, and *WHY is one line that
 * says what and where (caller frees). A torn tail is no failure. Bounded: at most 1 GiB after
 * inflating.
 */
struct recording *recording_read(const char *path, char **why);

/* The same of SIZE BYTES, not gzip and not needed after; NAME stands for the path. */
struct recording *recording_parse(const char *name, const void *bytes, size_t size, char **why);
void recording_free(struct recording *recording);

/* The process that SAMPLE is of. */
static inline const struct recording_process *
recording_process(const struct recording *recording, const struct recording_sample *sample)
{
	return &recording->processes[sample->process];
}

/* Value of a counter, 0 when absent. */
uint64_t recording_stat(const struct recording *recording, const char *name);

/*
 * Finishes a `.pb` whose process was killed: drops the torn tail and compresses to FINAL (NULL:
 * PATH.gz), atomically, then removes PATH, and PATH.tmp, which the process may have begun. 0 or
 * negative errno.
 */
int recording_finish(const char *path, const char *final);

#endif /* PRELOAD_READ_READER_H */
