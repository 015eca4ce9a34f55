/* SPDX-License-Identifier: MIT */
/*
 * profile.h - samples become stacks, groups and instances.
 *
 * Our thread only. A sample is resolved (resolve.c) against the symbol set, unwound where it was
 * taken in the host, interned as a path of locations (stacks.c) and counted for its group and
 * instance (groups.c). profile_chunk() hands out what is new since the last call.
 */
#ifndef PRELOAD_PROFILE_PROFILE_H
#define PRELOAD_PROFILE_PROFILE_H

#include "preload/base/config.h"
#include "preload/profile/chunk.h"
#include "symtab/base.h"

struct profile;
struct module_set;
struct sample;
struct symtab;

struct profile_options {
	const struct config *config; /* modules (allow list), stacks, instances, memory */
	const struct symtab *symtab;
	const struct module_set *set; /* only these are listed, by the set's names; NULL: all */
	uint64_t start_ns;	      /* CLOCK_MONOTONIC */
	uint64_t period_ns;	      /* CPU time that one period of the clock stands for */
	bool takes_hostcalls;	 /* the calls that load/hostcalls.h counted are this profile's */
	uint64_t history_memory; /* bytes, of the memory of the configuration: chunks are kept
				    (history.h); 0: none */
	uint64_t *stats;	 /* STAT_COUNT counters of its own, which it raises; NULL: the
				    process's */
	bool is_written_once; /* the first chunk is the recording: it has all tables, samples or not
			       */
};

/* NULL with errno ENOMEM. Options are copied; what they point to must live on. */
struct profile *profile_new(const struct profile_options *options);
void profile_free(struct profile *profile);

/* Counts one sample of thread TID called THREAD_NAME (copied): in a stack, or in a counter. */
void profile_take(struct profile *profile, const struct sample *sample, uint64_t tid,
		  const char *thread_name);

/* The same for a sample whose CPU time the caller knows. */
void profile_take_timed(struct profile *profile, const struct sample *sample, uint64_t tid,
			const char *thread_name, uint64_t cpu_ns);

/*
 * What is new since the last chunk; NOW_NS as start_ns. Valid until the next call into the
 * profile. With nothing new all counts are 0. New rows of tables come with the samples that need
 * them: a chunk without samples has none, and need not be written.
 */
const struct chunk *profile_chunk(struct profile *profile, uint64_t now_ns);

/*
 * The recording starts again in another file (rotation, fork): the next chunk with samples holds
 * all tables from id 1, and no samples of before. The history goes on.
 */
void profile_restart(struct profile *profile, uint64_t start_ns);

/* One period of the clock stands for PERIOD_NS from now on. */
void profile_set_period(struct profile *profile, uint64_t period_ns);

/* The history begins NOW_NS: no dump will show what was before. */
void profile_forget_history(struct profile *profile, uint64_t now_ns);

/* The number of the chunk that comes next into the history, from 1, and how far back that goes. */
uint64_t profile_next_chunk(const struct profile *profile);
uint64_t profile_kept_ns(const struct profile *profile);

/* The bounds are reached: new stacks are `(other)` until another profile takes its place. */
bool profile_is_full(const struct profile *profile);

/* Counted host calls of which no chunk since the last restart has the interval. */
uint64_t profile_intervals_dropped(const struct profile *profile);

/* CPU time of the caller that went into what modules cost once, at their first sample. */
uint64_t profile_modules_ns(const struct profile *profile);

struct profile_totals {
	uint64_t samples, modules, instances, lost;
};
struct profile_totals profile_totals(const struct profile *profile);

#endif /* PRELOAD_PROFILE_PROFILE_H */
