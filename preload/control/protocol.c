/* SPDX-License-Identifier: MIT */
/* protocol.c - lines of the control socket, taken apart and put together. Threads: any. */
#include "preload/control/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "guestprof/";
static const char digits[] = "0123456789ABCDEF";

const char *const protocol_error_names[PROTOCOL_ERROR_COUNT] = {
	[PROTOCOL_BAD_REQUEST] = "bad_request", [PROTOCOL_DENIED] = "denied",
	[PROTOCOL_ALREADY] = "already",		[PROTOCOL_NOT_RUNNING] = "not_running",
	[PROTOCOL_NOTHING] = "nothing",		[PROTOCOL_BUSY] = "busy",
	[PROTOCOL_FAILED] = "failed",
};

/* ---- reading --------------------------------------------------------------------------------- */

static int digit_value(char digit)
{
	const char *at = digit != '\0' ? strchr(digits, digit) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* Undoes %XX in place. */
static int decode(char *text)
{
	char *out = text;

	for (; *text != '\0'; text++, out++) {
		int high, low;

		*out = *text;
		if (*text != '%')
			continue;
		high = digit_value(text[1]);
		low = high >= 0 ? digit_value(text[2]) : -1;
		if (low < 0 || high + low == 0)
			return -EINVAL;
		*out = (char)(high << 4 | low);
		text += 2;
	}
	*out = '\0';
	return 0;
}

static bool is_printable(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	}
	return true;
}

/* The text up to the next space, which is ended there; *REST: what follows, NULL at the end. */
static char *next_word(char **rest)
{
	char *word = *rest;
	char *space = strchr(word, ' ');

	*rest = space != NULL ? space + 1 : NULL;
	if (space != NULL)
		*space = '\0';
	return word;
}

static int add_pair(struct protocol_line *line, char *word)
{
	char *equals = strchr(word, '=');

	if (equals == NULL || equals == word || line->count == PROTOCOL_PAIRS_MAX)
		return -EINVAL;
	*equals = '\0';
	if (strchr(equals + 1, '=') != NULL)
		return -EINVAL;
	line->pairs[line->count].key = word;
	line->pairs[line->count++].value = equals + 1;
	return decode(equals + 1);
}

static int check_version(const char *word)
{
	char *end;
	unsigned long version;

	if (strncmp(word, name, sizeof(name) - 1) != 0)
		return -EINVAL;
	word += sizeof(name) - 1;
	if (*word < '0' || *word > '9')
		return -EINVAL;
	version = strtoul(word, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	return version == PROTOCOL_VERSION ? 0 : -EPROTONOSUPPORT;
}

int protocol_parse(struct protocol_line *line, const char *bytes, size_t size)
{
	char *rest = line->text;
	int error;

	line->count = 0;
	line->word = "";
	if (size >= sizeof(line->text) || !is_printable(bytes, size))
		return -EINVAL;
	memcpy(line->text, bytes, size);
	line->text[size] = '\0';
	error = check_version(next_word(&rest));
	if (error != 0 || rest == NULL)
		return error != 0 ? error : -EINVAL;
	line->word = next_word(&rest);
	while (error == 0 && rest != NULL)
		error = add_pair(line, next_word(&rest));
	return error == 0 && line->word[0] == '\0' ? -EINVAL : error;
}

const char *protocol_value(const struct protocol_line *line, const char *key)
{
	for (size_t i = 0; i < line->count; i++) {
		if (strcmp(line->pairs[i].key, key) == 0)
			return line->pairs[i].value;
	}
	return NULL;
}

int protocol_number(const struct protocol_line *line, const char *key, uint64_t limit,
		    uint64_t *number)
{
	const char *value = protocol_value(line, key);
	unsigned long long parsed;
	char *end;

	if (value == NULL)
		return -ENOENT;
	if (*value < '0' || *value > '9')
		return -EINVAL;
	errno = 0;
	parsed = strtoull(value, &end, 10);
	if (*end != '\0' || errno != 0 || parsed > limit)
		return -EINVAL;
	*number = parsed;
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Room for SIZE bytes, and for the newline. */
static bool has_room(struct protocol_text *text, size_t size)
{
	if (text->size + size + 1 > sizeof(text->bytes))
		text->is_full = true;
	return !text->is_full;
}

static void put(struct protocol_text *text, const char *bytes, size_t size)
{
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

void protocol_begin(struct protocol_text *text, const char *word)
{
	text->is_full = false;
	text->size = (size_t)snprintf(text->bytes, sizeof(text->bytes), "%s%d %.64s", name,
				      PROTOCOL_VERSION, word);
}

static bool is_plain(char byte)
{
	return byte > ' ' && byte <= '~' && byte != '%' && byte != '=';
}

void protocol_add(struct protocol_text *text, const char *key, const char *value)
{
	size_t size = strlen(key) + 2;

	for (const char *at = value; *at != '\0'; at++)
		size += is_plain(*at) ? 1 : 3;
	if (!has_room(text, size))
		return;
	put(text, " ", 1);
	put(text, key, strlen(key));
	put(text, "=", 1);
	for (; *value != '\0'; value++) {
		unsigned char byte = (unsigned char)*value;
		char escape[3] = { '%', digits[byte >> 4], digits[byte & 15] };

		if (is_plain(*value))
			put(text, value, 1);
		else
			put(text, escape, sizeof(escape));
	}
}

void protocol_add_number(struct protocol_text *text, const char *key, uint64_t number)
{
	char value[24];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	protocol_add(text, key, value);
}

void protocol_end(struct protocol_text *text)
{
	put(text, "\n", 1); /* has_room() has kept its place */
}
