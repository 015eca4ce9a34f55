/* SPDX-License-Identifier: MIT */
/*
 * firefox.h - a recording as a Firefox processed profile, version 61 (firefox-devtools/profiler,
 * src/types/profile.ts): what https://profiler.firefox.com opens.
 *
 * One track per group, then its named instances, 30 in all, the heaviest; ten of them visible.
 * What finds no track of its own is in `(other groups)`, so that the tracks of groups add up to
 * all samples. Chunks merge equal stacks, so a row's CPU time is spread over the time before it,
 * at most one core per thread; where nothing ran, a row without a stack makes the gap visible.
 * Host calls and the lives of instances are interval markers (firefox_marks.h).
 */
#ifndef PRELOAD_EXPORT_FIREFOX_H
#define PRELOAD_EXPORT_FIREFOX_H

#include "preload/export/output.h"
#include "preload/read/reader.h"

/* What a browser still opens: above it, samples are merged. */
#define FIREFOX_SIZE_MAX UINT64_C(250000000)

/*
 * 0 or -ENOMEM. What OUTPUT has to say comes at its close. Above size_max bytes of JSON (about)
 * equal stacks become one sample within *MERGED_NS; 0 when that was not needed.
 */
int firefox_write(const struct recording *recording, uint64_t size_max, struct output *output,
		  uint64_t *merged_ns);

#endif /* PRELOAD_EXPORT_FIREFOX_H */
