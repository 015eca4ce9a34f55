/* SPDX-License-Identifier: MIT */
/* inputs.c - directories and globs become lists of files. Threads: any. */
#include "preload/cmd/inputs.h"

#include "preload/cmd/newest.h"
#include "preload/cmd/say.h"
#include "preload/read/rows.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes PATH. */
static int add_path(struct inputs *inputs, char *path)
{
	if (path == NULL || inputs->count == INPUTS_MAX ||
	    rows_reserve(&inputs->paths, &inputs->room, inputs->count, sizeof(char *)) != 0) {
		free(path);
		if (inputs->count != INPUTS_MAX)
			return -ENOMEM;
		say_line("more than %d files", INPUTS_MAX);
		return -E2BIG;
	}
	inputs->paths[inputs->count++] = path;
	return 0;
}

static int miss(struct inputs *inputs, const char *name, const char *why)
{
	say_line("%s: %s", name, why);
	inputs->missing++;
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_recording(const char *directory, const char *name, char **path)
{
	size_t length = strlen(name);
	struct stat about;

	*path = NULL;
	if (!((length > 3 && strcmp(name + length - 3, ".pb") == 0) ||
	      (length > 6 && strcmp(name + length - 6, ".pb.gz") == 0)))
		return false;
	if (asprintf(path, "%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/",
		     name) < 0) {
		*path = NULL;
		return true;
	}
	if (stat(*path, &about) == 0 && S_ISREG(about.st_mode))
		return true;
	free(*path);
	return false;
}

static int add_directory(struct inputs *inputs, const char *name)
{
	DIR *directory = opendir(name);
	size_t before = inputs->count;
	const struct dirent *entry;
	int error = 0;
	char *path;

	if (directory == NULL)
		return miss(inputs, name, strerror(errno));
	while (error == 0 && (entry = readdir(directory)) != NULL) {
		if (is_recording(name, entry->d_name, &path))
			error = add_path(inputs, path);
	}
	closedir(directory);
	if (error == 0 && inputs->count == before)
		return miss(inputs, name, "no *.pb or *.pb.gz in it");
	qsort(inputs->paths + before, inputs->count - before, sizeof(char *), compare_paths);
	return error;
}

static int add_glob(struct inputs *inputs, const char *name)
{
	glob_t found;
	int error = glob(name, 0, NULL, &found);

	if (error != 0)
		return error == GLOB_NOSPACE ? -ENOMEM : miss(inputs, name, "no such file");
	for (size_t i = 0; error == 0 && i < found.gl_pathc; i++)
		error = add_path(inputs, strdup(found.gl_pathv[i]));
	globfree(&found);
	return error;
}

int inputs_add(struct inputs *inputs, const char *name)
{
	struct stat about;

	if (strcmp(name, "-") == 0)
		return add_path(inputs, strdup(name));
	if (stat(name, &about) == 0)
		return S_ISDIR(about.st_mode) ? add_directory(inputs, name)
					      : add_path(inputs, strdup(name));
	if (strpbrk(name, "*?[") != NULL)
		return add_glob(inputs, name);
	return miss(inputs, name, strerror(errno));
}

int inputs_add_newest(struct inputs *inputs)
{
	char *newest = newest_recording();

	return newest != NULL ? add_path(inputs, newest) : 0;
}

void inputs_free(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		free(inputs->paths[i]);
	free(inputs->paths);
	*inputs = (struct inputs){ 0 };
}
