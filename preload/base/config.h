/* SPDX-License-Identifier: MIT */
/*
 * config.h - the environment, read once, as one const struct.
 *
 * One table in config.c names every variable, its range, its default and its meaning; the README's
 * table is tested against it, and an unknown GUESTPROF_* name is answered with the nearest known
 * one.
 */
#ifndef PRELOAD_BASE_CONFIG_H
#define PRELOAD_BASE_CONFIG_H

#include "preload/base/log.h"
#include "symtab/base.h"

/* How much of each stack is recorded (DESIGN vocabulary: stacks). */
enum stacks { STACKS_GUEST, STACKS_HOSTCALLS, STACKS_FULL };
enum instances { INSTANCES_AUTO, INSTANCES_ALL, INSTANCES_NONE };

/* GUESTPROF_ROTATE=AGE,SIZE,FILES: when a recording is ended and the next begun. */
struct config_rotate {
	uint64_t age_ns, size; /* 0: whatever it is */
	uint32_t files;	       /* kept, the running one too; 0: no rotation */
};

struct config {
	uint32_t hz; /* GUESTPROF_HZ, 1..10000, default 100: samples per CPU second and thread */
	const char *output;	  /* GUESTPROF_OUTPUT: file name pattern, or "none" */
	const char *modules;	  /* GUESTPROF_MODULES: comma-separated globs of names; NULL: all */
	const char *label;	  /* GUESTPROF_LABEL: rules (profile/labels.h); NULL */
	const char *names;	  /* GUESTPROF_NAMES: file (profile/labels.h); NULL */
	enum stacks stacks;	  /* GUESTPROF_STACKS: guest|hostcalls|full */
	enum instances instances; /* GUESTPROF_INSTANCES: auto|all|none */
	uint64_t memory;	  /* GUESTPROF_MEMORY, bytes (suffix k, M, G), default 64M */
	uint32_t budget_ppm;	  /* GUESTPROF_BUDGET, in millionths; 0: off; see config_budget() */
	bool has_budget;	  /* it was given */
	enum log_level log_level; /* GUESTPROF_LOG */
	const char *log_file;
	bool exact_hostcalls; /* GUESTPROF_HOSTCALLS=exact: host functions are wrapped and counted
			       */
	bool own_unwinder;    /* GUESTPROF_UNWINDER=own: libunwind is not used */
	bool exact_output;    /* GUESTPROF_EXACT_OUTPUT=1, set by `record -o`: replace the file that
				 OUTPUT names */
	bool wall;	  /* GUESTPROF_WALL=1: also the time that threads wait with a guest on their
			     stack */
	bool embed_debug; /* GUESTPROF_DEBUG=embed: debug sections of sampled modules go into the
			     recording */
	bool start;	  /* GUESTPROF_START=0: samples are taken only after a `start` */
	const char *control; /* GUESTPROF_CONTROL: "1", or a file or directory; NULL: no socket */
	int64_t control_gid; /* GUESTPROF_CONTROL_GID; -1: none */
	struct config_rotate rotate;
	const char *cache;   /* GUESTPROF_CACHE: folder (load/cache.h); NULL: none */
	uint64_t cache_size; /* of all files in it */
	const char *list;    /* GUESTPROF_LIST: file to which each recording's pid and path are
				appended; NULL */
};

struct config_variable {
	const char *name;	  /* "GUESTPROF_HZ" */
	const char *values;	  /* "1 to 10000" */
	const char *default_text; /* "100" */
	const char *meaning;	  /* one line, as in the README */
	/* Reads TEXT into CONFIG. 0, or negative errno: the value is not understood. */
	int (*parse)(struct config *config, const char *text);
};

/* The table, in the order of the README. */
extern const struct config_variable config_variables[];
extern const size_t config_variable_count;

/*
 * Reads ENVIRONMENT (as environ) into CONFIG; strings are copied and never freed. A bad value keeps
 * the default; each problem is given to COMPLAIN as one line. Unknown GUESTPROF_ names too.
 */
void config_read(struct config *config, char *const *environment,
		 void (*complain)(void *context, const char *line), void *context);

/* What sampling HZ times a second may cost, in millionths of the process's CPU time; 0: anything.
 */
static inline uint32_t config_budget(const struct config *config, uint32_t hz)
{
	/* Whoever asks for more wants that, and not a low cost. */
	enum { BUDGET_HZ_MAX = 250 };

	return config->has_budget || hz <= BUDGET_HZ_MAX ? config->budget_ppm : 0;
}

/* The process's configuration, set by the constructor, const from then on. */
const struct config *config_current(void);
void config_set_current(const struct config *config);

#endif /* PRELOAD_BASE_CONFIG_H */
