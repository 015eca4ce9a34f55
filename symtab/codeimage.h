/* SPDX-License-Identifier: MIT */
/*
 * codeimage.h - code without an image or unwind tables, of which every function is known.
 */
#ifndef SYMTAB_CODEIMAGE_H
#define SYMTAB_CODEIMAGE_H

#include "symtab/base.h"
#include "symtab/memory.h"

struct image_layout;
struct image_tables;

struct code_function {
	uintptr_t start;
	size_t size;
	uint32_t index;	  /* among all of its module, imported ones first */
	const char *name; /* need not be terminated, nor be text; NULL: none */
	size_t name_length;
};

/*
 * The tables of an image that held the COUNT FUNCTIONS, in any order, none of them empty: its
 * caller owns them. Describes it in LAYOUT as bare code. NULL with errno EINVAL (no function, more
 * than 1,048,576, more than 1 GiB of code), ENOMEM. The functions' first bytes are read, of 64 of
 * them at most.
 */
struct image_tables *codeimage_make(const struct memory *memory,
				    const struct code_function *functions, size_t count,
				    struct image_layout *layout);

#endif /* SYMTAB_CODEIMAGE_H */
