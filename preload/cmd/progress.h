/* SPDX-License-Identifier: MIT */
/*
 * progress.h - that long work goes on, and how far it is: a line on standard error, if that is a
 * terminal.
 *
 * Nothing is shown in the first second, and nothing is left of it at the end. A thread draws, so
 * the line lives even where work has no steps. One work at a time.
 */
#ifndef PRELOAD_CMD_PROGRESS_H
#define PRELOAD_CMD_PROGRESS_H

#include "symtab/base.h"

/* WHAT, which is borrowed until the end: "reading". TOTAL steps; 0: nobody knows. */
void progress_begin(const char *what, uint64_t total);
/* One more is done. */
void progress_step(void);
/* Takes the line away. Without a beginning: nothing. */
void progress_end(void);

/* Takes the line away for a message on standard error, and lets it come again. From any thread. */
void progress_pause(void);
void progress_resume(void);

#endif /* PRELOAD_CMD_PROGRESS_H */
