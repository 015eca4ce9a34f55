/* SPDX-License-Identifier: MIT */
/*
 * codemodule.h - which module a function that was told by itself belongs to. Threads: ours.
 */
#ifndef PRELOAD_LOAD_CODEMODULE_H
#define PRELOAD_LOAD_CODEMODULE_H

#include "symtab/base.h"

struct code_event;
struct load_observer;
struct module;
struct symtab;

struct codemodule {
	struct module *module; /* listed, and in the symbol set */
	uint32_t id;	       /* of its loading */
};

/* The module of EVENT's function or range, made at the first one. NULL: no memory. */
const struct codemodule *codemodule_of(struct symtab *symtab, const struct code_event *event,
				       const struct load_observer *observer);

#endif /* PRELOAD_LOAD_CODEMODULE_H */
