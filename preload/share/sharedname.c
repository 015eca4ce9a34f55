/* SPDX-License-Identifier: MIT */
/* sharedname.c - takes the neighbours out of names. Threads: any. */
#include "preload/share/sharedname.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/chunk.h"

static const char hex[] = "0123456789abcdef";

/* Length without one `@HASH` of IDENTITY at the end. */
static size_t without_hash(const char *shown, size_t length, const char *identity)
{
	size_t size = 1 + SHAREDNAME_HASH;

	if (length <= size || strnlen(identity, SHAREDNAME_HASH) < SHAREDNAME_HASH)
		return length;
	if (shown[length - size] != '@' ||
	    strncmp(shown + length - SHAREDNAME_HASH, identity, SHAREDNAME_HASH) != 0)
		return length;
	return length - size;
}

/*
 * Length without `{KEY=VALUE...}` at the end. The first bracket that can open it does: a value may
 * hold brackets, and is not to be told.
 */
static size_t without_labels(const char *shown, size_t length)
{
	static const char key[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	if (length == 0 || shown[length - 1] != '}')
		return length;
	for (size_t i = 1; i < length; i++) {
		size_t size = shown[i] == '{' ? strspn(shown + i + 1, key) : 0;

		if (size != 0 && shown[i + 1 + size] == '=')
			return i;
	}
	return length;
}

size_t sharedname_base(const char *shown, const char *identity)
{
	size_t length = strlen(shown), before;

	do {
		before = length;
		length = without_hash(shown, length, identity);
		length = without_labels(shown, length);
	} while (length != before);
	return length;
}

/* A terminated text of SIZE bytes at most; what does not fit is cut. */
static const char *keep(struct arena *arena, const char *text)
{
	return arena_text(arena, (const uint8_t *)text, strlen(text));
}

const char *sharedname_module(struct arena *arena, const char *shown, const char *identity)
{
	size_t base = sharedname_base(shown, identity);
	char *name = arena_alloc(arena, base + 2 + SHAREDNAME_HASH, 1);

	if (name == NULL)
		return NULL;
	memcpy(name, shown, base);
	if (strlen(identity) >= SHAREDNAME_HASH)
		sprintf(name + base, "@%.*s", SHAREDNAME_HASH, identity);
	return name;
}

/* `wasm-function[12]` or `wasm-code[0x40]`, which ends NAME behind a `!`; NULL. */
static const char *numbered_part(const char *name)
{
	static const char *const forms[][2] = { { "wasm-function[", "0123456789" },
						{ "wasm-code[0x", hex } };
	const char *part = strrchr(name, '!');

	if (part == NULL)
		return NULL;
	part++;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t length = strlen(forms[i][0]);

		if (strncmp(part, forms[i][0], length) != 0)
			continue;
		length += strspn(part + length, forms[i][1]);
		if (strcmp(part + length, "]") == 0)
			return part;
	}
	return NULL;
}

const char *sharedname_function(struct arena *arena, const char *name, const char *module,
				uint32_t core)
{
	const char *part = numbered_part(name), *kept;
	char *text;
	int length;

	if (strncmp(name, "[jit 0x", 7) == 0)
		return keep(arena, "[jit]");
	if (part == NULL)
		return name;
	if (core != 0 && core != UINT32_MAX)
		length = asprintf(&text, "%s/wasm[%u]!%s", module, core, part);
	else
		length = asprintf(&text, "%s!%s", module, part);
	if (length < 0) {
		arena->failed = true;
		return NULL;
	}
	kept = keep(arena, text);
	free(text);
	return kept;
}

static bool read_number(const char **at, uint64_t *number)
{
	size_t digits = strspn(*at, "0123456789");

	if (digits == 0 || digits > 18)
		return false;
	*number = strtoull(*at, NULL, 10);
	*at += digits;
	return true;
}

static bool is_end(const char *at)
{
	return *at == '\0' || strcmp(at, CHUNK_LIKELY) == 0;
}

bool sharedname_instance(const char *instance, uint64_t *loading, uint64_t *number)
{
	const char *at = strrchr(instance, '#');

	*loading = 1;
	if (at++ == NULL || !read_number(&at, number))
		return false;
	if (is_end(at))
		return true;
	*loading = *number;
	return *at++ == '.' && read_number(&at, number) && is_end(at);
}
