/* SPDX-License-Identifier: MIT */
/*
 * exits.c - ends of the process that run no destructors.
 *
 * exit() and a return from main() come through the destructor (lifecycle.c). A signal that kills
 * leaves the running file: whole up to its last chunk.
 */
#include <stdlib.h>
#include <unistd.h>

#include "preload/hook/hook.h"
#include "preload/lifecycle.h"

EXPORT void _exit(int status);
EXPORT void _Exit(int status);
EXPORT void quick_exit(int status);

HOOK_PLAIN(_exit);
void _exit(int status)
{
	__typeof__(&_exit) real = REAL(_exit);

	lifecycle_end();
	real(status);
	__builtin_unreachable();
}

HOOK_PLAIN(_Exit);
void _Exit(int status)
{
	__typeof__(&_Exit) real = REAL(_Exit);

	lifecycle_end();
	real(status);
	__builtin_unreachable();
}

/* The handlers of at_quick_exit() run in the real one, and may still run guests: those are not
 * seen. */
HOOK_PLAIN(quick_exit);
void quick_exit(int status)
{
	__typeof__(&quick_exit) real = REAL(quick_exit);

	lifecycle_end();
	real(status);
	__builtin_unreachable();
}
