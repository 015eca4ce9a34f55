/* SPDX-License-Identifier: MIT */
/* fdpath.h - which file a descriptor is of. */
#ifndef PRELOAD_BASE_FDPATH_H
#define PRELOAD_BASE_FDPATH_H

/*
 * PATH, by which DESCRIPTOR was opened on this thread, as it stays true when the host changes its
 * folder: what the kernel says of DESCRIPTOR, else PATH if it is absolute. The caller frees it.
 * NULL: unknown, or no memory. May change errno.
 */
char *fdpath_absolute(const char *path, int descriptor);

#endif /* PRELOAD_BASE_FDPATH_H */
