/* SPDX-License-Identifier: MIT */
/*
 * labels.h - what the user says of modules: names and labels, by their file, name or identity.
 *
 * GUESTPROF_LABEL: rules, separated by `;` (one in a pattern is written `\;`), each
 *
 *	KEY=path:REGEX	or	KEY=name:REGEX
 *
 * REGEX is POSIX extended, and is looked for anywhere in the path of the file that the module was
 * loaded from, or in its name as it is shown. The label's value is what the first pair of brackets
 * matched, or all that matched where there is none. The first rule of a key that matches counts.
 *
 * GUESTPROF_NAMES: a names file (symtab/namelist.h). What it says counts before the rules. It is
 * read once, when the first module is sampled. Keys are as there.
 */
#ifndef PRELOAD_PROFILE_LABELS_H
#define PRELOAD_PROFILE_LABELS_H

#include "preload/base/config.h"
#include "symtab/namelist.h"
#include "symtab/symtab.h"

struct labels {
	const char *name; /* that the user gave; NULL: none. Lives for ever */
	size_t count;
	struct label rows[LABELS_MAX]; /* ascending by key, no key twice */
};

/* Adds KEY in its place, unless it is there already or LABELS is full. */
void labels_add(struct labels *labels, const char *key, const char *value);

/*
 * What CONFIG says of MODULE. Rules and file are read at the first call, and every call must have
 * the same CONFIG; what is wrong with them is said then, once. Threads: ours.
 */
void labels_of(const struct config *config, const struct module *module, struct labels *labels);

#endif /* PRELOAD_PROFILE_LABELS_H */
