/* SPDX-License-Identifier: MIT */
/*
 * who.h - a module's identity and its name, made at the first request: where no wasm bytes were
 * seen that hashes the image's tables, which takes longer than to read them, and most modules of a
 * process are never sampled.
 */
#ifndef SYMTAB_WHO_H
#define SYMTAB_WHO_H

#include "symtab/symtab.h"

struct who {
	bool is_known;
	char *name; /* NULL: memory was short */
	enum name_origin name_origin;
	struct identity identity;
};

/* Of MODULE; its `who`, filled. */
const struct who *who_of(const struct module *module);

/* NULL is allowed. */
void who_free(struct who *who);

#endif /* SYMTAB_WHO_H */
