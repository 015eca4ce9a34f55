/* SPDX-License-Identifier: MIT */
/*
 * wasmfiles.h - the .wasm files that the host opened: where names come from when an engine that is
 * linked into the host shows neither bytes nor symbols.
 *
 * Only files that the host itself opened, with success, are ever read; never a path that a module
 * names. A file that has changed since is not read either.
 */
#ifndef PRELOAD_LOAD_WASMFILES_H
#define PRELOAD_LOAD_WASMFILES_H

#include "symtab/base.h"

struct wasmbin;

/* Whether PATH is called like one. Any thread; touches nothing else. */
bool wasmfiles_is_called_so(const char *path);

/*
 * The host has opened PATH as DESCRIPTOR, which is only asked what it is. Keeps the last 64 such
 * files. Any host thread; short of memory it is not kept.
 */
void wasmfiles_opened(const char *path, int descriptor);

/*
 * The binary that defines FUNCTIONS functions, of which the caller gets a reference, and in *PATH
 * (malloc'd; NULL without memory) its file. Of several: those that nothing was made of yet, in
 * their order; then the one that was opened last. NULL when there is none. Our thread: files are
 * read here.
 */
struct wasmbin *wasmfiles_find(uint32_t functions, char **path);

/*
 * The first binary that IS_IT, asked with CONTEXT, takes; as wasmfiles_find(). Reads the files,
 * those of up to 16 MiB, and parses them: for engines that tell names and no numbers.
 */
struct wasmbin *wasmfiles_match(bool (*is_it)(void *context, const struct wasmbin *wasm),
				void *context, char **path);

/* Around a fork. */
void wasmfiles_fork_prepare(void);
void wasmfiles_fork_parent(void);
void wasmfiles_fork_child(void);

#endif /* PRELOAD_LOAD_WASMFILES_H */
