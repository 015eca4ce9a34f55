/* SPDX-License-Identifier: MIT */
/* progress.c - a bar on the terminal, ten times a second at most. Threads: one at a time. */
#include "preload/cmd/progress.h"

#include "preload/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30 };

static const uint64_t FIRST_NS = 1000 * 1000 * 1000, NEXT_NS = 100 * 1000 * 1000;

void progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){
		.what = what,
		.total = total,
		.start_ns = clock_ns(CLOCK_MONOTONIC),
		.is_terminal = isatty(STDERR_FILENO) == 1,
	};
}

static void show(struct progress *progress)
{
	uint64_t total = progress->total != 0 ? progress->total : 1;
	int filled = progress->done < total ? (int)(BAR * progress->done / total) : BAR;
	char bar[BAR + 1];

	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)filled);
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s [%s] %" PRIu64 " of %" PRIu64 " ", progress->what, bar,
		progress->done, progress->total);
	fflush(stderr);
	progress->is_shown = true;
}

void progress_step(struct progress *progress)
{
	uint64_t now_ns;

	progress->done++;
	if (!progress->is_terminal)
		return;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns - progress->start_ns < FIRST_NS || now_ns - progress->shown_ns < NEXT_NS)
		return;
	progress->shown_ns = now_ns;
	show(progress);
}

void progress_end(struct progress *progress)
{
	/* Back to the line's start, and erase it (ECMA-48, EL). */
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
