/* SPDX-License-Identifier: MIT */
/* texts.c - the string table of a recording. Threads: ours. */
#include "preload/profile/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/array.h"
#include "symtab/utf8.h"

enum { BLOCK = 64 * 1024, RAW_MAX = 255, BASE_MAX = 400, ROWS_MAX = 1 << 24 };

struct texts_block {
	struct texts_block *next;
	size_t used, size;
	char bytes[];
};

struct key {
	const char *text;
	size_t size;
};

static bool is_equal(const void *table, uint32_t number, const void *key)
{
	const struct texts *texts = table;
	const struct key *wanted = key;
	const char *row = texts->rows[number];

	return strncmp(row, wanted->text, wanted->size) == 0 && row[wanted->size] == '\0';
}

/* SIZE bytes that live as long as the table. */
static char *keep(struct texts *texts, size_t size)
{
	struct texts_block *block = texts->block;
	size_t block_size = size > BLOCK ? size : BLOCK;

	if (block == NULL || block->size - block->used < size) {
		block = malloc(sizeof(*block) + block_size);
		if (block == NULL)
			return NULL;
		block->used = 0;
		block->size = block_size;
		block->next = texts->block;
		texts->block = block;
	}
	block->used += size;
	return block->bytes + block->used - size;
}

static int append(struct texts *texts, const struct key *key, uint64_t hash)
{
	const char **rows;
	char *copy;

	if (texts->memory + key->size + 1 > texts->limit || texts->count >= ROWS_MAX)
		return -ENOMEM;
	rows = array_room(texts->rows, &texts->capacity, texts->count, sizeof(*rows));
	if (rows == NULL)
		return -ENOMEM;
	texts->rows = rows;
	copy = keep(texts, key->size + 1);
	if (copy == NULL || lookup_add(&texts->lookup, hash, (uint32_t)texts->count) != 0)
		return -ENOMEM;
	memcpy(copy, key->text, key->size);
	copy[key->size] = '\0';
	rows[texts->count++] = copy;
	texts->memory += key->size + 1;
	return 0;
}

uint32_t texts_add_sized(struct texts *texts, const char *text, size_t size)
{
	struct key key = { text, strnlen(text, size) };
	uint64_t hash = lookup_hash(key.text, key.size);
	uint32_t number = lookup_find(&texts->lookup, hash, is_equal, texts, &key);

	if (number != LOOKUP_NONE)
		return number;
	if (append(texts, &key, hash) != 0) {
		texts->is_full = true;
		return TEXT_OTHER;
	}
	return (uint32_t)texts->count - 1;
}

uint32_t texts_find(const struct texts *texts, const char *text)
{
	struct key key = { text, strlen(text) };

	return lookup_find(&texts->lookup, lookup_hash(key.text, key.size), is_equal, texts, &key);
}

bool texts_are_full(const struct texts *texts)
{
	return texts->is_full;
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	return texts_add_sized(texts, text, strlen(text));
}

uint32_t texts_add_raw(struct texts *texts, const char *bytes)
{
	char clean[RAW_MAX + 1];
	size_t size = strlen(bytes);
	uint32_t number;

	/* "" is number 0, as in a table that was not asked yet. */
	if (strcmp(bytes, texts->recent) == 0)
		return texts->recent_number;
	number = texts_add_sized(texts, clean, utf8_clean(bytes, size, clean, sizeof(clean)));
	/* For what has no room now there may be some later. */
	if (size < sizeof(texts->recent) && number != TEXT_OTHER) {
		memcpy(texts->recent, bytes, size + 1);
		texts->recent_number = number;
	}
	return number;
}

uint32_t texts_add_suffixed(struct texts *texts, uint32_t base, const char *suffix)
{
	char whole[BASE_MAX + RAW_MAX + 1];
	const char *text = texts->rows[base];
	size_t size = strnlen(text, BASE_MAX), suffix_size = strnlen(suffix, RAW_MAX);

	/* Not within a character of UTF-8; the terminator is none. */
	while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
		size--;
	memcpy(whole, text, size);
	memcpy(whole + size, suffix, suffix_size);
	return texts_add_sized(texts, whole, size + suffix_size);
}

/* ---- life ------------------------------------------------------------------------------------ */

int texts_init(struct texts *texts, size_t limit)
{
	static const char *const fixed[] = {
#define ROW(id, text) text,
		CHUNK_STRINGS(ROW)
#undef ROW
			"(other)",
	};

	*texts = (struct texts){ .limit = SIZE_MAX };
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (texts_add(texts, fixed[i]) != i) {
			texts_fini(texts);
			return -ENOMEM;
		}
	}
	texts->limit = limit;
	return 0;
}

void texts_fini(struct texts *texts)
{
	while (texts->block != NULL) {
		struct texts_block *next = texts->block->next;

		free(texts->block);
		texts->block = next;
	}
	free(texts->rows);
	lookup_free(&texts->lookup);
	*texts = (struct texts){ 0 };
}
