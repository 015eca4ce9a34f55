/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far long work is, on standard error, if that is a terminal.
 *
 * Nothing is shown in the first second, and nothing is left of it at the end.
 */
#ifndef PRELOAD_CMD_PROGRESS_H
#define PRELOAD_CMD_PROGRESS_H

#include "symtab/base.h"

struct progress {
	const char *what; /* borrowed: "reading" */
	uint64_t total, done, start_ns, shown_ns;
	bool is_terminal, is_shown;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);
/* One of TOTAL more is done. */
void progress_step(struct progress *progress);
/* Takes the line away. */
void progress_end(struct progress *progress);

#endif /* PRELOAD_CMD_PROGRESS_H */
