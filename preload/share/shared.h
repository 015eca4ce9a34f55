/* SPDX-License-Identifier: MIT */
/*
 * shared.h - what of a recording may be handed to one tenant: a new, small profile, built from an
 * allow list and never by deleting.
 *
 * What is in it, and nothing else:
 *
 *   samples    those that the selection takes, of all threads together: count, CPU time, waiting
 *              time, state, whether the stack was cut, the labels that the selection keeps
 *   modules    those that the samples are of, under names that no other module has a say in
 *              (`NAME@HASH`), with what identifies them, without place, path, engine, loading
 *   frames     of those modules: function, position, file and line; the imports that those modules
 *              declare, by LOCATION_IMPORTER; `(builtin)` for the engine's helpers within them;
 *              `(interpreter)` for one that runs them; `(host)` for everything else, however much
 *              of it: a run is one frame; none is below an import, nor at the root, where it would
 *              tell that another module called this one
 *   instances  numbered from 1, for each module, in order of their numbers
 *   times      since the first of the samples, in steps of 100 ms; none without `has_time`
 *   counters   requested rate; samples, truncated and unnamed ones; samples that were counted but
 *              could not be kept, where the recording tells that for these alone
 *
 * Every table has an order that follows from its rows alone, and each row is used: so the
 * neighbours do not show in ids, indexes or order. Building from a file that was built so gives the
 * same bytes.
 */
#ifndef PRELOAD_SHARE_SHARED_H
#define PRELOAD_SHARE_SHARED_H

#include "preload/encode/pb.h"
#include "preload/read/arena.h"
#include "preload/read/reader.h"
#include "preload/read/selection.h"

#define SHARED_NONE UINT32_MAX
#define SHARED_TICK_NS ((uint64_t)100 * 1000 * 1000)
#define SHARED_HOST "(host)"
#define SHARED_BUILTIN "(builtin)"
#define SHARED_INTERPRETER "(interpreter)"

struct shared_module {
	const char *name;  /* as it is told */
	const char *shown; /* in the recording */
	const char *identity;
	const struct recording_mapping *mapping; /* that tells of the identity; NULL: none does */
	const struct recording_mapping *layout, *debug; /* that carries one; NULL */
	uint64_t instances_created, instances_sampled;	/* 0: not to be told */
	uint64_t samples, cpu_ns, wall_ns, samples_by_state[STATE_COUNT];
	uint32_t instance_count;	      /* named ones */
	const struct recording_label *labels; /* that all its samples have */
	size_t label_count;
};

struct shared_function {
	uint32_t module, core, wasm_index; /* SHARED_NONE: none */
	const char *name, *system_name, *filename;
	int64_t start_line;
	uint32_t id;
};

struct shared_line {
	struct shared_function *function;
	int64_t line, column;
};

struct shared_location {
	uint32_t module, importer; /* SHARED_NONE: none */
	enum frame_kind kind;
	uint64_t address;
	bool address_is_wasm;
	struct shared_line *lines; /* innermost inlined first */
	size_t line_count;
	uint32_t id;
};

enum { SHARED_UNNAMED = UINT32_MAX }; /* one of the instances without a name of their own */

struct shared_sample {
	uint64_t *locations; /* ids, leaf first */
	size_t location_count;
	uint32_t module, instance; /* instance: from 1; 0: none is known; SHARED_UNNAMED */
	enum wasm_state state;
	bool is_truncated;
	uint8_t certainty;		      /* enum totals_certainty: of the instance */
	uint64_t tick;			      /* since the first sample */
	const struct recording_label *labels; /* ascending by key */
	size_t label_count;
	uint64_t count, cpu_ns, wall_ns;
};

struct shared {
	struct arena arena; /* of all that is below */
	bool has_time, has_debug, has_wall;
	uint64_t period_ns, requested_hz, duration_ns;
	const char *stacks;
	uint64_t samples, truncated, unnamed, lost;
	struct shared_module *modules;
	size_t module_count;
	struct shared_function **functions; /* by id - 1 */
	size_t function_count;
	struct shared_location **locations; /* by id - 1 */
	size_t location_count;
	struct shared_sample *samples_list;
	size_t sample_count;
};

struct shared_options {
	bool has_time;	/* else no times at all */
	bool has_debug; /* debug sections of the modules, if the recording carries them */
};

/*
 * What SELECTION takes of RECORDING, whose texts the result borrows. Zeroed and 0, or -ENOMEM; to
 * be freed in either case. No sample at all is no error.
 */
int shared_build(struct shared *shared, const struct recording *recording,
		 const struct selection *selection, const struct shared_options *options);
void shared_free(struct shared *shared);

/* Appends the file to OUT: a recording as in recording.h, whose fields are in a fixed order. */
void shared_encode(const struct shared *shared, struct pb_writer *out);

#endif /* PRELOAD_SHARE_SHARED_H */
