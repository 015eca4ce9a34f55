/* SPDX-License-Identifier: MIT */
/* doctor_show.c - a doctor's answer for people, and for programs (guestprof.doctor/1). */
#include "preload/cmd/doctor/doctor.h"

#include "preload/cmd/report/report_text.h"
#include "preload/cmd/schema.h"
#include "preload/read/escape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMIT] = "limit",
	[DOCTOR_NO] = "no",
};

/* ---- for people ------------------------------------------------------------------------------ */

/* Columns of verdict and what, with the spaces behind them. */
enum { HEAD_COLUMNS = 19 };

/* What of TEXT goes into one line of COLUMNS: up to a space; a word that is longer is whole. */
static size_t line_length(const char *text, size_t columns)
{
	size_t length = strlen(text), cut = columns;

	if (length <= columns)
		return length;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	return cut != 0 ? cut : strcspn(text, " ");
}

/* Paths are not cut: they are to be copied. */
static void show_wrapped(const char *text)
{
	const char *gap = "";

	while (*text != '\0') {
		size_t length = line_length(text, REPORT_COLUMNS - HEAD_COLUMNS);

		printf("%s%.*s\n", gap, (int)length, text);
		text += length;
		text += strspn(text, " ");
		gap = "                   ";
	}
}

static int show_row(const struct doctor_row *row)
{
	char *whole, *escaped;

	if (asprintf(&whole, "%s%s%s", row->why, row->cure != NULL ? " -> " : "",
		     row->cure != NULL ? row->cure : "") < 0)
		return -ENOMEM;
	escaped = escape_new(whole, ESCAPE_VISIBLE);
	free(whole);
	if (escaped == NULL)
		return -ENOMEM;
	printf("%-5s  %-10s  ", verdicts[row->verdict], row->what);
	show_wrapped(escaped);
	free(escaped);
	return 0;
}

static const char *conclusion(enum doctor_verdict verdict)
{
	switch (verdict) {
	case DOCTOR_OK:
		return "all will be seen";
	case DOCTOR_LIMIT:
		return "seen, with the limits above";
	default:
		return "nothing will be seen";
	}
}

int doctor_show_text(const struct doctor *doctor)
{
	enum doctor_verdict worst = doctor_worst(doctor);

	for (size_t i = 0; i < doctor->row_count; i++) {
		if (show_row(&doctor->rows[i]) != 0)
			return -ENOMEM;
	}
	printf("%-5s  %-10s  %s\n", verdicts[worst], "in all", conclusion(worst));
	return fflush(stdout) == 0 ? 0 : -errno;
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void write_subject(struct json *json, const struct doctor *doctor)
{
	if (doctor->command != NULL) {
		json_begin_array(json, "command");
		for (char **word = doctor->command; *word != NULL; word++)
			json_text(json, NULL, *word);
		json_end_array(json);
	} else {
		json_null(json, "command");
	}
	schema_known(json, "pid", (uint64_t)doctor->pid);
	schema_text(json, "program", doctor->program);
	json_text(json, "verdict", verdicts[doctor_worst(doctor)]);
}

static void write_engine(struct json *json, const struct doctor_engine *engine)
{
	json_begin_object(json, NULL);
	json_text(json, "engine", engine->name);
	schema_text(json, "version", engine->version);
	json_text(json, "found_by", engine->how);
	schema_text(json, "seen_by", engine->seen_by);
	json_text(json, "file", engine->path);
	json_end_object(json);
}

static void write_row(struct json *json, const struct doctor_row *row)
{
	json_begin_object(json, NULL);
	json_text(json, "verdict", verdicts[row->verdict]);
	json_text(json, "what", row->what);
	json_text(json, "why", row->why);
	schema_text(json, "cure", row->cure);
	json_end_object(json);
}

int doctor_show_json(const struct doctor *doctor)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };

	if (output == NULL)
		return -errno;
	schema_begin(&json, "doctor");
	write_subject(&json, doctor);
	json_begin_array(&json, "engines");
	for (size_t i = 0; i < doctor->engine_count; i++)
		write_engine(&json, &doctor->engines[i]);
	json_end_array(&json);
	json_begin_array(&json, "checks");
	for (size_t i = 0; i < doctor->row_count; i++)
		write_row(&json, &doctor->rows[i]);
	json_end_array(&json);
	json_end_object(&json);
	output_text(output, "\n");
	return output_close(output, !json.failed);
}
