/* SPDX-License-Identifier: MIT */
/*
 * folded.h - a recording as folded stacks: what flamegraph.pl, inferno and speedscope read.
 *
 * A line is `ROOT;FRAME;...;FRAME COUNT`, outermost first; ROOT is the module or the instance,
 * COUNT the number of samples. In names `;` becomes `:`, control characters and what surrounds a
 * name become spaces or nothing, and the space before a number at the end becomes `_`, or readers
 * would take it for a count (differential flame graphs). A frame without a name is `(unnamed)`.
 */
#ifndef PRELOAD_EXPORT_FOLDED_H
#define PRELOAD_EXPORT_FOLDED_H

#include "preload/export/output.h"
#include "preload/read/reader.h"

/* 0 or -ENOMEM. What OUTPUT has to say comes at its close. BY_WALL: waits, COUNT in nanoseconds. */
int folded_write(const struct recording *recording, bool by_instance, bool by_wall,
		 struct output *output);

/*
 * The same for two, with two counts in a line: `STACK BEFORE AFTER`, what flamegraph.pl and inferno
 * take as a difference (difffolded.pl's output). 0 or -ENOMEM.
 */
int folded_write_change(const struct recording *before, const struct recording *after,
			struct output *output);

#endif /* PRELOAD_EXPORT_FOLDED_H */
