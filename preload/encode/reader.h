/* SPDX-License-Identifier: MIT */
/*
 * reader.h - a recording, or any pprof file, in memory. The command only.
 */
#ifndef PRELOAD_ENCODE_READER_H
#define PRELOAD_ENCODE_READER_H

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
	const char *name, *system_name, *filename;
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
	bool address_is_wasm;
};

/* A label that is none of ours: the user gave it, or another profiler. */
struct recording_label {
	const char *key, *value;
};

enum { RECORDING_LABELS_MAX = 32 }; /* more are left out */

struct recording_sample {
	const struct recording_location **locations; /* leaf first */
	size_t location_count;
	uint64_t count, cpu_ns, wall_ns;
	const char *module, *instance, *thread_name; /* "" when there is no label */
	enum wasm_state state;
	uint64_t thread_id, time_ns;
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
};

struct recording_stat {
	const char *name;
	uint64_t value;
};

struct recording {
	const char *path;
	bool is_ours;	  /* it carries our extension fields */
	bool is_torn;	  /* bytes after the last whole field were dropped */
	uint64_t torn_at; /* if so: how many bytes, after inflating, were whole */
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
	void *memory; /* the reader's: everything above lives in it */
};

/*
 * Reads PATH, gzip or plain, "-" for standard input. On failure NULL, and *WHY is one line that
 * says what and where (caller frees). A torn tail is no failure. Bounded: at most 1 GiB after
 * inflating.
 */
struct recording *recording_read(const char *path, char **why);
void recording_free(struct recording *recording);

/* Value of a counter, 0 when absent. */
uint64_t recording_stat(const struct recording *recording, const char *name);

/*
 * Finishes a `.pb` whose process was killed: drops the torn tail and compresses to FINAL (NULL:
 * PATH.gz), atomically, then removes PATH. 0 or negative errno.
 */
int recording_finish(const char *path, const char *final);

#endif /* PRELOAD_ENCODE_READER_H */
