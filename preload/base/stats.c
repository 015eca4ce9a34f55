/* SPDX-License-Identifier: MIT */
/*
 * stats.c - the counters and their names.
 */
#include "preload/base/stats.h"

atomic_ullong stats[STAT_COUNT];

const char *const stat_names[STAT_COUNT] = {
#define ROW(id, name, meaning) [STAT_##id] = name,
	STATS(ROW)
#undef ROW
};
