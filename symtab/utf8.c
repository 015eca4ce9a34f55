/* SPDX-License-Identifier: MIT */
/*
 * utf8.c - makes any bytes safe to print: valid UTF-8 without control characters.
 */
#include "symtab/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/fnv.h"

enum { HASH_DIGITS = 12 };

static const struct range {
	uint32_t first, last;
} hidden[] = {
	{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xd800, 0xdfff },
};

static bool is_hidden(uint32_t character)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hidden); i++)
		if (character >= hidden[i].first && character <= hidden[i].last)
			return true;
	return false;
}

/* The character at TEXT, whose lead byte announces LENGTH bytes; UINT32_MAX when malformed. */
static uint32_t decode(const uint8_t *text, size_t length)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t character = text[0] & (0x7f >> length);
	size_t i;

	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		character = character << 6 | (text[i] & 0x3f);
	}
	return character < smallest[length] || character > 0x10ffff ? UINT32_MAX : character;
}

size_t utf8_printable(const char *text, size_t length)
{
	uint8_t lead = (uint8_t)text[0];
	size_t needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	uint32_t character;

	if (lead < 0x80)
		return lead >= 0x20 && lead != 0x7f ? 1 : 0;
	if (lead < 0xc2 || lead > 0xf4 || needed > length)
		return 0;
	character = decode((const uint8_t *)text, needed);
	return character == UINT32_MAX || is_hidden(character) ? 0 : needed;
}

/* What stands for the byte: \xNN, or a backslash twice. Returns the length. */
static size_t put_byte(char *out, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	if (byte == '\\') {
		out[1] = '\\';
		return 2;
	}
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
	return 4;
}

static size_t escape(const char *text, size_t length, char *out, size_t size, bool doubles,
		     bool *whole)
{
	size_t at = 0, used = 0;

	while (at < length) {
		size_t character = utf8_printable(text + at, length - at);
		bool is_shown = character > 0 && !(doubles && text[at] == '\\');
		size_t needed = is_shown ? character : character > 0 ? 2 : 4;

		if (size == 0 || used + needed >= size)
			break;
		if (is_shown)
			memcpy(out + used, text + at, character);
		else
			put_byte(out + used, (uint8_t)text[at]);
		used += needed;
		at += character > 0 ? character : 1;
	}
	if (size > 0)
		out[used] = '\0';
	if (whole != NULL)
		*whole = at == length;
	return used;
}

size_t utf8_escape(const char *text, size_t length, char *out, size_t size, bool *whole)
{
	return escape(text, length, out, size, true, whole);
}

size_t utf8_clean(const char *text, size_t length, char *out, size_t size)
{
	return escape(text, length, out, size, false, NULL);
}

static size_t fit(const char *text, size_t length, const char *key, size_t key_length, char *out,
		  size_t size, bool doubles)
{
	bool is_whole;
	size_t used = escape(text, length, out, size, doubles, &is_whole);

	if (is_whole || size < HASH_DIGITS + 2)
		return used;
	used = escape(text, length, out, size - HASH_DIGITS - 1, doubles, NULL);
	snprintf(out + used, size - used, "~%0*" PRIx64, HASH_DIGITS,
		 fnv(FNV_START, key, key_length) >> (64 - 4 * HASH_DIGITS));
	return used + HASH_DIGITS + 1;
}

size_t utf8_fit(const char *text, size_t length, const char *key, size_t key_length, char *out,
		size_t size)
{
	return fit(text, length, key, key_length, out, size, true);
}

size_t utf8_fit_path(const char *path, size_t length, const char *key, size_t key_length, char *out,
		     size_t size)
{
	return fit(path, length, key, key_length, out, size, false);
}

static char *escape_new(const char *text, size_t length, bool doubles)
{
	char *out = length < SIZE_MAX / 8 ? malloc(4 * length + 1) : NULL;
	char *fitted;

	if (out == NULL)
		return NULL;
	fitted = realloc(out, escape(text, length, out, 4 * length + 1, doubles, NULL) + 1);
	return fitted != NULL ? fitted : out;
}

char *utf8_escape_new(const char *text, size_t length)
{
	return escape_new(text, length, true);
}

char *utf8_clean_new(const char *text, size_t length)
{
	return escape_new(text, length, false);
}
