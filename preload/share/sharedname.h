/* SPDX-License-Identifier: MIT */
/*
 * sharedname.h - names in a shared file: as they would be without any other module.
 *
 * What a module is shown as depends on the others: `app` becomes `app@3f9a2c` when another `app`
 * was seen before, and `app{tenant=acme}` when the same bytes run for somebody else. And functions
 * without names are called after the module that was sampled first of those with the same bytes.
 */
#ifndef PRELOAD_SHARE_SHAREDNAME_H
#define PRELOAD_SHARE_SHAREDNAME_H

#include "preload/read/arena.h"

enum { SHAREDNAME_HASH = 6 };

/* Length of SHOWN without what was put behind it to make it unique; IDENTITY: "" when unknown. */
size_t sharedname_base(const char *shown, const char *identity);

/* `BASE@HASH`, always; BASE alone where no identity is known. NULL without memory. */
const char *sharedname_module(struct arena *arena, const char *shown, const char *identity);

/*
 * Name of a function of MODULE (its told name), as the recording has it: itself, but for those that
 * carry a module's name or an address. NULL without memory.
 */
const char *sharedname_function(struct arena *arena, const char *name, const char *module,
				uint32_t core);

/*
 * The numbers in `MODULE#LOADING.N`, or `MODULE#N` of the first; false when it has none:
 * `MODULE#*`.
 */
bool sharedname_instance(const char *instance, uint64_t *loading, uint64_t *number);

#endif /* PRELOAD_SHARE_SHAREDNAME_H */
