/* SPDX-License-Identifier: MIT */
/*
 * output.h - from samples to the recording: the profile, the writer, and when they are made.
 *
 * Our thread only, but output_configure() and the fork. Nothing exists before the first sample.
 */
#ifndef PRELOAD_OUTPUT_H
#define PRELOAD_OUTPUT_H

#include "preload/base/config.h"
#include "symtab/base.h"

struct profile;
struct sample;
struct wait;
struct writer_info;

/* In the constructor: where recordings go, by the working directory of now. Opens nothing. */
void output_configure(void);

/* An engine was seen ("wasmtime", "50"); for the recording's head. */
void output_note_engine(const char *engine, const char *version);

/* Counts one sample of thread TID. */
void output_take(const struct sample *sample, uint64_t tid, const char *thread_name);

/* Counts a look at a thread that waits (sampler/waiting.h). */
void output_take_wait(const struct wait *wait);

/* Counts the time that an asynchronous call of INSTANCE was not polled (load/parked.h). */
void output_take_parked(uint32_t instance, uint64_t wall_ns);

/*
 * A session begins: from now on HZ and STACKS (session.h). The first one's recording begins with
 * the process; for another one the one before has ended (output_end()). The first on any thread.
 */
void output_begin(uint32_t hz, enum stacks stacks);

/*
 * Writes what is new; then, when the file is old or large enough (GUESTPROF_ROTATE), the next one
 * begins.
 */
void output_write(void);

/* A session has ended: writes what is new and gives the file its final name. */
void output_end(void);

/* The same at the end of the process: nothing can follow. */
void output_finish(void);

/* For dump.c. The profile, NULL when there is none; borrowed. */
struct profile *output_profile(void);

/*
 * A descriptor (the caller closes it) of the running file, or else of the one that the last session
 * ended; -ENOENT.
 */
int output_file(void);

/* The path of that file; "" when there is none. */
const char *output_path(void);

/* What is said of a recording that began at START_NS (CLOCK_MONOTONIC) in each chunk. */
void output_describe(struct writer_info *info, uint64_t start_ns);

/* In the child of a fork: the parent's recording is the parent's; the child gets its own at its
 * first sample. */
void output_fork_child(void);

#endif /* PRELOAD_OUTPUT_H */
