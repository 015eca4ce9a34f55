/* SPDX-License-Identifier: MIT */
/* parse.c - the cache, and debug information where it was asked for. Threads: ours. */
#include "preload/load/parse.h"

#include <errno.h>
#include <string.h>

#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/load/cache.h"
#include "symtab/wasmbin.h"

/* What the command needs for source lines, at most half of the memory for one module. */
static void keep_debug(struct wasmbin *bin, const uint8_t *wasm, size_t size)
{
	const struct config *config = config_current();
	int error;

	if (bin == NULL || config == NULL || !config->embed_debug)
		return;
	error = wasmbin_keep_debug(bin, wasm, size, config->memory / 2);
	if (error != 0 && error != -ENOENT)
		log_line(LOG_INFO, "debug information of %zu wasm bytes is not kept: %s", size,
			 error == -E2BIG ? "over half of GUESTPROF_MEMORY" : strerror(-error));
}

struct wasmbin *parse_wasm(const uint8_t *wasm, size_t size, bool *is_new)
{
	struct wasmbin *bin = cache_parse(wasm, size, is_new);

	keep_debug(bin, wasm, size);
	return bin;
}

struct wasmbin *parse_wasm_now(const uint8_t *wasm, size_t size)
{
	bool is_new = false;
	struct wasmbin *bin = parse_wasm(wasm, size, &is_new);

	if (bin != NULL && is_new)
		cache_keep(bin);
	return bin;
}
