/* SPDX-License-Identifier: MIT */
/*
 * modulefile.h - a file that says something of modules: wasm, a precompiled image, or a recording.
 */
#ifndef PRELOAD_CMD_SYMBOLIZE_MODULEFILE_H
#define PRELOAD_CMD_SYMBOLIZE_MODULEFILE_H

#include "preload/read/reader.h"
#include "preload/read/source.h"
#include "symtab/symtab.h"

/* One of the three is set. */
struct modulefile {
	const char *path;
	struct wasmbin *wasm; /* with its bodies */
	struct module *image;
	struct recording *recording;
};

/* Reads PATH; the caller calls modulefile_fini(). 0, or -1 after it said in one line what is wrong.
 */
int modulefile_read(struct modulefile *file, const char *path);
void modulefile_fini(struct modulefile *file);

/* What the headers of a precompiled image in BYTES say; its addresses are those of BYTES. As
 * image_probe(). */
int modulefile_probe(struct source *bytes, struct image_layout *layout);

#endif /* PRELOAD_CMD_SYMBOLIZE_MODULEFILE_H */
