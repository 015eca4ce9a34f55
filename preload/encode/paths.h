/* SPDX-License-Identifier: MIT */
/*
 * paths.h - the name of a recording from a pattern, and the directory it goes to.
 *
 * The pattern is the operator's; what is put into it (program, variables) is not trusted to stay in
 * the directory: slashes and control characters become `_`, but in a %{VAR} that begins the
 * pattern.
 */
#ifndef PRELOAD_ENCODE_PATHS_H
#define PRELOAD_ENCODE_PATHS_H

#include <limits.h>

#include "symtab/base.h"

/* What patterns stand for. */
struct path_facts {
	char program[64]; /* as the process was called: "python3" */
	char host[65];
	uint64_t pid, start_s;
	const char *environment; /* as /proc/PID/environ, NAME=value strings; NULL */
	size_t environment_size;
};

/* Facts of this process. free() facts->environment. */
void paths_facts(struct path_facts *facts, uint64_t start_unix_ns);

/* The value of NAME in the facts' environment, NULL when it is not there. */
const char *paths_variable(const struct path_facts *facts, const char *name, size_t name_size);

/* The longest stem of a file name, so that numbers and suffixes fit behind it. */
enum { PATHS_STEM_MAX = 200 };

struct path {
	char directory[PATH_MAX]; /* absolute */
	char stem[PATHS_STEM_MAX +
		  1]; /* file name without .pb and .gz; PATHS_SEQUENCE stands for %n */
	bool has_gz;  /* the pattern ended in .gz */
	bool has_pb;  /* ... in .pb or .pb.gz */
};

enum { PATHS_SEQUENCE = 1 };

/*
 * Expands PATTERN, relative to WORKING_DIRECTORY (NULL: "/"). Names a directory (a slash at its
 * end): the default name in it. LITERAL: percent signs mean nothing. Returns 0, or -ENAMETOOLONG.
 */
int paths_expand(const char *pattern, const struct path_facts *facts, const char *working_directory,
		 bool literal, struct path *path);

/*
 * File name number TRY (0, 1, ...) of PATH: stem, `.TRY` but for the first (or TRY + 1 in place of
 * the sequence), SUFFIX. OUT has NAME_MAX + 1 bytes.
 */
void paths_candidate(const struct path *path, unsigned int try, const char *suffix, char *out);

#endif /* PRELOAD_ENCODE_PATHS_H */
