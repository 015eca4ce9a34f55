/* SPDX-License-Identifier: MIT */
/*
 * control_fuzz.c - any bytes as a line of the control socket: taken apart within its bounds, and
 * what was taken apart can be put together again to the same.
 */
#include "preload/control/protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool is_within(const struct protocol_line *line, const char *text)
{
	return text >= line->text && text + strlen(text) < line->text + sizeof(line->text);
}

/* Keys are what they are; only values can hold any byte. */
static void put_together(const struct protocol_line *line, struct protocol_text *text)
{
	protocol_begin(text, line->word);
	for (size_t i = 0; i < line->count; i++)
		protocol_add(text, line->pairs[i].key, line->pairs[i].value);
	protocol_end(text);
}

static void compare(const struct protocol_line *line, const struct protocol_text *text)
{
	static struct protocol_line again;

	require(text->size <= sizeof(text->bytes) && text->bytes[text->size - 1] == '\n');
	require(memchr(text->bytes, '\n', text->size) == text->bytes + text->size - 1);
	require(protocol_parse(&again, text->bytes, text->size - 1) == 0);
	require(text->is_full || again.count == line->count);
	for (size_t i = 0; i < again.count; i++) {
		require(strcmp(again.pairs[i].key, line->pairs[i].key) == 0);
		require(strcmp(again.pairs[i].value, line->pairs[i].value) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct protocol_line line;
	static struct protocol_text text;
	uint64_t number;

	if (protocol_parse(&line, (const char *)bytes, size) != 0)
		return 0;
	require(line.count <= PROTOCOL_PAIRS_MAX && is_within(&line, line.word));
	for (size_t i = 0; i < line.count; i++) {
		require(is_within(&line, line.pairs[i].key) &&
			is_within(&line, line.pairs[i].value));
		require(protocol_value(&line, line.pairs[i].key) != NULL);
		if (protocol_number(&line, line.pairs[i].key, 1000, &number) == 0)
			require(number <= 1000);
	}
	if (strlen(line.word) > 64)
		return 0; /* longer than any that is sent */
	put_together(&line, &text);
	compare(&line, &text);
	return 0;
}
