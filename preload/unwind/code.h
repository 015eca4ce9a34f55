/* SPDX-License-Identifier: MIT */
/*
 * code.h - is there code at an address, and could a call have put it on the stack?
 *
 * Return addresses that follow no call instruction are how a wrong unwind is noticed. Threads:
 * ours only.
 */
#ifndef PRELOAD_UNWIND_CODE_H
#define PRELOAD_UNWIND_CODE_H

#include "symtab/base.h"

/* Whether PC lies in an object's or an image's code. */
bool code_is_known(uintptr_t pc, uint64_t generation);
bool code_is_image(uintptr_t pc, uint64_t generation);

/*
 * Whether the bytes in memory now are the ones that ran. An image that died may have been replaced
 * by another.
 */
bool code_is_there(uintptr_t pc, uint64_t generation);

/* Known code, and the instruction before PC is a call or cannot be read any more. Remembers. */
bool code_follows_call(uintptr_t pc, uint64_t generation);

/* The kernel's way back from a signal handler: mov $15,%rax; syscall (libc's restorer). */
bool code_is_sigreturn(uintptr_t pc);

/* Copies the bytes at PC; false when they cannot be read. Code is only looked at, never run. */
bool code_read(uintptr_t pc, void *out, size_t size);

/* Forgets what code_follows_call() remembers. */
void code_flush(void);

#endif /* PRELOAD_UNWIND_CODE_H */
