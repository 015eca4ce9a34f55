/* SPDX-License-Identifier: MIT */
/*
 * place.h - where the control socket is, and how it comes and goes.
 *
 * No symbolic link is followed in the last component, nothing but a socket that nobody listens to
 * is replaced, and what is removed is what was made. Errors are one log line.
 */
#ifndef PRELOAD_CONTROL_PLACE_H
#define PRELOAD_CONTROL_PLACE_H

#include <limits.h>

#include "symtab/base.h"

struct place {
	/* As configured; the process's own. */
	char directory[PATH_MAX];   /* absolute; "": the first of the usual ones that can be had */
	char pattern[NAME_MAX + 1]; /* of the file's name; %p is the pid */
	char runtime[PATH_MAX];	    /* XDG_RUNTIME_DIR; "" */
	char temporary[PATH_MAX];   /* TMPDIR or /tmp */
	int64_t gid;		    /* the group that may connect too; -1: none */

	/* Of the socket. */
	int directory_fd; /* 0: there is none */
	char name[NAME_MAX + 1];
	uint64_t device, inode;
};

/*
 * Fills in where the socket will be: CONTROL as GUESTPROF_CONTROL ("1", a directory, or a file);
 * RUNTIME, TEMPORARY: values of XDG_RUNTIME_DIR and TMPDIR, or NULL. 0 or -ENAMETOOLONG.
 */
int place_configure(struct place *place, const char *control, int64_t gid, const char *runtime,
		    const char *temporary);

/*
 * A listening socket there, not blocking, its mode 0600, or 0660 and the group's. The descriptor,
 * or negative errno: -EADDRINUSE when another process listens there already.
 */
int place_listen(struct place *place);

/* Removes the socket, if it is still ours. */
void place_remove(struct place *place);

#endif /* PRELOAD_CONTROL_PLACE_H */
