/* SPDX-License-Identifier: MIT */
/*
 * opens.c - the libc's functions by which the host opens files.
 *
 * Every call goes on as it came; what was opened is told to state.on_opened. These functions are
 * called from everywhere: signal handlers, allocators, children of vfork.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "preload/base/state.h"
#include "preload/hook/hook.h"

EXPORT int open(const char *path, int flags, ...);
EXPORT int open64(const char *path, int flags, ...);
EXPORT int openat(int folder, const char *path, int flags, ...);
EXPORT int openat64(int folder, const char *path, int flags, ...);
EXPORT FILE *fopen(const char *path, const char *mode);
EXPORT FILE *fopen64(const char *path, const char *mode);

/* Returns DESCRIPTOR; below 0: it was not opened. */
static inline int opened(const char *path, int descriptor)
{
	if (descriptor >= 0 && state.on_opened != NULL)
		state.on_opened(path, descriptor);
	return descriptor;
}

/* The argument behind FLAGS, which is there only with these flags (open(2)). */
#define MODE_BEHIND(flags)                                                      \
	({                                                                      \
		va_list arguments;                                              \
		mode_t mode = 0;                                                \
		va_start(arguments, flags);                                     \
		if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) \
			mode = va_arg(arguments, mode_t);                       \
		va_end(arguments);                                              \
		mode;                                                           \
	})

HOOK_PLAIN(open);
int open(const char *path, int flags, ...)
{
	return opened(path, REAL(open)(path, flags, MODE_BEHIND(flags)));
}

HOOK_PLAIN(open64);
int open64(const char *path, int flags, ...)
{
	return opened(path, REAL(open64)(path, flags, MODE_BEHIND(flags)));
}

HOOK_PLAIN(openat);
int openat(int folder, const char *path, int flags, ...)
{
	return opened(path, REAL(openat)(folder, path, flags, MODE_BEHIND(flags)));
}

HOOK_PLAIN(openat64);
int openat64(int folder, const char *path, int flags, ...)
{
	return opened(path, REAL(openat64)(folder, path, flags, MODE_BEHIND(flags)));
}

HOOK_PLAIN(fopen);
FILE *fopen(const char *path, const char *mode)
{
	FILE *file = REAL(fopen)(path, mode);

	opened(path, file != NULL ? fileno(file) : -1);
	return file;
}

HOOK_PLAIN(fopen64);
FILE *fopen64(const char *path, const char *mode)
{
	FILE *file = REAL(fopen64)(path, mode);

	opened(path, file != NULL ? fileno(file) : -1);
	return file;
}
