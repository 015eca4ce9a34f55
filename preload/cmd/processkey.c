/* SPDX-License-Identifier: MIT */
/* processkey.c - from file names. Threads: any. */
#include "preload/cmd/processkey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void cut_end(char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	if (length > end_length && strcmp(text + length - end_length, end) == 0)
		text[length - end_length] = '\0';
}

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

char *processkey_of_file(const char *name, uint64_t pid)
{
	char *key = strdup(name), *dot, *before;
	char number[24];

	if (key == NULL)
		return NULL;
	cut_end(key, ".gz");
	cut_end(key, ".pb");
	snprintf(number, sizeof(number), "%" PRIu64, pid);
	dot = strrchr(key, '.');
	if (dot == NULL || !is_number(dot + 1))
		return key;
	*dot = '\0';
	before = strrchr(key, '.');
	if (before == NULL || strcmp(before + 1, number) != 0)
		*dot = '.';
	return key;
}
