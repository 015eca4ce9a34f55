/* SPDX-License-Identifier: MIT */
/*
 * elfimg.h - the copied tables of an image, for the files that decode them.
 */
#ifndef SYMTAB_ELFIMG_H
#define SYMTAB_ELFIMG_H

#include "symtab/sha256.h"
#include "symtab/symtab.h"

struct blob {
	uint8_t *bytes; /* NULL when the section is absent or empty */
	size_t size;
	bool is_mapped; /* by blob_new(); else from malloc() */
};

struct image_tables {
	struct blob symtab, strtab;
	struct blob names; /* .name.wasm: all names, one after another */
	struct blob info;  /* .wasmtime.info: where each of them is, among much else */
	struct blob addrmap;
	struct blob eh_frame;
	uintptr_t eh_frame_address; /* where its bytes were: pointers in it are relative */
	bool has_text_hash;
	uint8_t text_sha256[SHA256_SIZE]; /* of .text, from image_hash() */
};

/*
 * Memory for SIZE bytes. What is large has pages of its own, all given at once: a fault for each
 * costs more than to fill it. 0 or -ENOMEM.
 */
int blob_new(struct blob *blob, size_t size);
void blob_free(struct blob *blob);

#endif /* SYMTAB_ELFIMG_H */
