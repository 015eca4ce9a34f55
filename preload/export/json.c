/* SPDX-License-Identifier: MIT */
/* json.c - a streaming JSON writer without a tree. Threads: one at a time. */
#include "preload/export/json.h"

#include "preload/read/escape.h"

#include <stdlib.h>
#include <string.h>

/* Escaped text is printable UTF-8: only these two need a backslash (RFC 8259, 7). */
static void quote(struct json *json, const char *escaped)
{
	const char *special = json->is_in_html ? "\"\\<" : "\"\\";

	output_text(json->output, "\"");
	while (*escaped != '\0') {
		size_t plain = strcspn(escaped, special);

		output_bytes(json->output, escaped, plain);
		escaped += plain;
		if (*escaped == '<') {
			output_text(json->output, "\\u003c");
			escaped++;
		} else if (*escaped != '\0') {
			char pair[2] = { '\\', *escaped++ };

			output_bytes(json->output, pair, sizeof(pair));
		}
	}
	output_text(json->output, "\"");
}

static void quote_text(struct json *json, const char *text)
{
	char *escaped = escape_new(text, ESCAPE_VISIBLE);

	if (escaped == NULL)
		json->failed = true;
	quote(json, escaped != NULL ? escaped : "");
	free(escaped);
}

static void begin_value(struct json *json, const char *key)
{
	if (json->needs_comma)
		output_text(json->output, ",");
	json->needs_comma = true;
	if (key != NULL) {
		quote_text(json, key);
		output_text(json->output, ":");
	}
}

void json_begin_object(struct json *json, const char *key)
{
	begin_value(json, key);
	output_text(json->output, "{");
	json->needs_comma = false;
}

void json_end_object(struct json *json)
{
	output_text(json->output, "}");
	json->needs_comma = true;
}

void json_begin_array(struct json *json, const char *key)
{
	begin_value(json, key);
	output_text(json->output, "[");
	json->needs_comma = false;
}

void json_end_array(struct json *json)
{
	output_text(json->output, "]");
	json->needs_comma = true;
}

void json_text(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	quote_text(json, text);
}

void json_escaped(struct json *json, const char *key, const char *escaped)
{
	begin_value(json, key);
	quote(json, escaped);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	if (value < 0)
		output_text(json->output, "-");
	output_number(json->output, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_millionths(struct json *json, const char *key, uint64_t value)
{
	char decimals[] = { '.', (char)('0' + value / 100000 % 10),
			    (char)('0' + value / 10000 % 10), (char)('0' + value / 1000 % 10) };

	begin_value(json, key);
	output_number(json->output, value / 1000000);
	output_bytes(json->output, decimals, sizeof(decimals));
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_raw(json, key, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	json_raw(json, key, "null");
}

void json_raw(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	output_text(json->output, text);
}
