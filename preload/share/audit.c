/* SPDX-License-Identifier: MIT */
/* audit.c - tells what a file is, and walks what is only text. Threads: one at a time. */
#include "preload/share/audit.h"

#include "preload/encode/pb.h"
#include "preload/encode/profile_fields.h"
#include "preload/share/audit_texts.h"
#include "preload/share/sharedname.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- findings -------------------------------------------------------------------------------- */

void audit_found(struct audit *audit, const char *where, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	audit->found_count++;
	if (audit->found != NULL)
		audit->found(audit->context, where, text);
}

int audit_unreadable(struct audit *audit, const char *format, ...)
{
	va_list args;

	if (audit->why[0] != '\0')
		return -EBADMSG;
	va_start(args, format);
	vsnprintf(audit->why, sizeof(audit->why), format, args);
	va_end(args);
	return -EBADMSG;
}

/* `0x7f12345678`: ten digits and more are where something lies in a process. */
static bool has_address(const char *text)
{
	for (const char *at = strstr(text, "0x"); at != NULL; at = strstr(at + 2, "0x")) {
		if (strspn(at + 2, "0123456789abcdefABCDEF") >= 10)
			return true;
	}
	return false;
}

void audit_text(struct audit *audit, const char *where, const char *text)
{
	const char *other = audit->texts != NULL ? audit_texts_find(audit->texts, text) : NULL;

	if (has_address(text))
		audit_found(audit, where, "an address: \"%.200s\"", text);
	if (other != NULL && strcmp(other, text) == 0)
		audit_found(audit, where, "a text of somebody else's: \"%.200s\"", text);
	else if (other != NULL)
		audit_found(audit, where, "a text of somebody else's, \"%.100s\", in \"%.200s\"",
			    other, text);
}

void audit_number(struct audit *audit, const char *where, uint64_t number)
{
	if (audit->texts != NULL && audit_texts_has_number(audit->texts, number))
		audit_found(audit, where, "a number of somebody else's: %llu",
			    (unsigned long long)number);
}

/* Length of NAME without `@HASH`. */
static size_t length_without_hash(const char *name)
{
	size_t length = strlen(name);

	if (length > SHAREDNAME_HASH + 1 && name[length - SHAREDNAME_HASH - 1] == '@' &&
	    strspn(name + length - SHAREDNAME_HASH, "0123456789abcdef") == SHAREDNAME_HASH)
		length -= SHAREDNAME_HASH + 1;
	return length;
}

bool audit_is_module(const struct audit *audit, const char *name)
{
	const struct selection *selection = audit->selection;
	size_t length = length_without_hash(name), wanted;
	const char *end;

	if (selection->by == SELECTION_LABEL || strcmp(name, selection->value) == 0)
		return true;
	end = selection->by == SELECTION_INSTANCE ? strrchr(selection->value, '#') : NULL;
	wanted = end != NULL ? (size_t)(end - selection->value) : strlen(selection->value);
	if (wanted == strlen(name) && strncmp(name, selection->value, wanted) == 0)
		return true;
	/* As the recording shows it: the bare name, or with labels or more hashes behind it. */
	if (wanted < length || strncmp(name, selection->value, length) != 0)
		return false;
	return wanted == length || selection->value[length] == '{' ||
	       strncmp(selection->value, name, strlen(name)) == 0;
}

/* ---- formats --------------------------------------------------------------------------------- */

static bool is_profile(const uint8_t *bytes, size_t size)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	bool has_strings = false, has_types = false;
	struct pb_field field;

	for (int i = 0; i < 4096 && pb_next(&top, &field); i++) {
		has_strings |= field.number == PROFILE_STRING_TABLE && field.bytes != NULL;
		has_types |= field.number == PROFILE_SAMPLE_TYPE && field.bytes != NULL;
		if (has_strings && has_types)
			return true;
	}
	return false;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' && bytes[i] != '\n' && bytes[i] != '\t')
			return false;
	}
	return true;
}

/* Lines of `FRAME;FRAME NUMBER`. */
static int walk_folded(struct audit *audit, const uint8_t *bytes, size_t size)
{
	const char *at = (const char *)bytes, *end = at + size;

	for (unsigned line = 1; at < end; line++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((next != NULL ? next : end) - at);
		char *text = strndup(at, length), *rest = text, *frame, where[32];

		if (text == NULL)
			return -ENOMEM;
		snprintf(where, sizeof(where), "line %u", line);
		if (strrchr(text, ' ') != NULL)
			*strrchr(text, ' ') = '\0';
		while ((frame = strsep(&rest, ";")) != NULL)
			audit_text(audit, where, frame);
		free(text);
		at += length + 1;
	}
	return 0;
}

int audit_inflated(struct audit *audit, const uint8_t *bytes, size_t size, unsigned depth)
{
	size_t space = 0;

	if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return audit_gzip(audit, bytes, size, depth);
	while (space < size && isspace(bytes[space]))
		space++;
	if (space == size)
		return audit_unreadable(audit, "the file is empty");
	if (bytes[space] == '{' || bytes[space] == '[')
		return audit_json(audit, "", bytes, size);
	if (bytes[space] == '<')
		return audit_html(audit, bytes, size);
	if (is_profile(bytes, size))
		return audit_pprof(audit, bytes, size);
	if (is_text(bytes, size))
		return walk_folded(audit, bytes, size);
	return audit_unreadable(audit, "no profile, JSON, html or folded stacks");
}

int audit_bytes(struct audit *audit, const uint8_t *bytes, size_t size)
{
	return audit_inflated(audit, bytes, size, 0);
}
