/* SPDX-License-Identifier: MIT */
/*
 * parse.h - wasm bytes become what is kept of them. Threads: ours.
 */
#ifndef PRELOAD_LOAD_PARSE_H
#define PRELOAD_LOAD_PARSE_H

#include "symtab/base.h"

struct wasmbin;

/*
 * Reads SIZE bytes of a binary, from the cache where it is there, and keeps its debug information
 * if that was asked for. *IS_NEW: it was not in the cache, cache_keep() it when there is time. A
 * new reference, or NULL with errno as of wasmbin_parse().
 */
struct wasmbin *parse_wasm(const uint8_t *wasm, size_t size, bool *is_new);

/* The same, and keeps it. */
struct wasmbin *parse_wasm_now(const uint8_t *wasm, size_t size);

#endif /* PRELOAD_LOAD_PARSE_H */
