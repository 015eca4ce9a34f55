/* SPDX-License-Identifier: MIT */
/*
 * disk.h - directories and files in the host: opened, written, renamed, never in its way.
 *
 * Descriptors are 3 or above and close-on-exec. No signal reaches the host because of a file of
 * ours: SIGXFSZ is held back around each write. All return 0, a descriptor, or negative errno.
 */
#ifndef PRELOAD_ENCODE_DISK_H
#define PRELOAD_ENCODE_DISK_H

#include "symtab/base.h"

/* A directory that we may create files in; -EACCES, -EROFS, -ENOENT, ... */
int disk_directory(const char *path);

/* The user's own directory below TEMPORARY, made if need be (0700); its path goes to OUT (SIZE
 * bytes). */
int disk_fallback(const char *temporary, char *out, size_t size);

/* A new file, 0600; -EEXIST when the name is taken, be it by a dangling link. */
int disk_create(int directory, const char *name);

/* True when something has this name. */
bool disk_exists(int directory, const char *name);

/* All of BYTES at OFFSET, in pieces that end on pages. On an error part of them may be there. */
int disk_write(int fd, const void *bytes, size_t size, uint64_t offset);

/* Gives FROM the name TO, which must be free unless REPLACE (-EEXIST). */
int disk_rename(int directory, const char *from, const char *to, bool replace);

#endif /* PRELOAD_ENCODE_DISK_H */
