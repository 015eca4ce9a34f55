/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line, one write: `guestprof[PID]: ...`, to standard error or the file of
 * GUESTPROF_LOG.
 *
 * Never from a signal handler. Keeps errno. On our own thread, whose descriptor table is its own,
 * the line goes to /proc/PID/fd/2, opened for each line; where that fails it is counted, not shown.
 */
#ifndef PRELOAD_BASE_LOG_H
#define PRELOAD_BASE_LOG_H

#include "symtab/base.h"

enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_DEBUG };

/* Control characters in the formatted text are shown as \xNN; longer than 1,000 bytes is cut. */
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

/* As log_line(LOG_ERROR), but only the first time for this ONCE. */
void log_once(atomic_flag *once, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * In the constructor: what standard error is now. A regular file that is there later is the host's
 * own, opened under a number that it had closed: nothing is written to it.
 */
void log_remember_standard_error(void);

/* Called by our thread when it has a descriptor table of its own. */
void log_own_descriptors(void);

/* From `off|error|info|debug[:FILE]`. FILE is opened for each line, appended, 0600. */
void log_configure(enum log_level level, const char *file);

#endif /* PRELOAD_BASE_LOG_H */
