/* SPDX-License-Identifier: MIT */
/* called.c - compares names. Threads: any. */
#include "preload/read/called.h"

#include "preload/read/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_IDENTITY = 6 };

/* Are the first LENGTH bytes of WISH the NAME? */
static bool is_name(const char *name, const char *wish, size_t length)
{
	char *shown;
	bool is_same = strlen(name) == length && memcmp(name, wish, length) == 0;

	if (is_same || memchr(wish, '\\', length) == NULL)
		return is_same;
	shown = escape_new(name, ESCAPE_VISIBLE);
	is_same = shown != NULL && strlen(shown) == length && memcmp(shown, wish, length) == 0;
	free(shown);
	return is_same;
}

bool called_name(const char *name, const char *wish)
{
	return is_name(name, wish, strlen(wish));
}

size_t called_plain_length(const char *name)
{
	const char *at = strrchr(name, '@');

	if (at == NULL || at == name || strlen(at + 1) != SHORT_IDENTITY ||
	    strspn(at + 1, "0123456789abcdef") != SHORT_IDENTITY)
		return strlen(name);
	return (size_t)(at - name);
}

bool called_module(const char *name, const char *wish)
{
	size_t length = called_plain_length(name);
	char *plain;
	bool is_same = called_name(name, wish);

	if (is_same || name[length] == '\0')
		return is_same;
	plain = strndup(name, length);
	is_same = plain != NULL && called_name(plain, wish);
	free(plain);
	return is_same;
}

bool called_instance(const char *name, uint64_t pid, const char *wish)
{
	char number[32];
	size_t length = strlen(wish), end;

	if (name[0] == '\0' || called_name(name, wish))
		return name[0] != '\0';
	snprintf(number, sizeof(number), " (%" PRIu64 ")", pid);
	end = strlen(number);
	return length > end && strcmp(wish + length - end, number) == 0 &&
	       is_name(name, wish, length - end);
}

const char *called_label(const struct recording_label *labels, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	}
	return NULL;
}
