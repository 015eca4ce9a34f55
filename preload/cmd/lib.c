/* SPDX-License-Identifier: MIT */
/* lib.c - `guestprof lib`: prints the library's path, for LD_PRELOAD=$(guestprof lib). */
#include "preload/cmd/command.h"
#include "preload/cmd/library.h"
#include "preload/cmd/say.h"

#include <stdio.h>
#include <stdlib.h>

int lib_command(int argc, char **argv)
{
	char *path;

	if (argc > 1) {
		say_line("%s: is not an argument of lib", argv[1]);
		return COMMAND_BAD;
	}
	path = library_path();
	if (path == NULL)
		return COMMAND_BAD;
	puts(path);
	free(path);
	return fflush(stdout) == 0 ? COMMAND_OK : COMMAND_BAD;
}
