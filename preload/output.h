/* SPDX-License-Identifier: MIT */
/*
 * output.h - from samples to the recording: the profile, the writer, and when they are made.
 *
 * Our thread only, but output_configure() and the fork. Nothing exists before the first sample.
 */
#ifndef PRELOAD_OUTPUT_H
#define PRELOAD_OUTPUT_H

#include "symtab/base.h"

struct sample;
struct wait;

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

/* Writes what is new. */
void output_write(uint64_t now_ns);

/* Writes what is new and gives the file its final name. */
void output_finish(uint64_t now_ns);

/* In the child of a fork: the parent's recording is the parent's; the child gets its own at its
 * first sample. */
void output_fork_child(void);

#endif /* PRELOAD_OUTPUT_H */
