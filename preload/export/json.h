/* SPDX-License-Identifier: MIT */
/*
 * json.h - writes JSON (RFC 8259) to an output: commas and quotes are its business, nesting the
 * caller's.
 *
 * KEY is NULL inside an array. Texts go through escape_text() first, so that what a viewer shows is
 * what the terminal shows; numbers are integers, or decimals with three places: never NaN.
 */
#ifndef PRELOAD_EXPORT_JSON_H
#define PRELOAD_EXPORT_JSON_H

#include "preload/export/output.h"

struct json {
	struct output *output;
	bool needs_comma;
	bool failed; /* no memory for a text */
	/* `<` is written as an escape: inside an element of HTML no tag can be seen in it. */
	bool is_in_html;
};

void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);
void json_text(struct json *json, const char *key, const char *text);
/* The same for a text that was escaped already. */
void json_escaped(struct json *json, const char *key, const char *escaped);
void json_integer(struct json *json, const char *key, int64_t value);
/* VALUE / 1000000 with three decimals: nanoseconds as milliseconds. */
void json_millionths(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* Many values at once: TEXT is valid JSON of our own. */
void json_raw(struct json *json, const char *key, const char *text);

#endif /* PRELOAD_EXPORT_JSON_H */
