/* SPDX-License-Identifier: MIT */
/*
 * libc.h - the libc's own dl functions, found without calling any of them.
 *
 * Our dlsym hides the libc's, and other preloaded libraries may define these names too, so they are
 * read from the libc's symbol table (libdl's before glibc 2.34). Nothing here calls into the libc
 * while it looks: sanitizer runtimes call dlsym before they can bear an intercepted function.
 * Threads: any.
 */
#ifndef PRELOAD_HOOK_LIBC_H
#define PRELOAD_HOOK_LIBC_H

#include <link.h>

#include "symtab/base.h"

/* For code that runs before a sanitizer's runtime has set itself up. */
#if defined(__clang__) && __has_attribute(disable_sanitizer_instrumentation)
#define LIBC_UNCHECKED __attribute__((disable_sanitizer_instrumentation))
#else
#define LIBC_UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

struct libc {
	void *(*dlopen)(const char *file, int mode);
	int (*dlclose)(void *handle);
	void *(*dlsym)(void *handle, const char *name);
	void *(*dlvsym)(void *handle, const char *name, const char *version);
	char *(*dlerror)(void);
	int (*iterate)(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context);
};

/* Never NULL, and no member is: for what a strange libc lacks stands a function that returns zero.
 */
const struct libc *libc_real(void);

/*
 * The definition of NAME in the dynamic symbol table of the object loaded at BASE with the dynamic
 * section DYNAMIC, NULL if it has none. VERSION NULL: the default version, as dlsym takes it.
 * Data, thread-local and indirect (IFUNC) symbols are not found.
 */
void *libc_symbol(uintptr_t base, const ElfW(Dyn) * dynamic, const char *name, const char *version);

/* Where the table is that such an object's dynamic section has at ADDRESS. */
const void *libc_table(uintptr_t base, ElfW(Addr) address);

/* The string table of such an object; NULL if it has none. */
const char *libc_strings(uintptr_t base, const ElfW(Dyn) * dynamic);

/* As strcmp() == 0, without calling it. */
bool libc_is_same(const char *a, const char *b);

#endif /* PRELOAD_HOOK_LIBC_H */
