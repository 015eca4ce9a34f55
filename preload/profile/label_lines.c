/* SPDX-License-Identifier: MIT */
/* label_lines.c - GUESTPROF_NAMES: says what is wrong with the names file. Threads: ours. */
#include <string.h>

#include "preload/base/log.h"
#include "preload/profile/label_rules.h"

void label_lines_read(struct namelist *lines, const char *path)
{
	int error;

	*lines = (struct namelist){ .count = 0 };
	if (path == NULL || *path == '\0')
		return;
	error = namelist_read(lines, path);
	if (error != 0)
		log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s: %s", path, strerror(-error));
	if (lines->bad != 0)
		log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s:%u: not understood; left out", path,
			 lines->first_bad);
	if (lines->bad > 1)
		log_line(LOG_ERROR, "GUESTPROF_NAMES: %.200s: %u such lines", path, lines->bad);
}
