/* SPDX-License-Identifier: MIT */
/*
 * label_rules.h - the rules of GUESTPROF_LABEL and the lines of GUESTPROF_NAMES, in memory.
 */
#ifndef PRELOAD_PROFILE_LABEL_RULES_H
#define PRELOAD_PROFILE_LABEL_RULES_H

#include <regex.h>

#include "preload/profile/labels.h"

enum { LABEL_RULES_MAX = 32 };

struct label_rule {
	char key[LABEL_KEY_SIZE];
	bool is_of_name; /* else of the path */
	regex_t regex;
};

struct label_rules {
	struct label_rule rows[LABEL_RULES_MAX];
	size_t count;
};

/* What is wrong is logged, and left out. */
void label_rules_read(struct label_rules *rules, const char *text);
void label_lines_read(struct namelist *lines, const char *path);

void label_rules_free(struct label_rules *rules);

#endif /* PRELOAD_PROFILE_LABEL_RULES_H */
