/* SPDX-License-Identifier: MIT */
/*
 * called.h - is this what the user calls it? The one rule for names that must be equal, wherever
 * they are given: --module, --instance, --label, the addresses of `serve`, what a tenant is.
 *
 * A name is given as it is recorded, or as it is shown: with \u{N} for what hides or reorders text
 * (escape.h).
 */
#ifndef PRELOAD_READ_CALLED_H
#define PRELOAD_READ_CALLED_H

#include "preload/read/reader.h"

/* Is WISH the NAME? */
bool called_name(const char *name, const char *wish);

/*
 * The same, or without the `@3f9a2c` that a name has which the guest gave itself. Anybody can call
 * himself so: not for what decides who may see something.
 */
bool called_module(const char *name, const char *wish);

/* Length of a module's NAME without `@3f9a2c`. */
size_t called_plain_length(const char *name);

/* `resize#3`, or as reports of several processes show it, `resize#3 (4242)`. */
bool called_instance(const char *name, uint64_t pid, const char *wish);

/* The value of the label KEY, or NULL. */
const char *called_label(const struct recording_label *labels, size_t count, const char *key);

#endif /* PRELOAD_READ_CALLED_H */
