/* SPDX-License-Identifier: MIT */
/*
 * texts.h - the string table of a recording: each text once, numbered in order of first use.
 *
 * Number 0 is "", then the fixed ones (chunk.h). Bounded: a text beyond the bound is answered with
 * the number of `(other)`, which is always there. Texts live as long as the table.
 */
#ifndef PRELOAD_PROFILE_TEXTS_H
#define PRELOAD_PROFILE_TEXTS_H

#include "preload/profile/chunk.h"
#include "preload/profile/lookup.h"
#include "symtab/base.h"

enum { TEXT_OTHER = STRING_FIXED_COUNT, TEXTS_FIXED_COUNT };

struct texts_block;

struct texts {
	const char **rows;
	size_t count, capacity;
	struct lookup lookup;
	struct texts_block *block; /* newest */
	size_t memory, limit;	   /* bytes of text */
	bool is_full;
	/* What texts_add_raw() was last asked for, where that is short: the name of the thread
	 * whose ring is drained. */
	char recent[32];
	uint32_t recent_number;
};

/* 0 or -ENOMEM. LIMIT bounds the bytes of text. */
int texts_init(struct texts *texts, size_t limit);
void texts_fini(struct texts *texts);

/* The number of TEXT if it is there, else LOOKUP_NONE. */
uint32_t texts_find(const struct texts *texts, const char *text);

/* Has a text been answered with `(other)`? */
bool texts_are_full(const struct texts *texts);

/* The number of TEXT (valid UTF-8), or of its first SIZE bytes. */
uint32_t texts_add(struct texts *texts, const char *text);
uint32_t texts_add_sized(struct texts *texts, const char *text, size_t size);

/* The same for bytes from outside: utf8_clean(), at most 255 bytes of that. */
uint32_t texts_add_raw(struct texts *texts, const char *bytes);

/* The text BASE with SUFFIX behind it; a very long base is cut first. */
uint32_t texts_add_suffixed(struct texts *texts, uint32_t base, const char *suffix);

#endif /* PRELOAD_PROFILE_TEXTS_H */
