/* SPDX-License-Identifier: MIT */
/* newest.c - looks through the working directory for the newest recording. Threads: any. */
#include "preload/cmd/newest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

char *newest_recording(void)
{
	struct timespec newest = { 0 };
	char *found = NULL;
	DIR *directory = opendir(".");
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		struct stat about;

		if (!ends_with(entry->d_name, ".pb") && !ends_with(entry->d_name, ".pb.gz"))
			continue;
		if (fstatat(dirfd(directory), entry->d_name, &about, 0) != 0 ||
		    !S_ISREG(about.st_mode))
			continue;
		if (found != NULL && !is_newer(&about.st_mtim, &newest))
			continue;
		free(found);
		found = strdup(entry->d_name);
		newest = about.st_mtim;
	}
	if (directory != NULL)
		closedir(directory);
	return found;
}
