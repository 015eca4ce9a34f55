/* SPDX-License-Identifier: MIT */
/* escape.c - decides which characters may be shown as they are, and shows the others by number.
 * Threads: any. */
#include "preload/read/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
	uint32_t first, last;
};

/* Ascending. From Unicode 15's Cc, Cf, Zl, Zp, Co, Mn/Me blocks and bidirectional classes R, AL,
 * AN. */
static const struct span hidden[] = {
	{ 0x0, 0x1f },	      { 0x7f, 0x9f },	    { 0xad, 0xad },	  { 0x300, 0x36f },
	{ 0x483, 0x489 },     { 0x590, 0x8ff },	    { 0xe31, 0xe31 },	  { 0xe34, 0xe3a },
	{ 0xe47, 0xe4e },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },	  { 0x180b, 0x180f },
	{ 0x1ab0, 0x1aff },   { 0x1dc0, 0x1dff },   { 0x2000, 0x200f },	  { 0x2028, 0x202f },
	{ 0x205f, 0x206f },   { 0x20d0, 0x20ff },   { 0x2800, 0x2800 },	  { 0x3000, 0x3000 },
	{ 0x302a, 0x302f },   { 0x3099, 0x309a },   { 0x3164, 0x3164 },	  { 0xd800, 0xf8ff },
	{ 0xfb1d, 0xfdff },   { 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f },	  { 0xfe70, 0xfeff },
	{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0xfffe, 0xffff },	  { 0x10800, 0x10fff },
	{ 0x1bca0, 0x1bca3 }, { 0x1d165, 0x1d182 }, { 0x1e800, 0x1efff }, { 0xe0000, 0x10ffff },
};

/* Two columns wide (Unicode's East Asian Width W and F, and emoji). */
static const struct span wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2e80, 0xa4cf },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },	  { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

static bool is_in(uint32_t point, const struct span *spans, size_t count)
{
	for (size_t i = 0; i < count && spans[i].first <= point; i++) {
		if (point <= spans[i].last)
			return true;
	}
	return false;
}

/* Length of the character at TEXT, in *POINT; 0 when it is no UTF-8 (RFC 3629: shortest form only).
 */
static size_t decode(const char *text, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t first = (uint8_t)text[0];
	size_t length = first < 0x80   ? 1
			: first < 0xc0 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
				       : 4;

	if (length <= 1) {
		*point = first;
		return length;
	}
	if (first > 0xf4)
		return 0;
	*point = first & (0xff >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | ((uint8_t)text[i] & 0x3f);
	}
	return *point < least[length] || *point > 0x10ffff ? 0 : length;
}

/* One character of TEXT, escaped, in OUT. Returns how many bytes of TEXT that was. */
static size_t escape_one(char out[16], const char *text, enum escape_style style)
{
	uint32_t point;
	size_t length = decode(text, &point);

	if (length == 0) {
		snprintf(out, 16, "\\x%02x", (uint8_t)*text);
		return 1;
	}
	if (point < 0xa0 && style == ESCAPE_SPACES && is_in(point, hidden, ARRAY_SIZE(hidden)))
		snprintf(out, 16, " ");
	else if (point < 0x80 && is_in(point, hidden, ARRAY_SIZE(hidden)))
		snprintf(out, 16, "\\x%02x", point);
	else if (is_in(point, hidden, ARRAY_SIZE(hidden)))
		snprintf(out, 16, "\\u{%x}", point);
	else
		snprintf(out, 16, "%.*s", (int)length, text);
	return length;
}

size_t escape_text(char *out, size_t size, const char *text, enum escape_style style)
{
	size_t used = 0;

	while (*text != '\0') {
		char one[16];
		size_t taken = escape_one(one, text, style), length = strlen(one);

		if (used + length >= size)
			break;
		memcpy(out + used, one, length);
		used += length;
		text += taken;
	}
	if (size != 0)
		out[used] = '\0';
	return used;
}

char *escape_new(const char *text, enum escape_style style)
{
	size_t size = strlen(text) * ESCAPE_GROWTH + 1;
	char *out = malloc(size);

	if (out != NULL)
		escape_text(out, size, text, style);
	return out;
}

static size_t columns_of(uint32_t point)
{
	return is_in(point, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

/* Bytes of ESCAPED that take at most COLUMNS; *USED: how many they take. */
static size_t bytes_within(const char *escaped, size_t columns, size_t *used)
{
	size_t at = 0;

	*used = 0;
	while (escaped[at] != '\0') {
		uint32_t point;
		size_t length = decode(escaped + at, &point);

		if (length == 0)
			length = point = 1;
		if (*used + columns_of(point) > columns)
			break;
		*used += columns_of(point);
		at += length;
	}
	return at;
}

size_t escape_columns(const char *escaped)
{
	size_t used;

	bytes_within(escaped, SIZE_MAX, &used);
	return used;
}

void escape_cut(char *escaped, size_t columns)
{
	static const char dots[] = "...";
	size_t all = escape_columns(escaped), used, skipped, head, tail;

	if (all <= columns)
		return;
	if (columns < 8) {
		escaped[bytes_within(escaped, columns, &used)] = '\0';
		return;
	}
	head = bytes_within(escaped, (columns - 3) / 2, &used);
	/* Skip so many columns that the rest fits; one more where a wide character straddles the
	 * edge. */
	tail = bytes_within(escaped, all - (columns - 3 - used), &skipped);
	while (escape_columns(escaped + tail) > columns - 3 - used)
		tail += bytes_within(escaped + tail, 2, &skipped);
	memmove(escaped + head + 3, escaped + tail, strlen(escaped + tail) + 1);
	memcpy(escaped + head, dots, 3);
}
