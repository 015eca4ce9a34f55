/* SPDX-License-Identifier: MIT */
/* schema.c - the head of every JSON object, and values that may be unknown. Threads: any. */
#include "preload/cmd/schema.h"

#include "preload/encode/recording.h"

#include <stdio.h>

void schema_begin(struct json *json, const char *name)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "guestprof.%.40s/1", name);
	json_begin_object(json, NULL);
	json_text(json, "schema", schema);
	json_text(json, "guestprof_version", RECORDING_LIBRARY_VERSION);
}

void schema_number(struct json *json, const char *key, uint64_t value)
{
	json_integer(json, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void schema_known(struct json *json, const char *key, uint64_t value)
{
	if (value != 0)
		schema_number(json, key, value);
	else
		json_null(json, key);
}

void schema_text(struct json *json, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_text(json, key, text);
	else
		json_null(json, key);
}
