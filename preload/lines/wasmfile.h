/* SPDX-License-Identifier: MIT */
/*
 * wasmfile.h - the bytes of a wasm file, with room before them and a zero behind.
 */
#ifndef PRELOAD_LINES_WASMFILE_H
#define PRELOAD_LINES_WASMFILE_H

#include "symtab/base.h"

struct wasmfile {
	uint8_t *memory; /* owned: WRAPPER_ROOM, the file, a zero */
	uint8_t *wasm;
	size_t size; /* of the file */
};

/*
 * Read, not mapped: somebody may cut the file short meanwhile. 0 or negative errno: -EFBIG beyond
 * LINES_FILE_MAX, -EINVAL for what is no regular file.
 */
int wasmfile_read(struct wasmfile *file, const char *path);
int wasmfile_fill(struct wasmfile *file, size_t size,
		  int (*fill)(void *context, uint8_t *wasm, size_t size), void *context);
int wasmfile_copy(struct wasmfile *file, const uint8_t *wasm, size_t size);
void wasmfile_free(struct wasmfile *file);

#endif /* PRELOAD_LINES_WASMFILE_H */
