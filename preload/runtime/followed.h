/* SPDX-License-Identifier: MIT */
/*
 * followed.h - files in which a host tells other profilers of the code that it makes.
 *
 * The host opens one and goes on writing; our thread reads what has come since. Such a file is in a
 * folder that anybody may write to, and its bytes are anybody's: it is read only when it is
 * regular, this user's, and the one that the host opened.
 */
#ifndef PRELOAD_RUNTIME_FOLLOWED_H
#define PRELOAD_RUNTIME_FOLLOWED_H

#include "symtab/base.h"

enum { FOLLOWED_WINDOW = 64 * 1024 };

struct followed_part {
	const uint8_t *bytes;
	size_t size;   /* all that is LEFT, or FOLLOWED_WINDOW */
	uint64_t left; /* to the end of the file, as yet */
	uint64_t at;   /* of the bytes in the file */
};

struct followed_format {
	const char *before, *behind; /* the process's number, in the file's name */
	/*
	 * Takes what is complete of PART, on our thread. Returns how much that was, which may be
	 * beyond SIZE; 0: nothing yet; -EINVAL: the rest is of no use. *STATE is the format's, 0
	 * where the file begins.
	 */
	int64_t (*take)(const struct followed_part *part, uint32_t *state);
};

/*
 * The host has opened PATH as DESCRIPTOR. Begins to follow it when FORMAT says that this is how it
 * is called: that is our first guest. A few comparisons for any other file. Within hook_begin().
 */
void followed_opened(const struct followed_format *format, const char *path, int descriptor);

/* Whether PATH is called as FORMAT says. No call but for a file that nearly is. */
bool followed_is_called(const struct followed_format *format, const char *path);

/* Our thread: reads on, a megabyte of each file at most. */
void followed_work(void);

/* Whatever the parent followed is not the child's. */
void followed_fork_child(void);

#endif /* PRELOAD_RUNTIME_FOLLOWED_H */
