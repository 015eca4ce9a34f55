/* SPDX-License-Identifier: MIT */
/*
 * lives.h - from when to when the named instances were there.
 *
 * One row for each instance that got a name, until it is gone and a chunk has said so. Bounded:
 * LIVES_MAX at a time, what is more has no life in the recording. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_LIVES_H
#define PRELOAD_PROFILE_LIVES_H

#include "preload/load/instance.h"
#include "preload/profile/chunk.h"
#include "symtab/base.h"

enum { LIVES_MAX = 4096 };

struct life {
	uint32_t instance, module, name; /* id; texts */
	uint64_t created_ns, ended_ns;	 /* CLOCK_MONOTONIC; ended: 0 while it is there */
	bool has_changed;		 /* since the last chunk */
};

/* Zeroed memory is an empty one. */
struct lives {
	struct life *rows;
	struct chunk_life *told; /* what lives_fill() handed out last */
	size_t count, capacity, told_capacity;
};

void lives_fini(struct lives *lives);

/* Instance INFO of MODULE was given NAME (texts). Told again for the same: nothing happens. */
void lives_begin(struct lives *lives, const struct instance_info *info, uint32_t module,
		 uint32_t name);

/*
 * Puts what changed into CHUNK, as far as earlier chunks or this one have its texts (those below
 * KNOWN). START_NS: of the recording; NOW_NS is the end of instances whose facts are gone.
 */
void lives_fill(struct lives *lives, struct chunk *chunk, size_t known, uint64_t start_ns,
		uint64_t now_ns);

/* Another recording begins: it is told of all that are there. */
void lives_restart(struct lives *lives);

#endif /* PRELOAD_PROFILE_LIVES_H */
