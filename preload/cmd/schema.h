/* SPDX-License-Identifier: MIT */
/*
 * schema.h - what the JSON of all commands has in common.
 *
 * One object, which begins with "schema": "guestprof.NAME/1" and "guestprof_version". Everything
 * that is counted or measured is a whole number: times in nanoseconds, shares in millionths. What
 * is unknown is null. Keys never change their meaning and never go; new ones are added under the
 * same number. preload/cmd/schema/NAME.1.json is the JSON Schema (draft 2020-12), installed in
 * share/guestprof/schema/. NAME: report, diff, list, status, doctor.
 */
#ifndef PRELOAD_CMD_SCHEMA_H
#define PRELOAD_CMD_SCHEMA_H

#include "preload/export/json.h"

/* Begins the object; json_end_object() ends it. */
void schema_begin(struct json *json, const char *name);

/* JSON's readers take signed numbers of 64 bits: what is greater becomes the greatest. */
void schema_number(struct json *json, const char *key, uint64_t value);

/* The same where 0 says that it is unknown. */
void schema_known(struct json *json, const char *key, uint64_t value);

/* TEXT; null for "". */
void schema_text(struct json *json, const char *key, const char *text);

#endif /* PRELOAD_CMD_SCHEMA_H */
