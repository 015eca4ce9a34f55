/* SPDX-License-Identifier: MIT */
/*
 * proportion.h - shares of samples, and how sure they are. Shares are in millionths.
 */
#ifndef PRELOAD_CMD_REPORT_PROPORTION_H
#define PRELOAD_CMD_REPORT_PROPORTION_H

#include "symtab/base.h"

/* Share of PART in WHOLE, 0 of nothing. */
uint64_t proportion_ppm(uint64_t part, uint64_t whole);

/*
 * The 95 % interval of a share seen in samples (Wilson's score interval: right near 0 and 1 too).
 * SAMPLES: how many there are in all; PPM: the share.
 */
void proportion_interval(uint64_t ppm, uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm);

/* A share seen twice, in so many samples in all. */
struct proportion_pair {
	uint64_t before_ppm, after_ppm, before_samples, after_samples;
};

/* The 95 % interval of after - before (Newcombe's hybrid of the two score intervals). */
void proportion_change(const struct proportion_pair *pair, int64_t *low_ppm, int64_t *high_ppm);

/* The change in standard errors of no change (two-proportion z-test, pooled); 0 of no samples. */
double proportion_z(const struct proportion_pair *pair);

/*
 * How many standard errors one of COUNT changes must have so that with 95 % none of them is there
 * by chance alone (Bonferroni): 1.96 of one, more of many.
 */
double proportion_limit(size_t count);

#endif /* PRELOAD_CMD_REPORT_PROPORTION_H */
