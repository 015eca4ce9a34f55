/* SPDX-License-Identifier: MIT */
/*
 * dl_x86_64.h - between the entry points of dlsym and dlvsym and what decides for them.
 */
#ifndef PRELOAD_HOOK_DL_X86_64_H
#define PRELOAD_HOOK_DL_X86_64_H

#include "symtab/base.h"

/* Two words: returned in rax and rdx. */
struct dl_answer {
	void *symbol;
	uintptr_t is_passed; /* 1: the libc's own function shall answer */
};

/* CALLER is the return address of the host's call; VERSION is NULL for dlsym. Keeps errno. */
struct dl_answer dl_pick(void *handle, const char *name, const char *version, void *caller);

void *dl_real_dlsym(void);
void *dl_real_dlvsym(void);

/* Our dlsym and dlvsym under names that nobody else can define. */
void dl_dlsym(void);
void dl_dlvsym(void);

#endif /* PRELOAD_HOOK_DL_X86_64_H */
