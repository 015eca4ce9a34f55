/* SPDX-License-Identifier: MIT */
/*
 * relined.h - a recording written again, with the lines it gained.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_RELINED_H
#define PRELOAD_CMD_SYMBOLIZE_RELINED_H

#include "preload/cmd/symbolize/lined.h"
#include "preload/export/output.h"

/*
 * Writes the file that LINED's recording was read from: every field as it is, but for the
 * locations' lines and the host calls in samples, and what they need in locations, functions and
 * strings at the end. 0 or negative errno;
 * -ESTALE: the file is not any more what was read.
 */
int relined_write(const struct lined *lined, struct output *output);

#endif /* PRELOAD_CMD_SYMBOLIZE_RELINED_H */
