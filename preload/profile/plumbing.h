/* SPDX-License-Identifier: MIT */
/*
 * plumbing.h - which host frames between a guest and the function it called are the engine's own.
 *
 * The rule: a frame is plumbing when its object is an engine's library, or its symbol begins with
 * one of the engine's paths or a language's own library's; unless the symbol is of one of the
 * packages in which engines implement host functions (WASI). One table for all engines.
 */
#ifndef PRELOAD_PROFILE_PLUMBING_H
#define PRELOAD_PROFILE_PLUMBING_H

#include "symtab/base.h"

/* OBJECT is a file's name without folders, SYMBOL as it is shown; NULL: it has none. */
bool plumbing_is(const char *object, const char *symbol);

#endif /* PRELOAD_PROFILE_PLUMBING_H */
