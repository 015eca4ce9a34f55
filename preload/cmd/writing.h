/* SPDX-License-Identifier: MIT */
/*
 * writing.h - what a command writes into a file, and what it says of it.
 */
#ifndef PRELOAD_CMD_WRITING_H
#define PRELOAD_CMD_WRITING_H

#include "preload/export/html.h"
#include "preload/export/output.h"

/*
 * Has WRITE, which gives 0 or negative errno, fill NAME ("-": standard output), in gzip when
 * IS_COMPRESSED. After an error there is no new file. 0, or the negative errno of opening, WRITE or
 * closing, the first of them.
 */
int writing_file(const char *name, bool is_compressed,
		 int (*write)(const void *context, struct output *output), const void *context);

/* Says how many of the source files were found, when PAGE, which was written, asked for any. */
void writing_tell_sources(const struct html_options *page);

#endif /* PRELOAD_CMD_WRITING_H */
