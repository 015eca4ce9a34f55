/* SPDX-License-Identifier: MIT */
/* embedded.c - inflates embedded debug information (RFC 1950). Threads: any. */
#include "preload/cmd/symbolize/embedded.h"

#include <errno.h>
#include <zlib.h>

/* zlib shrinks nothing further: a size above is a lie, and would take the machine. */
enum { RATIO_MAX = 1032 };

static int inflate_all(void *context, uint8_t *wasm, size_t size)
{
	const struct recording_mapping *mapping = context;
	uLongf inflated = size;

	if (uncompress(wasm, &inflated, mapping->debug, mapping->debug_size) != Z_OK ||
	    inflated != size)
		return -EBADMSG;
	return 0;
}

struct lines *embedded_open(const struct recording_mapping *mapping)
{
	uint64_t size = mapping->debug_inflated_size;
	struct lines *lines;

	if (mapping->debug == NULL) {
		errno = ENOENT;
		return NULL;
	}
	if (size > LINES_FILE_MAX || size / RATIO_MAX > mapping->debug_size) {
		errno = EBADMSG;
		return NULL;
	}
	lines = lines_fill((size_t)size, inflate_all, (void *)mapping);
	if (lines == NULL && errno != ENOMEM)
		errno = EBADMSG;
	return lines;
}
