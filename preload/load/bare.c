/* SPDX-License-Identifier: MIT */
/* bare.c - the maker is asked, then the files that the host opened. Threads: ours. */
#include "preload/load/bare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/load/registry.h"
#include "preload/load/wasmfiles.h"

static void ask_maker(struct loading *loading)
{
	char version[sizeof(loading->layout.engine_version)] = "";
	const char *engine;

	if (loading->engine != NULL || loading->maker.engine == NULL)
		return;
	engine = loading->maker.engine(loading->maker.caller, version);
	registry_lock();
	if (loading->engine == NULL && engine != NULL) {
		loading->engine = engine;
		memcpy(loading->layout.engine_version, version, sizeof(version));
	}
	registry_unlock();
}

/* Code of a wasm module: the binary is one that the host opened. */
static struct wasmbin *find_binary(struct loading *loading)
{
	char *path = NULL;
	struct wasmbin *wasm = wasmfiles_find(loading->layout.frame_count, &path);

	if (wasm == NULL) {
		log_line(LOG_INFO,
			 "a %s module with %u functions: no .wasm file that the host opened has as "
			 "many, so they have no names",
			 loading->engine, loading->layout.frame_count);
		return NULL;
	}
	registry_lock();
	if (loading->path == NULL) {
		loading->path = path;
		path = NULL;
	}
	registry_unlock();
	free(path);
	return wasm;
}

static void give_name(struct loading *loading)
{
	const struct image_layout *layout = &loading->layout;
	char *name;

	if (asprintf(&name, "[jit 0x%zx+0x%zx]", (size_t)layout->text, layout->text_size) < 0)
		return;
	registry_lock();
	if (loading->given_name == NULL) {
		loading->given_name = name;
		name = NULL;
	}
	registry_unlock();
	free(name);
}

void bare_know(struct loading *loading, struct module_source *source)
{
	ask_maker(loading);
	if (loading->engine != NULL)
		source->wasm = find_binary(loading);
	else
		give_name(loading);
	source->engine = loading->engine;
	source->given_name = loading->given_name;
	source->path = loading->path;
	source->layout = loading->layout;
}
