/* SPDX-License-Identifier: MIT */
/* rotation.c - remembers finished files, and removes the oldest. Threads: one at a time. */
#include "preload/encode/rotation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/log.h"

struct rotated {
	char *name;
	dev_t device;
	ino_t inode;
	struct timespec modified; /* inode numbers are used again */
};

void rotation_add(struct rotation *rotation, int directory, const char *name)
{
	struct rotated *files;
	struct rotated file = { .name = strdup(name) };
	struct stat facts;

	files = realloc(rotation->files, (rotation->count + 1) * sizeof(*files));
	if (files != NULL)
		rotation->files = files;
	if (files == NULL || file.name == NULL ||
	    fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
		free(file.name);
		return;
	}
	file.device = facts.st_dev;
	file.inode = facts.st_ino;
	file.modified = facts.st_mtim;
	files[rotation->count++] = file;
}

/* Somebody may have moved it away and put another in its place: that is not ours to remove. */
static void remove_file(const struct rotated *file, int directory)
{
	struct stat facts;

	if (fstatat(directory, file->name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
	    facts.st_dev != file->device || facts.st_ino != file->inode ||
	    facts.st_mtim.tv_sec != file->modified.tv_sec ||
	    facts.st_mtim.tv_nsec != file->modified.tv_nsec)
		return;
	if (unlinkat(directory, file->name, 0) == 0)
		log_line(LOG_DEBUG, "%s removed: GUESTPROF_ROTATE", file->name);
}

void rotation_trim(struct rotation *rotation, int directory, size_t keep)
{
	size_t gone = rotation->count > keep ? rotation->count - keep : 0;

	for (size_t i = 0; i < gone; i++) {
		remove_file(&rotation->files[i], directory);
		free(rotation->files[i].name);
	}
	rotation->count -= gone;
	if (gone != 0)
		memmove(rotation->files, rotation->files + gone,
			rotation->count * sizeof(*rotation->files));
}

void rotation_free(struct rotation *rotation)
{
	for (size_t i = 0; i < rotation->count; i++)
		free(rotation->files[i].name);
	free(rotation->files);
	*rotation = (struct rotation){ 0 };
}
