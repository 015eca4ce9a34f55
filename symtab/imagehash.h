/* SPDX-License-Identifier: MIT */
/*
 * imagehash.h - which image it is, whoever loads it and wherever.
 */
#ifndef SYMTAB_IMAGEHASH_H
#define SYMTAB_IMAGEHASH_H

#include "symtab/elfimg.h"

/* The identity `image`: of the code and of the tables that say what it is, all still there. */
void imagehash_identity(const struct image_tables *tables, char hex[2 * SHA256_SIZE + 1]);

#endif /* SYMTAB_IMAGEHASH_H */
