/* SPDX-License-Identifier: MIT */
/*
 * filter.h - leaves out what was not asked for. The command only.
 *
 * All that are given must hold. Patterns are POSIX extended regular expressions, found anywhere in
 * a frame's name; inlined callers are frames. Names of modules, instances and threads are equal or
 * not, as called.h says; that of a module also without its `@3f9a2c`.
 */
#ifndef PRELOAD_READ_FILTER_H
#define PRELOAD_READ_FILTER_H

#include "preload/read/reader.h"

enum filter_view { FILTER_VIEW_ALL, FILTER_VIEW_GUEST, FILTER_VIEW_HOSTCALLS, FILTER_VIEW_FULL };

/* As many of a kind as a user may give. */
enum { FILTER_PATTERNS_MAX = 16, FILTER_PATTERN_SIZE = 4096 };

/* What is asked for, as texts; zeroed memory asks for everything. Borrowed. */
struct filter_wish {
	const char *include[FILTER_PATTERNS_MAX]; /* samples with a frame like that; each of them */
	const char *exclude[FILTER_PATTERNS_MAX]; /* samples without; none of them */
	const char *focus; /* stacks begin at the outermost such frame; samples without go */
	const char *module, *instance;
	const char *labels[FILTER_PATTERNS_MAX]; /* KEY, or KEY=RE; the value must match, each */
	const char *thread;			 /* name, or number */
	/* FROM:TO in whole seconds, either may be missing: rows of a recording span up to one */
	const char *time;
	const char *view; /* guest, hostcalls, full */
};

struct filter;

/*
 * NULL with one line in *WHY (caller frees; NULL: no memory) when WISH makes no sense: a pattern
 * that is none or is too long, a time, a view.
 */
struct filter *filter_new(const struct filter_wish *wish, char **why);
void filter_free(struct filter *filter);

/*
 * Leaves out of RECORDING, in place, what is not asked for; rows of groups, counters of samples,
 * intervals and lives follow, what counts for the whole process stays. recording->filter says what
 * was asked for. 0 or negative errno: -ENOMEM; -ENODATA, with one line in *WHY (caller frees; NULL:
 * no memory), when the view is wider than the recording's stacks.
 */
int filter_apply(const struct filter *filter, struct recording *recording, char **why);

#endif /* PRELOAD_READ_FILTER_H */
