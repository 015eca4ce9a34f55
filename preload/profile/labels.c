/* SPDX-License-Identifier: MIT */
/* labels.c - what the user says of modules: names and labels. Threads: ours. */
#include "preload/profile/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/label_rules.h"

enum { SUBJECT_MAX = 4096 }; /* of a path or name that a pattern is held against */

static struct {
	bool is_read; /* last: a child that was forked meanwhile reads again */
	struct label_rules rules;
	struct namelist lines;
} self;

static void read_once(const struct config *config)
{
	if (self.is_read)
		return;
	label_rules_read(&self.rules, config->label);
	label_lines_read(&self.lines, config->names);
	self.is_read = true;
}

void labels_add(struct labels *labels, const char *key, const char *value)
{
	size_t at = 0;

	while (at < labels->count && strcmp(labels->rows[at].key, key) < 0)
		at++;
	if (labels->count == LABELS_MAX ||
	    (at < labels->count && strcmp(labels->rows[at].key, key) == 0))
		return;
	memmove(&labels->rows[at + 1], &labels->rows[at],
		(labels->count - at) * sizeof(labels->rows[0]));
	labels->count++;
	snprintf(labels->rows[at].key, sizeof(labels->rows[at].key), "%s", key);
	snprintf(labels->rows[at].value, sizeof(labels->rows[at].value), "%s", value);
}

static void apply(const struct label_rule *rule, const char *subject, struct labels *labels)
{
	char text[SUBJECT_MAX], value[LABEL_VALUE_SIZE];
	regmatch_t found[2];
	const regmatch_t *part;

	snprintf(text, sizeof(text), "%s", subject);
	if (*text == '\0' || regexec(&rule->regex, text, 2, found, 0) != 0)
		return;
	part = rule->regex.re_nsub > 0 && found[1].rm_so >= 0 ? &found[1] : &found[0];
	snprintf(value, sizeof(value), "%.*s", (int)(part->rm_eo - part->rm_so),
		 text + part->rm_so);
	if (*value != '\0')
		labels_add(labels, rule->key, value);
}

void labels_of(const struct config *config, const struct module *module, struct labels *labels)
{
	const struct namelist_row *line;

	labels->name = NULL;
	labels->count = 0;
	if (config->label == NULL && config->names == NULL)
		return;
	read_once(config);
	line = namelist_find(&self.lines, module_identity_all(module));
	if (line != NULL) {
		labels->name = line->name;
		for (size_t i = 0; i < line->label_count; i++)
			labels_add(labels, line->labels[i].key, line->labels[i].value);
	}
	for (size_t i = 0; i < self.rules.count; i++)
		apply(&self.rules.rows[i],
		      self.rules.rows[i].is_of_name ? module_name(module) : module_path(module),
		      labels);
}
