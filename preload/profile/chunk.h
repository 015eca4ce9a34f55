/* SPDX-License-Identifier: MIT */
/*
 * chunk.h - what a recording gained since the last chunk: pprof's tables, new rows only.
 *
 * Ids are pprof's: 1..n in table order over the whole recording, 0 none; string 0 is "". A chunk
 * refers to rows of its own or of earlier chunks. Built by profile.c, encoded by encode/chunk.c,
 * which reads it only.
 */
#ifndef PRELOAD_PROFILE_CHUNK_H
#define PRELOAD_PROFILE_CHUNK_H

#include "symtab/base.h"

/*
 * Strings with the same id in every recording, so that the encoder can name types and label keys:
 * the first chunk begins with them.
 */
#define CHUNK_STRINGS(ROW)                  \
	ROW(EMPTY, "")                      \
	ROW(SAMPLES, "samples")             \
	ROW(COUNT, "count")                 \
	ROW(CPU, "cpu")                     \
	ROW(NANOSECONDS, "nanoseconds")     \
	ROW(WASM_MODULE, "wasm_module")     \
	ROW(WASM_INSTANCE, "wasm_instance") \
	ROW(WASM_STATE, "wasm_state")       \
	ROW(THREAD_NAME, "thread_name")     \
	ROW(THREAD_ID, "thread_id")         \
	ROW(TIME, "time")                   \
	ROW(GUEST, "guest")                 \
	ROW(BUILTIN, "builtin")             \
	ROW(HOST, "host")                   \
	ROW(WAITING, "waiting")             \
	ROW(WALL, "wall")                   \
	ROW(DESCRIPTOR, "descriptor")       \
	ROW(INTERPRETER, "interpreter")

enum chunk_string {
#define ROW(id, text) STRING_##id,
	CHUNK_STRINGS(ROW)
#undef ROW
		STRING_FIXED_COUNT
};

/*
 * How the label wasm_instance ends where it is not certain: the sample is likely of that instance,
 * or its module is all that is known (no `#` before it then).
 */
#define CHUNK_LIKELY " (likely)"
#define CHUNK_MODULE_ONLY " (module only)"

/* What a frame is: extension field of pprof's Location (encode/recording.h). */
enum frame_kind {
	FRAME_GUEST,	   /* a function of a guest module */
	FRAME_HOST,	   /* host code; one `(host)` frame in `hostcalls` stacks */
	FRAME_BUILTIN,	   /* the engine's helper for a wasm instruction */
	FRAME_TRAMPOLINE,  /* glue between host and guest, or between core modules */
	FRAME_JIT,	   /* generated code nobody described: [jit 0xADDR+SIZE] */
	FRAME_INTERPRETER, /* `(interpreter)`: all that a guest's interpreter does for it */
	FRAME_KINDS
};

/* What the thread did: label wasm_state; in this order in arrays of counters. */
enum wasm_state {
	STATE_GUEST,
	STATE_BUILTIN,
	STATE_HOST,
	STATE_WAITING,
	STATE_INTERPRETER, /* in the interpreter, or in what it called unseen */
	STATE_COUNT
};

/* The value of the label. */
static inline const char *chunk_state_name(enum wasm_state which)
{
	static const char *const names[STATE_COUNT] = { "guest", "builtin", "host", "waiting",
							"interpreter" };

	return names[which];
}

/* The number of that string. */
static inline enum chunk_string chunk_state_string(enum wasm_state which)
{
	return which == STATE_INTERPRETER ? STRING_INTERPRETER
					  : (enum chunk_string)(STRING_GUEST + (int)which);
}

struct chunk_mapping {
	uint64_t id, start, limit; /* addresses of the code in the process */
	uint64_t filename;	   /* string: the module's name, or `[host]` */
	uint64_t build_id;	   /* string: the module's identity, 64 hex digits */
	uint64_t engine;	   /* string: "wasmtime 50"; 0 */
	uint32_t loading;	   /* symtab_entry.id; 0 for the host */
	uint32_t function_count;
	uint8_t name_origin; /* enum name_origin */
	bool identity_is_wasm;
	/* what else identifies the module (struct identity), and its file; strings, 0: unknown */
	uint64_t code, image, build_id_section, path;
	uint64_t code_offset;
	/* module_layout(), in one mapping of each identity whose wasm bytes nobody saw; else NULL
	 */
	uint8_t *layout;
	size_t layout_size;
	/* embed_debug(), in one mapping of each identity; else NULL */
	uint8_t *debug;
	size_t debug_size, debug_inflated_size;
};

struct chunk_function {
	uint64_t id, name, system_name, filename; /* strings but the id */
	uint32_t wasm_index;			  /* index including imports; UINT32_MAX none */
	uint32_t core;				  /* static core module in a component */
};

struct chunk_location {
	uint64_t id, mapping, address,
		function; /* address: wasm offset if known, else offset in .text */
	uint8_t kind;	  /* enum frame_kind */
	bool address_is_wasm, is_guess;
	uint64_t importer; /* of a host call: the mapping whose import it is; 0: not known */
};

/* A label that the user gave; strings. */
struct chunk_label {
	uint64_t key, value;
};

struct chunk_sample {
	const uint64_t *locations; /* leaf first */
	size_t location_count;
	uint64_t count, cpu_ns;
	uint64_t wall_ns; /* of a wait, whose count and cpu_ns are 0; else 0 */
	uint64_t module, instance, thread_name; /* strings; 0: no label */
	uint64_t state;				/* string */
	uint64_t thread_id,
		time_ns; /* time: of the first of them, since the start of the recording */
	bool is_truncated;
	const struct chunk_label *labels; /* of its group */
	size_t label_count;
	bool has_descriptor;
	uint64_t descriptor; /* that a wait is for */
};

/* Exact per-group counters so far: a group that named no instance is still right. */
struct chunk_group {
	uint64_t module;   /* string of the label wasm_module */
	uint64_t identity; /* string */
	uint64_t instances_created, instances_sampled, samples, cpu_ns;
	uint64_t samples_by_state[STATE_COUNT]; /* of waiting: looks, which `samples` does not count
						 */
	uint64_t wall_ns;
	const struct chunk_label *labels;
	size_t label_count;
	uint64_t into;	 /* string: the module of the group that it is part of now; 0: none */
	uint64_t merged; /* groups that became part of it */
};

/* A host call that the host marked itself, or that was counted: of each second the longest. */
struct chunk_interval {
	char *name;			/* not in the string table */
	uint64_t start_ns, duration_ns; /* since the start of the recording */
	uint64_t thread_id;
};

/*
 * What a host function was called by a group, so far: exact, for each call was counted. A later one
 * with the same name, module and identity replaces.
 */
struct chunk_hostcall {
	uint64_t name;			      /* string: `env.log` */
	uint64_t module, identity;	      /* strings, as of the group */
	uint64_t count, total_ns, longest_ns; /* with what the function itself called */
};

/* From when to when a named instance was there; strings. A later one of the same replaces. */
struct chunk_life {
	uint64_t module, instance; /* as the sample's labels */
	uint64_t start_ns, end_ns; /* since the start of the recording; end: 0 while it lives */
};

struct chunk {
	const char *const *strings; /* terminated UTF-8; the first has id first_string */
	size_t string_count;
	uint64_t first_string;
	const struct chunk_mapping *mappings;
	size_t mapping_count;
	const struct chunk_function *functions;
	size_t function_count;
	const struct chunk_location *locations;
	size_t location_count;
	const struct chunk_sample *samples;
	size_t sample_count;
	const struct chunk_group *groups; /* those that changed, with their totals so far */
	size_t group_count;
	const struct chunk_interval *intervals;
	size_t interval_count;
	const struct chunk_hostcall *hostcalls;
	size_t hostcall_count;
	const struct chunk_life *lives;
	size_t life_count;
	uint64_t duration_ns; /* since the start of the recording */
	bool has_wall;	      /* samples have a third value */
	/* the counters (base/stats.h) when the recording began, in their order; NULL: all 0 */
	const uint64_t *stats_before;
	/* the recording's own counters, in their place; NULL. Those of the process stay its own */
	const uint64_t *stats;
};

#endif /* PRELOAD_PROFILE_CHUNK_H */
