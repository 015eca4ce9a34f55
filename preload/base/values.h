/* SPDX-License-Identifier: MIT */
/*
 * values.h - sizes, durations and percentages as people write them, in the environment and on the
 * command line.
 *
 * Any thread. *END: what is behind the value; the caller says what may be there.
 */
#ifndef PRELOAD_BASE_VALUES_H
#define PRELOAD_BASE_VALUES_H

#include "symtab/base.h"

/* Bytes, or with k, M or G behind. 0 or -EINVAL. */
int values_size(const char *text, char **end, uint64_t *size);

/* Seconds, or with s, m, h or d behind; a hundred years at most. 0 or -EINVAL. */
int values_duration(const char *text, char **end, uint64_t *duration_ns);

/* Percent, with a point and digits or without, 100 at most, in millionths. 0 or -EINVAL. */
int values_percent(const char *text, char **end, uint32_t *ppm);

#endif /* PRELOAD_BASE_VALUES_H */
