/* SPDX-License-Identifier: MIT */
/*
 * html_sources.h - the source files that frames name, for the html page.
 *
 * The names come from guests, so a name only chooses among the files of one folder: it is taken
 * as a path below it (one that begins with the folder's own path counts from there), `..` may not
 * lead above it, and no link may lead out of it (openat2(2), RESOLVE_BENEATH; before Linux 5.6, or
 * where a filter refuses that call, no link is followed at all). Only regular files without a NUL
 * byte are taken.
 */
#ifndef PRELOAD_EXPORT_HTML_SOURCES_H
#define PRELOAD_EXPORT_HTML_SOURCES_H

#include "preload/export/html_tree.h"
#include "preload/export/json.h"

/* In bytes; larger files, and what goes beyond the sum, are left out. */
enum { HTML_SOURCES_FILE_MAX = 1 << 20, HTML_SOURCES_ALL_MAX = 16 << 20 };

struct html_source {
	uint32_t file; /* text of the tree */
	char *content; /* owned, terminated */
};

struct html_sources {
	struct html_source *list; /* owned */
	uint32_t count;
	size_t room, size; /* size: bytes in all */
	size_t named;	   /* distinct files that functions of the tree name */
};

/*
 * Reads those of the TREE's files that are in FOLDER. 0, -ENOMEM, or the negative errno of opening
 * FOLDER. SOURCES is zeroed before, and to be freed in any case.
 */
int html_sources_read(struct html_sources *sources, const char *folder,
		      const struct html_tree *tree);
void html_sources_free(struct html_sources *sources);

/* Writes the array `sources`. */
void html_sources_write(const struct html_sources *sources, struct json *json);

/*
 * NAME as a path below FOLDER (absolute, without a slash at its end) in PATH of SIZE. False: it
 * leads out of it, or is not the name of a file.
 */
bool html_sources_path(const char *name, const char *folder, char *path, size_t size);

/*
 * Opens PATH, as html_sources_path() made it, below FOLDER_FD to be read, without openat2(2): one
 * component after the other, none of them `..` or a link. A descriptor, which the caller closes, or
 * a negative errno: -EXDEV for `..` and components that are no names.
 */
int html_sources_walk(int folder_fd, const char *path);

#endif /* PRELOAD_EXPORT_HTML_SOURCES_H */
