/* SPDX-License-Identifier: MIT */
/* fdpath.c - one readlink. */
#include "preload/base/fdpath.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *fdpath_absolute(const char *path, int descriptor)
{
	char link[64], target[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	length = readlink(link, target, sizeof(target) - 1);
	if (length > 0 && target[0] == '/') {
		target[length] = '\0';
		return strdup(target);
	}
	return path[0] == '/' ? strdup(path) : NULL;
}
