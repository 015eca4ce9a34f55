/* SPDX-License-Identifier: MIT */
/*
 * output.h - where an exporter writes: a file that appears whole or not at all, or standard output.
 */
#ifndef PRELOAD_EXPORT_OUTPUT_H
#define PRELOAD_EXPORT_OUTPUT_H

#include "symtab/base.h"

struct output;

/*
 * Opens PATH, "-" for standard output; gzip if COMPRESS. A regular file is written beside its name
 * and renamed at the end; a device or pipe is written to as it is. NULL with errno set.
 */
struct output *output_open(const char *path, bool compress);

/* Errors stick until output_close(). */
void output_bytes(struct output *output, const void *bytes, size_t size);
void output_text(struct output *output, const char *text);
/* In decimal: what big files are made of, so without printf. */
void output_number(struct output *output, uint64_t number);
void output_format(struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);

/* Ends the file; with KEEP false, or after an error, PATH is as it was. 0 or negative errno. */
int output_close(struct output *output, bool keep);

#endif /* PRELOAD_EXPORT_OUTPUT_H */
