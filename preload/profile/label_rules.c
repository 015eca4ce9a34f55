/* SPDX-License-Identifier: MIT */
/* label_rules.c - GUESTPROF_LABEL: patterns that make labels of paths and names. Threads: ours. */
#include "preload/profile/label_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"

enum { PATTERN_MAX = 1024 };

/* Takes a rule off *TEXT, up to a `;` that no backslash precedes, into RULE. False: too long. */
static bool take_rule(const char **text, char rule[PATTERN_MAX])
{
	size_t length = 0;

	for (; **text != '\0' && **text != ';'; ++*text) {
		if (**text == '\\' && (*text)[1] == ';')
			++*text;
		if (length < PATTERN_MAX)
			rule[length++] = **text;
	}
	*text += **text == ';';
	rule[length < PATTERN_MAX ? length : PATTERN_MAX - 1] = '\0';
	return length < PATTERN_MAX;
}

static const char *add_rule(struct label_rules *rules, const char *text)
{
	struct label_rule *rule = &rules->rows[rules->count];
	const char *equals = strchr(text, '='), *pattern;

	if (rules->count == LABEL_RULES_MAX)
		return "there are too many";
	if (equals == NULL || !namelist_key_is_good(text, (size_t)(equals - text)))
		return "no good key";
	*rule = (struct label_rule){ .is_of_name = strncmp(equals + 1, "name:", 5) == 0 };
	if (!rule->is_of_name && strncmp(equals + 1, "path:", 5) != 0)
		return "neither path: nor name:";
	pattern = equals + 6;
	snprintf(rule->key, sizeof(rule->key), "%.*s", (int)(equals - text), text);
	if (*pattern == '\0' || regcomp(&rule->regex, pattern, REG_EXTENDED) != 0)
		return "no good regular expression";
	rules->count++;
	return NULL;
}

void label_rules_read(struct label_rules *rules, const char *text)
{
	char rule[PATTERN_MAX];

	*rules = (struct label_rules){ .count = 0 };
	while (text != NULL && *text != '\0') {
		const char *why = take_rule(&text, rule) ? NULL : "it is too long";

		if (why == NULL && *rule != '\0')
			why = add_rule(rules, rule);
		if (why != NULL)
			log_line(LOG_ERROR, "GUESTPROF_LABEL: %.100s: %s; left out", rule, why);
	}
}

void label_rules_free(struct label_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		regfree(&rules->rows[i].regex);
	rules->count = 0;
}
