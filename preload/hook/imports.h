/* SPDX-License-Identifier: MIT */
/*
 * imports.h - the words in which an object keeps what the loader bound its imported names to.
 *
 * The tables are those that the loader has accepted (ELF gABI, dynamic section). Threads: any,
 * while the object cannot go. Signals: never.
 */
#ifndef PRELOAD_HOOK_IMPORTS_H
#define PRELOAD_HOOK_IMPORTS_H

#include "preload/hook/object.h"

struct import {
	const char *name;
	_Atomic(uintptr_t) *word;
	bool is_lazy; /* until its first call the word may lead into the object's own code */
};

/*
 * Calls VISIT for each word for a name that the object does not define itself, until it returns
 * true. Returns true when it did.
 */
bool imports_each(const struct object *object,
		  bool (*visit)(const struct import *import, void *context), void *context);

/*
 * Stores VALUE in the word of IMPORT where BEFORE is in it, also where the loader has made it read
 * only: the page is read only again at the end. False when it cannot, or something else is in it.
 */
bool imports_store(const struct object *object, const struct import *import, uintptr_t before,
		   uintptr_t value);

#endif /* PRELOAD_HOOK_IMPORTS_H */
