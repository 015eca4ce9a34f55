/* SPDX-License-Identifier: MIT */
/* rates.c - a change of the rate, in words. Threads: any. */
#include "preload/read/rates.h"

#include <stdio.h>

const char *rates_describe(char text[RATES_LINE_SIZE], const struct recording_process *process,
			   const struct recording_rate *rate)
{
	double hz = (double)process->requested_hz;
	char when[64] = "from the start";

	if (rate->time_unix_ns > process->time_unix_ns)
		snprintf(when, sizeof(when), "from %.1f s on",
			 (double)(rate->time_unix_ns - process->time_unix_ns) / 1e9);
	snprintf(text, RATES_LINE_SIZE,
		 "%s at %.4g of %.4g samples a second: own cost was %.2g %% of the process's CPU "
		 "time, GUESTPROF_BUDGET=%.4g",
		 when, hz / (double)rate->to, hz, (double)rate->cost_ppm / 1e4,
		 (double)rate->budget_ppm / 1e4);
	return text;
}
