/* SPDX-License-Identifier: MIT */
/* wasmfiles.c - walks folders. Threads: one at a time. */
#include "preload/cmd/symbolize/wasmfiles.h"

#include "preload/cmd/say.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MAX = 100000, DEPTH_MAX = 16 };

static int add_file(struct wasmfiles *files, const char *path, bool is_named)
{
	char *copy;

	if (files->count == FILES_MAX)
		return -E2BIG;
	if (rows_reserve(&files->list, &files->room, files->count, sizeof(*files->list)) != 0)
		return -ENOMEM;
	copy = strdup(path);
	if (copy == NULL)
		return -ENOMEM;
	files->list[files->count++] = (struct wasmfiles_entry){ copy, is_named };
	return 0;
}

static bool is_wasm(const FTSENT *entry)
{
	return entry->fts_info == FTS_F && entry->fts_namelen > 5 &&
	       strcmp(entry->fts_name + entry->fts_namelen - 5, ".wasm") == 0;
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
	return strcmp((*left)->fts_name, (*right)->fts_name);
}

static int add_folder(struct wasmfiles *files, const char *path)
{
	char *folder = strdup(path), *paths[] = { folder, NULL };
	FTS *walk = folder != NULL ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name) : NULL;
	FTSENT *entry;
	int error = walk != NULL ? 0 : -ENOMEM;

	while (error == 0 && (entry = fts_read(walk)) != NULL) {
		if (entry->fts_info == FTS_D && entry->fts_level >= DEPTH_MAX)
			fts_set(walk, entry, FTS_SKIP);
		else if (is_wasm(entry))
			error = add_file(files, entry->fts_path, false);
	}
	if (walk != NULL)
		fts_close(walk);
	free(folder);
	return error;
}

int wasmfiles_add(struct wasmfiles *files, const char *path)
{
	size_t before = files->count;
	struct stat about;
	int error = stat(path, &about) == 0 ? 0 : -errno;

	if (error == 0)
		error = S_ISDIR(about.st_mode) ? add_folder(files, path)
					       : add_file(files, path, true);
	if (error == 0 && files->count == before) {
		say_line("%s: no *.wasm in it", path);
		return -ENOENT;
	}
	if (error != 0)
		say_line("%s: %s", path, strerror(-error));
	return error;
}

void wasmfiles_free(struct wasmfiles *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].path);
	free(files->list);
	*files = (struct wasmfiles){ 0 };
}
