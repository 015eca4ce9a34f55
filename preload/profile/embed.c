/* SPDX-License-Identifier: MIT */
/* embed.c - deflates a module's debug information (RFC 1950). Threads: ours. */
#include "preload/profile/embed.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "preload/base/log.h"

enum { FIRST_SIZE = 1 << 16, LEVEL = 1 };

struct deflating {
	z_stream stream;
	uint8_t *bytes; /* owned */
	size_t room;
};

static int grow(struct deflating *deflating)
{
	size_t more = deflating->room == 0 ? FIRST_SIZE : 2 * deflating->room;
	uint8_t *bytes = realloc(deflating->bytes, more);

	if (bytes == NULL)
		return -ENOMEM;
	deflating->bytes = bytes;
	deflating->stream.next_out = bytes + deflating->stream.total_out;
	deflating->stream.avail_out = (uInt)(more - deflating->stream.total_out);
	deflating->room = more;
	return 0;
}

/* Deflates what the stream has to take, and with Z_FINISH its end. */
static int deflate_more(struct deflating *deflating, int flush)
{
	int result = Z_OK;

	while (deflating->stream.avail_in > 0 || (flush == Z_FINISH && result != Z_STREAM_END)) {
		if (deflating->stream.avail_out == 0 && grow(deflating) != 0)
			return -ENOMEM;
		result = deflate(&deflating->stream, flush);
		if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
			return -EINVAL;
	}
	return 0;
}

static int put(void *context, const void *bytes, size_t size)
{
	struct deflating *deflating = context;

	deflating->stream.next_in = (Bytef *)bytes;
	deflating->stream.avail_in = (uInt)size;
	return deflate_more(deflating, Z_NO_FLUSH);
}

static int deflate_all(struct deflating *deflating, const struct wasmbin *wasm)
{
	int error = deflateInit(&deflating->stream, LEVEL) == Z_OK ? 0 : -ENOMEM;

	if (error != 0)
		return error;
	error = wasmbin_debug_write(wasm, put, deflating);
	if (error == 0)
		error = deflate_more(deflating, Z_FINISH);
	deflateEnd(&deflating->stream);
	return error;
}

void embed_debug(const struct module *module, struct chunk_mapping *mapping)
{
	const struct wasmbin *wasm = module_wasm(module);
	struct deflating deflating = { 0 };
	size_t size = wasm != NULL ? wasmbin_debug_size(wasm) : 0;

	if (size == 0)
		return;
	if (deflate_all(&deflating, wasm) != 0) {
		log_line(LOG_ERROR, "no memory for the debug information of %s: no source lines",
			 module_name(module));
		free(deflating.bytes);
		return;
	}
	mapping->debug = deflating.bytes;
	mapping->debug_size = deflating.stream.total_out;
	mapping->debug_inflated_size = size;
}
