/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the format of a recording: a pprof profile, written as a stream.
 *
 * A recording is a `perftools.profiles.Profile` (google/pprof proto/profile.proto). Protobuf
 * messages concatenate, so each second's new rows are appended:
 *
 *   | chunk 0: sample types, period, info, tables, samples | pad | chunk 1: tables, samples | pad |
 * ... 0                                                     4096*k                         4096*m
 *
 * A chunk is a whole number of top-level fields, definitions before uses, padded to a page of 4 KiB
 * with the unknown field RECORDING_PAD, and written in page-aligned writes: a kill at any moment
 * leaves a file whose whole chunks are valid; readers drop a torn tail (a field that runs past the
 * end). `.pb` while the process runs, `.pb.gz` (RFC 1952) at a normal end.
 *
 * Sample types: samples/count, cpu/nanoseconds, and with GUESTPROF_WALL=1 wall/nanoseconds. Labels:
 * wasm_module, wasm_instance, wasm_state, thread_name (strings), thread_id, descriptor, time
 * (numbers; time in nanoseconds since time_nanos); and those that the user gave (GUESTPROF_LABEL,
 * GUESTPROF_NAMES), which are strings.
 *
 * Wall time is the time that threads spend asleep in the kernel with a guest on their stack, and
 * nothing else: it never includes CPU time, and a sample has either. Samples of wall time are in
 * state `waiting`, their samples/count and cpu/nanoseconds are 0. Their leaf is a host frame that
 * names the system call, as `[futex]`; the label descriptor says what it waits for, if that is one
 * descriptor. Threads are looked at GUESTPROF_HZ times a second, 100 at most; a look stands for the
 * time since the one before.
 *
 * Where hosts do not say which instance they enter it is found out from the guest's own frames, and
 * the label wasm_instance says how surely: `resize.wasm#3` for certain, `resize.wasm#3 (likely)`,
 * or `resize.wasm (module only)` where it could not be told.
 *
 * Location.address is the position in the wasm binary where the engine's map gives it.
 * What pprof has no place for is in the fields below, which its readers skip.
 */
#ifndef PRELOAD_ENCODE_RECORDING_H
#define PRELOAD_ENCODE_RECORDING_H

#include "symtab/base.h"

enum { RECORDING_PAGE = 4096 };

/* INFO_GUESTPROF */
#define RECORDING_LIBRARY_VERSION "0.1.0"

/* Top-level extension fields of Profile. */
enum {
	RECORDING_PAD = 1000,	/* bytes, zero: skip */
	RECORDING_INFO = 1001,	/* message Info; a later one replaces */
	RECORDING_STATS = 1002, /* message Stats; a later one replaces */
	/*
	 * message Group; a later one with the same module and identity replaces: groups that differ
	 * in nothing but their labels have different names of the module
	 */
	RECORDING_GROUP = 1003,
	RECORDING_INTERVAL = 1004,
	/*
	 * message Life, repeated: of a named instance, once it has its name and again when it is
	 * gone; a later one with the same module and instance replaces
	 */
	RECORDING_LIFE = 1006,
	/*
	 * message Hostcall, repeated: only with GUESTPROF_HOSTCALLS=exact; a later one with the
	 * same name, module and identity replaces
	 */
	RECORDING_HOSTCALL = 1008,
	/*
	 * message Process, repeated: one for each process of a merged recording, in which
	 * Info speaks for all of them. Absent: there is one, of which Info speaks.
	 */
	RECORDING_PROCESS = 1007,
};

/*
 * message Interval, repeated: a host call, the name in place. The host marked it, or it was counted
 * (GUESTPROF_HOSTCALLS=exact): then of each chunk the longest are here.
 */
enum {
	INTERVAL_NAME = 1,
	INTERVAL_START_NS = 2,
	INTERVAL_DURATION_NS = 3,
	INTERVAL_THREAD_ID = 4,
	INTERVAL_PROCESS = 5, /* number of the Process, from 0 */
};

/*
 * message Hostcall: what a host function was called by the instances of a module, each call
 * counted. Strings by table index; times are wall time in nanoseconds, with what the function
 * itself called or waited for.
 */
enum {
	HOSTCALL_NAME = 1,     /* "env.log" */
	HOSTCALL_MODULE = 2,   /* as GROUP_MODULE; "" unknown */
	HOSTCALL_IDENTITY = 3, /* as GROUP_IDENTITY */
	HOSTCALL_COUNT = 4,
	HOSTCALL_TOTAL_NS = 5,
	HOSTCALL_LONGEST_NS = 6,
};

/* message Life: strings by table index, times in nanoseconds since the start of the recording. */
enum {
	LIFE_MODULE = 1,   /* as the label wasm_module */
	LIFE_INSTANCE = 2, /* as the label wasm_instance */
	LIFE_START_NS = 3, /* absent: it was there when the recording began */
	LIFE_END_NS = 4,   /* absent: it had not ended */
	LIFE_PROCESS = 5,  /* number of the Process, from 0; tells instances apart too */
};

/* message Info. Strings are given in place, not by table index. */
enum {
	INFO_VERSION = 1, /* of these extensions: 1 */
	INFO_PID = 2,
	INFO_PROGRAM = 3,   /* base name of the executable */
	INFO_CLOCK = 4,	    /* "cpu timer", "perf_event", ... */
	INFO_CLOCK_WHY = 5, /* why not the better clock */
	INFO_REQUESTED_HZ = 6,
	INFO_STACKS = 7,	  /* "guest", "hostcalls", "full" */
	INFO_ENDED = 8,		  /* 1: the process ended in good order and nothing follows */
	INFO_GUESTPROF = 9,	  /* version of the library */
	INFO_OWN_CPU_NS = 10,	  /* CPU time of our thread */
	INFO_PROCESS_CPU_NS = 11, /* CPU time of the process */
	INFO_ENGINES = 12,	  /* repeated: "wasmtime 50" */
	INFO_NAME = 13,		  /* of a profile that the host took itself (guestprof.h) */
	INFO_INTERVALS_DROPPED =
		14,	  /* host calls that RECORDING_INTERVAL leaves out: the shortest */
	INFO_FILTER = 15, /* what was left out of a merged recording, as options */
	/*
	 * Unix nanoseconds: when the process wrote, or gave, its first recording. With pid and
	 * program it says which files are of one process: those of a rotation, and dumps.
	 */
	INFO_BEGAN = 16,
	INFO_RATE = 20, /* repeated: message Rate, in order */
	INFO_DELIVERY_NS =
		21, /* what the kernel takes to deliver one of our signals; an estimate */
};

/*
 * message Rate: sampling had cost more than GUESTPROF_BUDGET allows, or less again, and the rate
 * was changed. From then on a sample counts for RATE_TO, in samples/count too.
 */
enum {
	RATE_TIME_NS = 1, /* since the start of the recording; absent: it was so from the start */
	RATE_FROM = 2,	  /* divisors of the rate that was asked for */
	RATE_TO = 3,
	RATE_COST_PPM = 4, /* millionths of the process's CPU time, just before */
	RATE_BUDGET_PPM = 5,
};

/* message Process: the fields of Info, and these. */
enum { PROCESS_TIME_NANOS = 100, PROCESS_DURATION_NANOS = 101, PROCESS_PERIOD = 102 };

/* message Stats: repeated Entry. */
enum { STATS_ENTRY = 1 };
/* message Stats.Entry: names as in preload/base/stats.h, value since the start. */
enum { STATS_ENTRY_NAME = 1, STATS_ENTRY_VALUE = 2 };

/* message Group: strings by table index. */
enum {
	GROUP_MODULE = 1,
	GROUP_IDENTITY = 2,
	GROUP_INSTANCES_CREATED = 3,
	GROUP_INSTANCES_SAMPLED = 4,
	GROUP_SAMPLES = 5,
	GROUP_CPU_NS = 6,
	/*
	 * Packed, in the order guest builtin host waiting interpreter (absent in older ones); of
	 * waiting the looks, which GROUP_SAMPLES does not count.
	 */
	GROUP_SAMPLES_BY_STATE = 7,
	GROUP_WALL_NS = 8,
	GROUP_LABEL = 9, /* repeated message: a label that the user gave */
	/*
	 * There were too many groups, and this one is part of another now: the module of that. Its
	 * counts are there, and its samples up to here belong there too, whatever their label says.
	 */
	GROUP_INTO = 10,
	GROUP_MERGED = 11, /* how many groups became part of this one */
};
enum { GROUP_LABEL_KEY = 1, GROUP_LABEL_VALUE = 2 };

/* Extension fields of Mapping, Location, Function and Sample. */
enum {
	MAPPING_LOADING = 1000,	      /* number of this loading in the process */
	MAPPING_ENGINE = 1001,	      /* string index */
	MAPPING_NAME_ORIGIN = 1002,   /* 0 embedder, 1 guest, 2 hash, 3 file, 4 the user's list */
	MAPPING_IDENTITY_KIND = 1003, /* 1: SHA-256 of the wasm bytes, 0: of the image */
	MAPPING_FUNCTION_COUNT = 1004,
	MAPPING_CODE = 1005,		 /* string index: SHA-256 of the code section(s) */
	MAPPING_IMAGE = 1006,		 /* string index: of the engine's code and its tables */
	MAPPING_BUILD_ID_SECTION = 1007, /* string index: the wasm's section `build_id`, hex */
	MAPPING_CODE_OFFSET = 1008,	 /* of the code section's content in the wasm bytes */
	MAPPING_PATH = 1009, /* string index: the file that the module was loaded from */
	MAPPING_DEBUG =
		1011, /* a wasm binary of which only what lines need is not zero, zlib; as LAYOUT */
	MAPPING_DEBUG_SIZE = 1012, /* of it when inflated: that of the wasm bytes */
	MAPPING_LAYOUT = 1010,	   /* bytes, see symtab/layout.h: once for each identity */
	LOCATION_KIND = 1000,	   /* enum frame_kind; absent: guest */
	LOCATION_ADDRESS_IS_WASM = 1001,
	/*
	 * Of a host frame that is named after an import: the id of the mapping whose module
	 * declares it, as the guest's own call instruction said. Absent: the name is of another
	 * origin.
	 */
	LOCATION_IMPORTER = 1002,
	/*
	 * 1: the frame was found neither by its callee's unwind table, nor by that one's code up to
	 * its return, nor by a guest's own chain, but by the frame pointer, or by what looked like
	 * a return address. The same place found with certainty is another location.
	 */
	LOCATION_IS_GUESS = 1003,
	FUNCTION_WASM_INDEX = 1000, /* index + 1, imports included; absent: none */
	FUNCTION_CORE = 1001,
	SAMPLE_IS_TRUNCATED = 1000,
	SAMPLE_PROCESS = 1001, /* number of the Process, from 0 */
};

#endif /* PRELOAD_ENCODE_RECORDING_H */
