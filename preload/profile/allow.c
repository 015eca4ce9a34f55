/* SPDX-License-Identifier: MIT */
/* allow.c - the list of modules that are recorded. Threads: any. */
#include "preload/profile/allow.h"

#include <fnmatch.h>
#include <string.h>

enum { GLOB_MAX = 256 }; /* longer ones match nothing */

static bool matches(const char *glob, size_t size, const char *name)
{
	char text[GLOB_MAX];

	if (size >= sizeof(text))
		return false;
	memcpy(text, glob, size);
	text[size] = '\0';
	return fnmatch(text, name, 0) == 0;
}

bool allow_module(const char *globs, const char *name)
{
	bool is_listing = false;

	while (globs != NULL && *globs != '\0') {
		size_t size;

		globs += strspn(globs, ", \t");
		size = strcspn(globs, ",");
		while (size > 0 && strchr(" \t", globs[size - 1]) != NULL)
			size--;
		if (size > 0 && matches(globs, size, name))
			return true;
		is_listing = is_listing || size > 0;
		globs += strcspn(globs, ",");
	}
	return !is_listing;
}
