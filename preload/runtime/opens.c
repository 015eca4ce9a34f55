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

/* DESCRIPTOR below 0: it was not opened. */
static inline void opened(const char *path, int descriptor)
{
	if (descriptor >= 0 && state.on_opened != NULL)
		state.on_opened(path, descriptor);
}

/* The mode is there only with these flags (open(2)). */
static mode_t mode_of(int flags, va_list arguments)
{
	if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(arguments, mode_t);
	return 0;
}

HOOK_PLAIN(open);
int open(const char *path, int flags, ...)
{
	__typeof__(&open) real = REAL(open);
	va_list arguments;
	int descriptor;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	descriptor = real(path, flags, mode);
	opened(path, descriptor);
	return descriptor;
}

HOOK_PLAIN(open64);
int open64(const char *path, int flags, ...)
{
	__typeof__(&open64) real = REAL(open64);
	va_list arguments;
	int descriptor;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	descriptor = real(path, flags, mode);
	opened(path, descriptor);
	return descriptor;
}

HOOK_PLAIN(openat);
int openat(int folder, const char *path, int flags, ...)
{
	__typeof__(&openat) real = REAL(openat);
	va_list arguments;
	int descriptor;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	descriptor = real(folder, path, flags, mode);
	opened(path, descriptor);
	return descriptor;
}

HOOK_PLAIN(openat64);
int openat64(int folder, const char *path, int flags, ...)
{
	__typeof__(&openat64) real = REAL(openat64);
	va_list arguments;
	int descriptor;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	descriptor = real(folder, path, flags, mode);
	opened(path, descriptor);
	return descriptor;
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
