/* SPDX-License-Identifier: MIT */
/*
 * speedscope.h - a recording in speedscope's own format (jlfwong/speedscope 1.25,
 * src/lib/file-format-spec.ts): its reader of pprof takes one function of a location and loses
 * what was inlined.
 *
 * One sampled profile for each group, heaviest first, with by_instance then one for each named
 * instance; samples are in order of time, inlined calls are frames. A frame is a function of a
 * module: its line is where the function begins. Weights are nanoseconds of CPU time (with by_wall
 * of waiting), or samples where no CPU time was recorded.
 */
#ifndef PRELOAD_EXPORT_SPEEDSCOPE_H
#define PRELOAD_EXPORT_SPEEDSCOPE_H

#include "preload/export/output.h"
#include "preload/read/reader.h"

/* What a browser still opens: above it, samples are merged. */
#define SPEEDSCOPE_SIZE_MAX UINT64_C(250000000)

struct speedscope_options {
	bool by_instance, by_wall;
	uint64_t size_max; /* bytes of JSON, about */
};

/*
 * 0 or -ENOMEM. What OUTPUT has to say comes at its close. *IS_MERGED: it would have been more than
 * size_max, so equal stacks of a profile are one sample, at the time of the first.
 */
int speedscope_write(const struct recording *recording, const struct speedscope_options *options,
		     struct output *output, bool *is_merged);

#endif /* PRELOAD_EXPORT_SPEEDSCOPE_H */
