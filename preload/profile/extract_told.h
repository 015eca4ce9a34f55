/* SPDX-License-Identifier: MIT */
/*
 * extract_told.h - what an extract tells beside samples: lives of instances, and host calls that
 * were counted. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_EXTRACT_TOLD_H
#define PRELOAD_PROFILE_EXTRACT_TOLD_H

#include "preload/profile/extract_tables.h"
#include "preload/profile/profile.h"

/* Marks the texts of what was there between EXTRACT's start_ns and end_ns, before numbering. */
void extract_told_mark(const struct profile *profile, struct extract *extract);

/* Behind numbering: copies it into EXTRACT's chunk. 0 or -ENOMEM. */
int extract_told_copy(const struct profile *profile, struct extract *extract);

#endif /* PRELOAD_PROFILE_EXTRACT_TOLD_H */
