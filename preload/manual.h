/* SPDX-License-Identifier: MIT */
/*
 * manual.h - profiles that the host samples itself (guestprof.h): their samples on the way to our
 * thread.
 *
 * Like a ring, but one for all threads of one profile: the host's threads append, our thread takes.
 */
#ifndef PRELOAD_MANUAL_H
#define PRELOAD_MANUAL_H

#include "symtab/base.h"

struct manual;
struct module_set;
struct sample;

/* NAME is copied, SET gets a reference. NULL with errno ENOMEM. Any thread; no per-module work. */
struct manual *manual_new(const char *name, uint64_t interval_ns, struct module_set *set);

/* Frees it, samples and all. Any thread, but no other may use it. NULL is allowed. */
void manual_free(struct manual *manual);

/*
 * Takes a sample of the calling thread, which stands for CPU_NS of its CPU time. Returns 1 when it
 * was kept, 0 when no listed module is on the stack, -ENOMEM when it was lost. All three are
 * counted in the profile, and in no other recording.
 */
int manual_sample(struct manual *manual, uint64_t cpu_ns);

/* A host call begins or ends on the calling thread. 0, or -EINVAL for an end without a begin,
 * -ENOMEM. */
int manual_host_call(struct manual *manual, bool begins, const char *name);

/*
 * Our thread: moves what was appended to all open profiles into their tables. BEFORE is told each
 * sample first, so that its code can be taken in.
 */
void manual_drain(void (*before)(const struct sample *sample));

/* Our thread: writes MANUAL to PATH (absolute). 0 or negative errno. */
int manual_write(struct manual *manual, const char *path, void (*before)(const struct sample *));

/* In the child of a fork: open profiles are the child's too, but for what other threads held. */
void manual_fork_child(void);

#endif /* PRELOAD_MANUAL_H */
