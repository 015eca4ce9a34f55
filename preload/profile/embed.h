/* SPDX-License-Identifier: MIT */
/*
 * embed.h - a module's debug information on its way into the recording.
 */
#ifndef PRELOAD_PROFILE_EMBED_H
#define PRELOAD_PROFILE_EMBED_H

#include "preload/profile/chunk.h"
#include "symtab/symtab.h"

/*
 * Sets MAPPING's debug fields to what was kept of MODULE's wasm bytes (wasmbin_keep_debug()),
 * deflated; nothing where nothing was kept, or memory is short (one line says so). Some 10 ms a
 * megabyte.
 */
void embed_debug(const struct module *module, struct chunk_mapping *mapping);

#endif /* PRELOAD_PROFILE_EMBED_H */
