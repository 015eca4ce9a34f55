/* SPDX-License-Identifier: MIT */
/* names.c - an open-addressing hash table over owned texts, at most half full. Threads: one at a
 * time. */
#include "preload/read/names.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* FNV-1a, then mixed: its low bits alone are weak. */
static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *text != '\0'; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3;
	return (h ^ h >> 29) * 0x9e3779b97f4a7c15 >> 20;
}

static uint32_t *find_slot(const struct names *names, const char *text)
{
	size_t at = hash(text) & (names->slot_capacity - 1);

	while (names->slots[at] != 0 && strcmp(names->texts[names->slots[at] - 1], text) != 0)
		at = (at + 1) & (names->slot_capacity - 1);
	return &names->slots[at];
}

static bool grow_slots(struct names *names)
{
	uint32_t *old = names->slots;
	size_t capacity = names->slot_capacity == 0 ? FIRST_CAPACITY : names->slot_capacity * 2;

	names->slots = calloc(capacity, sizeof(*names->slots));
	if (names->slots == NULL) {
		names->slots = old;
		return false;
	}
	free(old);
	names->slot_capacity = capacity;
	for (uint32_t i = 0; i < names->count; i++)
		*find_slot(names, names->texts[i]) = i + 1;
	return true;
}

static bool grow_texts(struct names *names)
{
	size_t capacity = names->text_capacity == 0 ? FIRST_CAPACITY : names->text_capacity * 2;
	char **texts = realloc(names->texts, capacity * sizeof(*texts));

	if (texts == NULL)
		return false;
	names->texts = texts;
	names->text_capacity = capacity;
	return true;
}

uint32_t names_id(struct names *names, const char *text)
{
	uint32_t *slot;

	if (names->count == NAMES_NONE - 1)
		return NAMES_NONE;
	if ((size_t)names->count * 2 >= names->slot_capacity && !grow_slots(names))
		return NAMES_NONE;
	slot = find_slot(names, text);
	if (*slot != 0)
		return *slot - 1;
	if (names->count == names->text_capacity && !grow_texts(names))
		return NAMES_NONE;
	names->texts[names->count] = strdup(text);
	if (names->texts[names->count] == NULL)
		return NAMES_NONE;
	*slot = ++names->count;
	return names->count - 1;
}

uint32_t names_find(const struct names *names, const char *text)
{
	return names->slot_capacity == 0 ? NAMES_NONE : *find_slot(names, text) - 1;
}

void names_free(struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->texts[i]);
	free(names->texts);
	free(names->slots);
	*names = (struct names){ 0 };
}
