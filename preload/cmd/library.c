/* SPDX-License-Identifier: MIT */
/* library.c - finds the library by the place of the running executable. Threads: any. */
#include "preload/cmd/library.h"

#include "preload/cmd/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "libguestprof.so"

/* The directory of this executable, or NULL. */
static char *own_directory(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	char *slash = path != NULL ? strrchr(path, '/') : NULL;

	if (slash != NULL)
		*slash = '\0';
	return path;
}

char *library_path(void)
{
	static const char *const places[] = { "", "../lib/guestprof/" };
	const char *asked = getenv("GUESTPROF_LIB");
	char *directory = NULL, *found = NULL;

	if (asked != NULL && asked[0] != '\0') {
		found = realpath(asked, NULL);
		if (found == NULL)
			say_line("GUESTPROF_LIB=%s: %m", asked);
		return found;
	}
	directory = own_directory();
	for (size_t i = 0; directory != NULL && found == NULL && i < ARRAY_SIZE(places); i++) {
		char *candidate;

		if (asprintf(&candidate, "%s/%s" FILE_NAME, directory, places[i]) < 0)
			break;
		found = realpath(candidate, NULL);
		free(candidate);
	}
	if (found == NULL)
		say_line(FILE_NAME " is neither in %s nor in ../lib/guestprof beside it; set "
				   "GUESTPROF_LIB to its path",
			 directory != NULL ? directory : "this command's directory");
	free(directory);
	return found;
}
