/* SPDX-License-Identifier: MIT */
/*
 * cache.h - what was read of wasm binaries, on disk, for the next process (GUESTPROF_CACHE).
 *
 * A file for each binary, named by the SHA-256 of its bytes (symtab/wasmpack.h is its content).
 * That hash is needed anyway, and is two thirds of the work: what the cache saves is the rest.
 * Images have no entries: a key of theirs that could be trusted would take longer than reading them
 * does.
 *
 * Many processes may use one folder: files are written beside and renamed. It must be ours, and
 * nobody else may write to it; else it is not used, which is said once. Damaged files are removed.
 * The least recently used go when all together are over the limit. Threads: ours.
 */
#ifndef PRELOAD_LOAD_CACHE_H
#define PRELOAD_LOAD_CACHE_H

#include "symtab/base.h"

struct wasmbin;

/* wasmbin_parse(), from the cache where it is there. *IS_NEW: it was not, cache_keep() it. */
struct wasmbin *cache_parse(const uint8_t *wasm, size_t size, bool *is_new);

/* Writes BIN into the cache. A failure is nobody's business but a debug line's. */
void cache_keep(const struct wasmbin *bin);

#endif /* PRELOAD_LOAD_CACHE_H */
