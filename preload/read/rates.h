/* SPDX-License-Identifier: MIT */
/*
 * rates.h - a change of the rate, in words.
 */
#ifndef PRELOAD_READ_RATES_H
#define PRELOAD_READ_RATES_H

#include "preload/read/reader.h"

enum { RATES_LINE_SIZE = 160 };

/* "from 12.3 s on at 125 of 250 samples a second: ..." in TEXT, which is returned. */
const char *rates_describe(char text[RATES_LINE_SIZE], const struct recording_process *process,
			   const struct recording_rate *rate);

#endif /* PRELOAD_READ_RATES_H */
