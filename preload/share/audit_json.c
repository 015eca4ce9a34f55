/* SPDX-License-Identifier: MIT */
/*
 * audit_json.c - every value of a JSON text (RFC 8259), with where it is: `meta.extra[0].label`.
 *
 * What exports have no value for they give as 0, "", or a word of their own, under a known key.
 */
#include "preload/share/audit_json.h"

#include "preload/encode/pb.h"
#include "preload/share/audit.h"
#include "preload/share/shared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, PATH_SIZE = 1024 };

struct walk {
	struct audit *audit;
	const uint8_t *start, *at, *end;
	char path[PATH_SIZE];
	size_t path_length;
	struct pb_writer key, text, label; /* scratch; label: of the object that is walked */
};

static int walk_value(struct walk *walk, const char *key, unsigned depth);

static int bad(struct walk *walk)
{
	return audit_unreadable(walk->audit, "byte %zu: damaged JSON",
				(size_t)(walk->at - walk->start));
}

static void skip_space(struct walk *walk)
{
	while (walk->at < walk->end && strchr(" \t\r\n", *walk->at) != NULL && *walk->at != '\0')
		walk->at++;
}

/* Is C next? Then it is taken. */
static bool take(struct walk *walk, char c)
{
	skip_space(walk);
	if (walk->at == walk->end || *walk->at != (uint8_t)c)
		return false;
	walk->at++;
	return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

static void put_byte(struct pb_writer *text, unsigned byte)
{
	uint8_t one = (uint8_t)byte;

	pb_append(text, &one, 1);
}

static void put_character(struct pb_writer *text, uint32_t code)
{
	if (code == 0) {
		put_byte(text, '?');
	} else if (code < 0x80) {
		put_byte(text, code);
	} else if (code < 0x800) {
		put_byte(text, 0xc0 | code >> 6);
		put_byte(text, 0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		put_byte(text, 0xe0 | code >> 12);
		put_byte(text, 0x80 | (code >> 6 & 0x3f));
		put_byte(text, 0x80 | (code & 0x3f));
	} else {
		put_byte(text, 0xf0 | code >> 18);
		put_byte(text, 0x80 | (code >> 12 & 0x3f));
		put_byte(text, 0x80 | (code >> 6 & 0x3f));
		put_byte(text, 0x80 | (code & 0x3f));
	}
}

static bool take_hex(struct walk *walk, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, walk->at++) {
		int digit = walk->at < walk->end ? *walk->at | 0x20 : 0;

		if (digit >= '0' && digit <= '9')
			*code = *code << 4 | (uint32_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			*code = *code << 4 | (uint32_t)(digit - 'a' + 10);
		else
			return false;
	}
	return true;
}

static int take_escape(struct walk *walk, struct pb_writer *text)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	uint32_t code, low;
	const char *found;

	if (walk->at == walk->end)
		return bad(walk);
	found = *walk->at != '\0' ? strchr(names, *walk->at) : NULL;
	if (found != NULL) {
		put_byte(text, (unsigned char)meant[found - names]);
		walk->at++;
		return 0;
	}
	if (*walk->at++ != 'u' || !take_hex(walk, &code))
		return bad(walk);
	if (code >= 0xd800 && code < 0xdc00 && walk->end - walk->at >= 6 && walk->at[0] == '\\' &&
	    walk->at[1] == 'u') {
		walk->at += 2;
		if (!take_hex(walk, &low))
			return bad(walk);
		code = 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff);
	}
	put_character(text, code);
	return 0;
}

/* The string that begins at the next quote, terminated, in TEXT. */
static int take_string(struct walk *walk, struct pb_writer *text)
{
	int error = 0;

	text->size = 0;
	if (!take(walk, '"'))
		return bad(walk);
	while (error == 0 && walk->at < walk->end && *walk->at != '"') {
		uint8_t byte = *walk->at++;

		if (byte == '\\')
			error = take_escape(walk, text);
		else if (byte < ' ')
			return bad(walk);
		else
			put_byte(text, byte);
	}
	if (error != 0)
		return error;
	if (walk->at++ == walk->end)
		return bad(walk);
	put_byte(text, '\0');
	return text->error;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* Adds to the path; returns its length of before, for leave(). A path that is too long is cut. */
static size_t enter(struct walk *walk, const char *format, const char *key, size_t index)
{
	size_t length = walk->path_length, room = sizeof(walk->path) - length;
	char part[64];

	if (key != NULL)
		snprintf(part, sizeof(part), format, length == 0 ? "" : ".", key);
	else
		snprintf(part, sizeof(part), "[%zu]", index);
	snprintf(walk->path + length, room, "%s", part);
	walk->path_length = strlen(walk->path);
	return length;
}

static void leave(struct walk *walk, size_t length)
{
	walk->path_length = length;
	walk->path[length] = '\0';
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *label_of(const struct walk *walk)
{
	return walk->label.size != 0 ? (const char *)walk->label.bytes : "";
}

static int walk_string(struct walk *walk, const char *key)
{
	int error = take_string(walk, &walk->text);
	const char *text;

	if (error != 0)
		return error;
	text = (const char *)walk->text.bytes;
	if (key != NULL && strcmp(key, "label") == 0) {
		walk->label.size = 0;
		pb_append(&walk->label, text, walk->text.size);
		error = walk->label.error;
	}
	audit_json_text(walk->audit, walk->path, key, error == 0 ? label_of(walk) : "", text);
	return error;
}

static int walk_number(struct walk *walk, const char *key)
{
	const uint8_t *start = walk->at;
	char text[64];
	size_t size;

	while (walk->at < walk->end && *walk->at != '\0' &&
	       strchr("+-.eE0123456789", *walk->at) != NULL)
		walk->at++;
	size = (size_t)(walk->at - start);
	if (size == 0 || size >= sizeof(text))
		return bad(walk);
	memcpy(text, start, size);
	text[size] = '\0';
	audit_json_number(walk->audit, walk->path, key, label_of(walk), text);
	return 0;
}

static int walk_word(struct walk *walk)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(walk->end - walk->at) >= length &&
		    memcmp(walk->at, words[i], length) == 0) {
			walk->at += length;
			return 0;
		}
	}
	return bad(walk);
}

/* An array's values go by the array's key. */
static int walk_array(struct walk *walk, const char *key, unsigned depth)
{
	walk->at++;
	if (take(walk, ']'))
		return 0;
	for (size_t i = 0;; i++) {
		size_t length = enter(walk, NULL, NULL, i);
		int error = walk_value(walk, key, depth + 1);

		leave(walk, length);
		if (error != 0)
			return error;
		if (take(walk, ']'))
			return 0;
		if (!take(walk, ','))
			return bad(walk);
	}
}

static int walk_member(struct walk *walk, unsigned depth)
{
	int error = take_string(walk, &walk->key);
	size_t length;
	char *key;

	if (error != 0)
		return error;
	key = strdup((const char *)walk->key.bytes);
	if (key == NULL)
		return -ENOMEM;
	length = enter(walk, "%s%.60s", key, 0);
	audit_json_key(walk->audit, walk->path, key);
	error = take(walk, ':') ? walk_value(walk, key, depth + 1) : bad(walk);
	leave(walk, length);
	free(key);
	return error;
}

static int walk_object(struct walk *walk, unsigned depth)
{
	walk->at++;
	walk->label.size = 0;
	if (take(walk, '}'))
		return 0;
	for (;;) {
		int error = walk_member(walk, depth);

		if (error != 0)
			return error;
		if (take(walk, '}'))
			break;
		if (!take(walk, ','))
			return bad(walk);
	}
	walk->label.size = 0;
	return 0;
}

static int walk_value(struct walk *walk, const char *key, unsigned depth)
{
	skip_space(walk);
	if (walk->at == walk->end || depth > DEPTH_MAX)
		return bad(walk);
	switch (*walk->at) {
	case '"':
		return walk_string(walk, key);
	case '{':
		return walk_object(walk, depth);
	case '[':
		return walk_array(walk, key, depth);
	case 't':
	case 'f':
	case 'n':
		return walk_word(walk);
	default:
		return walk_number(walk, key);
	}
}

int audit_json(struct audit *audit, const char *where, const uint8_t *bytes, size_t size)
{
	struct walk walk = { .audit = audit, .start = bytes, .at = bytes, .end = bytes + size };
	int error;

	snprintf(walk.path, sizeof(walk.path), "%s", where);
	walk.path_length = strlen(walk.path);
	error = walk_value(&walk, NULL, 0);
	skip_space(&walk);
	if (error == 0 && walk.at != walk.end)
		error = bad(&walk);
	pb_free(&walk.key);
	pb_free(&walk.text);
	pb_free(&walk.label);
	return error;
}
