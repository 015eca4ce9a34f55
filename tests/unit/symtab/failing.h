/* SPDX-License-Identifier: MIT */
/*
 * failing.h - makes the Nth allocation fail, for the one test program that includes it.
 *
 *	for (fail_at = 1; failing_start(fail_at), x = x_new(), failing_stop(); fail_at++)
 *		... x is NULL, errno ENOMEM ...
 *
 * Sanitizers have an allocator of their own: failing_works is false then.
 */
#ifndef TESTS_UNIT_SYMTAB_FAILING_H
#define TESTS_UNIT_SYMTAB_FAILING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAILING_IS_OFF 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_IS_OFF 1
#endif

static long failing_left; /* allocations until one fails; 0: none does */
static bool failing_happened;

static void failing_start(long nth)
{
	failing_left = nth;
	failing_happened = false;
}

/* Returns whether an allocation did fail since failing_start(). */
static bool failing_stop(void)
{
	failing_left = 0;
	return failing_happened;
}

#ifdef FAILING_IS_OFF
static const bool failing_works = false;
#else
static const bool failing_works = true;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);

static bool failing_now(void)
{
	if (failing_left == 0 || --failing_left > 0)
		return false;
	failing_happened = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return failing_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return failing_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return failing_now() ? NULL : __libc_realloc(block, size);
}
#endif

#endif /* TESTS_UNIT_SYMTAB_FAILING_H */
