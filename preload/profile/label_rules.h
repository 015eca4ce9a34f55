/* SPDX-License-Identifier: MIT */
/*
 * label_rules.h - the rules of GUESTPROF_LABEL and the lines of GUESTPROF_NAMES, in memory.
 */
#ifndef PRELOAD_PROFILE_LABEL_RULES_H
#define PRELOAD_PROFILE_LABEL_RULES_H

#include <regex.h>

#include "preload/profile/labels.h"

enum { LABEL_RULES_MAX = 32, LABEL_LINES_MAX = 10000 };

struct label_rule {
	char key[LABEL_KEY_SIZE];
	bool is_of_name; /* else of the path */
	regex_t regex;
};

struct label_rules {
	struct label_rule rows[LABEL_RULES_MAX];
	size_t count;
};

/* Of a names file. */
struct label_line {
	char identity[IDENTITY_SIZE]; /* or its beginning */
	char *name;		      /* NULL: none */
	struct label *labels;
	size_t label_count;
};

struct label_lines {
	struct label_line *rows;
	size_t count, capacity;
};

/* Whether KEY, of LENGTH bytes, may be a label's. */
bool label_key_is_good(const char *key, size_t length);

/* What is wrong is logged, and left out. */
void label_rules_read(struct label_rules *rules, const char *text);
void label_lines_read(struct label_lines *lines, const char *path);

void label_rules_free(struct label_rules *rules);
void label_lines_free(struct label_lines *lines);

/* The line for a module of IDENTITY, the first that fits; NULL. */
const struct label_line *label_lines_find(const struct label_lines *lines,
					  const struct identity *identity);

#endif /* PRELOAD_PROFILE_LABEL_RULES_H */
