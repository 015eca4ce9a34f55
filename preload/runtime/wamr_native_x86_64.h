/* SPDX-License-Identifier: MIT */
/*
 * wamr_native_x86_64.h - what WAMR calls in place of host functions, whose arguments only their
 * registration tells: a thunk for each, which passes all that there can be.
 */
#ifndef PRELOAD_RUNTIME_WAMR_NATIVE_X86_64_H
#define PRELOAD_RUNTIME_WAMR_NATIVE_X86_64_H

#include "symtab/base.h"

enum {
	WAMR_THUNKS = 1024,
	WAMR_THUNK_SIZE = 16,
	WAMR_STACK_WORDS = 32, /* of arguments that are passed on the stack, at most */
	WAMR_CALL_BYTES = 384, /* of the thunk's frame that are C's */
};

extern const char wamr_thunks[] __attribute__((visibility("hidden")));

/*
 * C's half. CALL: WAMR_CALL_BYTES, aligned to 16, of this call. ENV: the first argument; STACK: the
 * address of the return address. Returns the host's function.
 */
void *wamr_native_begin(void *call, uint32_t thunk, void *env, uintptr_t stack);
void wamr_native_end(void *call);

#endif /* PRELOAD_RUNTIME_WAMR_NATIVE_X86_64_H */
