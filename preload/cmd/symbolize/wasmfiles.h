/* SPDX-License-Identifier: MIT */
/*
 * wasmfiles.h - the wasm files that --wasm names: files, and what is in folders.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_WASMFILES_H
#define PRELOAD_CMD_SYMBOLIZE_WASMFILES_H

#include "symtab/base.h"

struct wasmfiles_entry {
	char *path;    /* owned */
	bool is_named; /* itself, not its folder */
};

struct wasmfiles {
	struct wasmfiles_entry *list;
	size_t count, room;
};

/*
 * Adds PATH, or if it is a folder, all `*.wasm` in it and below, in the order of their names. Links
 * inside a folder are not followed. 0, or a negative errno after having said what is wrong.
 */
int wasmfiles_add(struct wasmfiles *files, const char *path);
void wasmfiles_free(struct wasmfiles *files);

#endif /* PRELOAD_CMD_SYMBOLIZE_WASMFILES_H */
