/* SPDX-License-Identifier: MIT */
/* merge_names.c - names that mean one thing each, of recordings in which they mean several.
 * Threads: one at a time. */
#include "preload/read/merge_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_IDENTITY = 6, TRIES = 1000 }; /* hex digits, as in a recording */

const char *merge_text(struct merge *merge, const char *text)
{
	uint32_t id = names_id(&merge->texts, text);

	if (id == NAMES_NONE ||
	    rows_reserve(&merge->kept, &merge->kept_room, id, sizeof(*merge->kept)) != 0)
		return NULL;
	if (merge->kept[id] == NULL)
		merge->kept[id] = arena_text(&merge->arena, (const uint8_t *)text, strlen(text));
	return merge->kept[id];
}

/* How much of NAME is left when it ends in END. */
static size_t without(const char *name, size_t length, const char *end)
{
	size_t size = strlen(end);

	return size > 0 && length > size && memcmp(name + length - size, end, size) == 0
		       ? length - size
		       : length;
}

/* NAME as it was given, without what a recording puts behind it to tell it apart. Caller frees. */
static char *strip(const char *name, const char *identity, const char *labels)
{
	size_t length = strlen(name);
	char *end;

	if (*labels != '\0') {
		if (asprintf(&end, "{%.200s}", labels) < 0)
			return NULL;
		length = without(name, length, end);
		free(end);
	}
	if (strlen(identity) >= SHORT_IDENTITY) {
		if (asprintf(&end, "@%.*s", SHORT_IDENTITY, identity) < 0)
			return NULL;
		length = without(name, length, end);
		free(end);
	}
	return strndup(name, length);
}

/* Takes TEXT, and frees it. *SHOWN is set when nothing else is called so. */
static int try_name(struct merge *merge, struct merge_naming *naming, char *text,
		    const char **shown)
{
	const char *kept = text != NULL ? merge_text(merge, text) : NULL;
	uint32_t known = naming->shown.count, id;

	free(text);
	if (kept == NULL)
		return -ENOMEM;
	id = pairs_id(&naming->shown, (uintptr_t)kept, 0);
	if (id == PAIRS_NONE)
		return -ENOMEM;
	if (id == known)
		*shown = kept;
	return 0;
}

static char *make_name(const char *given, const char *identity, const char *labels, int try)
{
	char *text;
	int length;

	if (try == 0 && strlen(identity) >= SHORT_IDENTITY)
		length = asprintf(&text, "%s@%.*s", given, SHORT_IDENTITY, identity);
	else if (try <= 1 && *labels != '\0')
		length = asprintf(&text, "%s{%.200s}", given, labels);
	else
		length = asprintf(&text, "%s~%d", given, try + 1);
	return length < 0 ? NULL : text;
}

static const char *choose_name(struct merge *merge, struct merge_naming *naming, const char *name,
			       const char *given, const char *identity, const char *labels)
{
	const char *shown = NULL;
	int error = try_name(merge, naming, strdup(name), &shown);

	for (int try = 0; error == 0 && shown == NULL && try < TRIES; try++)
		error = try_name(merge, naming, make_name(given, identity, labels, try), &shown);
	return shown != NULL || error != 0 ? shown : merge_text(merge, name);
}

uint32_t merge_naming_find(struct merge *merge, struct merge_naming *naming, const char *name,
			   const char *identity, const char *labels, const char *key)
{
	char *given = strip(name, identity, labels);
	uint32_t given_id = given != NULL ? names_id(&merge->texts, given) : NAMES_NONE;
	uint32_t key_id = names_id(&merge->texts, key), known = naming->keys.count;
	uint32_t id = MERGE_NONE;

	if (given_id != NAMES_NONE && key_id != NAMES_NONE)
		id = pairs_id(&naming->keys, given_id, key_id);
	if (id != MERGE_NONE &&
	    rows_reserve(&naming->list, &naming->room, id, sizeof(*naming->list)) != 0)
		id = MERGE_NONE;
	if (id != MERGE_NONE && id == known) {
		naming->list[id].identity = merge_text(merge, identity);
		naming->list[id].shown = choose_name(merge, naming, name, given, identity, labels);
		if (naming->list[id].identity == NULL || naming->list[id].shown == NULL)
			id = MERGE_NONE;
	}
	free(given);
	return id;
}

void merge_naming_free(struct merge_naming *naming)
{
	pairs_free(&naming->keys);
	pairs_free(&naming->shown);
	free(naming->list);
}
