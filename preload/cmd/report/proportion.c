/* SPDX-License-Identifier: MIT */
/* proportion.c - intervals and tests of shares, without libm. Threads: any. */
#include "preload/cmd/report/proportion.h"

enum { MILLION = 1000 * 1000 };

uint64_t proportion_ppm(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (uint64_t)((long double)part / (long double)whole * MILLION + 0.5L);
}

/* Square root in steps of Newton: no libm for one root. */
static double root(double value)
{
	double guess = value > 1 ? value : 1;

	for (int i = 0; i < 100 && value > 0; i++)
		guess = (guess + value / guess) / 2;
	return value > 0 ? guess : 0;
}

void proportion_interval(uint64_t ppm, uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm)
{
	const double z = 1.959964; /* 97.5 % of a normal distribution lie below */
	double share = (double)ppm / MILLION, n = (double)samples;
	double centre, half;

	*low_ppm = 0;
	*high_ppm = MILLION;
	if (samples == 0)
		return;
	centre = (share + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * root(share * (1 - share) / n + z * z / (4 * n * n));
	if (centre - half > 0)
		*low_ppm = (uint64_t)((centre - half) * MILLION + 0.5);
	if (centre + half < 1)
		*high_ppm = (uint64_t)((centre + half) * MILLION + 0.5);
}

static int64_t rounded(double ppm)
{
	return (int64_t)(ppm < 0 ? ppm - 0.5 : ppm + 0.5);
}

void proportion_change(const struct proportion_pair *pair, int64_t *low_ppm, int64_t *high_ppm)
{
	double before = (double)pair->before_ppm, after = (double)pair->after_ppm;
	uint64_t before_low, before_high, after_low, after_high;
	double down, up;

	proportion_interval(pair->before_ppm, pair->before_samples, &before_low, &before_high);
	proportion_interval(pair->after_ppm, pair->after_samples, &after_low, &after_high);
	down = (after - (double)after_low) * (after - (double)after_low) +
	       ((double)before_high - before) * ((double)before_high - before);
	up = ((double)after_high - after) * ((double)after_high - after) +
	     (before - (double)before_low) * (before - (double)before_low);
	*low_ppm = rounded(after - before - root(down));
	*high_ppm = rounded(after - before + root(up));
}

double proportion_z(const struct proportion_pair *pair)
{
	double before = (double)pair->before_ppm / MILLION,
	       after = (double)pair->after_ppm / MILLION;
	double n = (double)pair->before_samples, m = (double)pair->after_samples;
	double pooled, error;

	if (pair->before_samples == 0 || pair->after_samples == 0)
		return 0;
	pooled = (before * n + after * m) / (n + m);
	error = root(pooled * (1 - pooled) * (1 / n + 1 / m));
	return error > 0 ? (after - before) / error : 0;
}

double proportion_limit(size_t count)
{
	/* z where 1 - 0.025 / count of a normal distribution lie below */
	static const struct {
		size_t count;
		double z;
	} limits[] = {
		{ 1, 1.960 },	   { 2, 2.241 },   { 3, 2.394 },    { 4, 2.498 },
		{ 5, 2.576 },	   { 7, 2.690 },   { 10, 2.807 },   { 15, 2.935 },
		{ 20, 3.023 },	   { 30, 3.144 },  { 50, 3.291 },   { 100, 3.481 },
		{ 200, 3.662 },	   { 500, 3.891 }, { 1000, 4.056 }, { 10000, 4.565 },
		{ 100000, 5.026 },
	};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(limits) && limits[i].count < count)
		i++;
	return limits[i].z;
}
