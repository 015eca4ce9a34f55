/* SPDX-License-Identifier: MIT */
/*
 * report_json.h - the parts of the report for programs.
 */
#ifndef PRELOAD_CMD_REPORT_REPORT_JSON_H
#define PRELOAD_CMD_REPORT_REPORT_JSON_H

#include "preload/cmd/report/report.h"
#include "preload/export/json.h"

/* "groups", with their instances, and "by". */
void report_json_groups(struct json *json, const struct report *report);

/* "functions". */
void report_json_functions(struct json *json, const struct report *report);

/* "hottest_stack" and "tree". */
void report_json_stacks(struct json *json, const struct report *report);

/* "module", "name", "kind", "file" and "line" of FUNCTION, inside an object. */
void report_json_place(struct json *json, const struct totals_function *function);

#endif /* PRELOAD_CMD_REPORT_REPORT_JSON_H */
