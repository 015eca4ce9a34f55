/* SPDX-License-Identifier: MIT */
/*
 * binfile.h - a wasm binary in a file, or in a part of one, as it was when the host loaded it.
 *
 * On the host's thread only its path and what stat says of it are kept; our thread reads it later,
 * and nothing where the file is another by then.
 */
#ifndef PRELOAD_LOAD_BINFILE_H
#define PRELOAD_LOAD_BINFILE_H

#include <sys/stat.h>

#include "symtab/base.h"

struct binfile;
struct wasmbin;

/*
 * SIZE bytes from OFFSET on of the file at PATH, relative to the folder of now; SIZE 0: all of it.
 * Any host thread. A reference, or NULL: there is no such file, or no memory.
 */
struct binfile *binfile_new(const char *path, uint64_t offset, size_t size);
struct binfile *binfile_ref(struct binfile *file);
void binfile_unref(struct binfile *file);

/* Our thread: a new reference to what is in it; NULL when it has changed, or is no binary. */
struct wasmbin *binfile_parse(const struct binfile *file);

/*
 * The same of a file that is known otherwise: PATH as it was when STATUS was asked for. Whether two
 * answers of stat are about the same content.
 */
struct wasmbin *binfile_read(const char *path, const struct stat *status, uint64_t offset,
			     size_t size);
bool binfile_is_same(const struct stat *a, const struct stat *b);

/* Our thread: the descriptor of that file, or -1. */
int binfile_open(const char *path, const struct stat *status);

#endif /* PRELOAD_LOAD_BINFILE_H */
