/* SPDX-License-Identifier: MIT */
/*
 * id_match.c - `guestprof id --match`: is this wasm file what ran?
 *
 * One line for each other file, and for each module of a recording:
 *
 *   OTHER[: MODULE]: STRENGTH: WHY
 *
 * As JSON: { "version": 1, "file", "matches": [ { "file", "module": text or null, "strength":
 *   "exact" | "by layout" | "by names" | "no match", "why", "cores": [ { "core", "other",
 *   "shift": number or null } ] } ] }. A position that ran is one in the file + shift.
 */
#include "preload/cmd/command.h"
#include "preload/cmd/id.h"
#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/modulefile.h"
#include "preload/cmd/symbolize/subjects.h"
#include "preload/export/json.h"
#include "preload/read/escape.h"
#include "symtab/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_MATCH = 1 };

struct matching {
	const struct wasmbin *file;
	struct output *output;
	struct json *json; /* NULL for text */
	bool any;	   /* of the modules of the file at hand matched */
};

void id_text(struct output *output, const char *key, const char *text)
{
	char *shown = escape_new(text, ESCAPE_VISIBLE);

	output_format(output, "%s=", key);
	output_text(output, shown != NULL ? shown : "(out of memory)");
	free(shown);
}

static void write_line(struct output *output, const char *other, const char *module,
		       const struct match *match)
{
	char *file = escape_new(other, ESCAPE_VISIBLE), *name = escape_new(module, ESCAPE_VISIBLE);

	output_format(output, "%s%s%s: %s: %s\n", file != NULL ? file : "?",
		      *module != '\0' ? ": " : "", name != NULL ? name : "?",
		      match_strength_name(match->strength), match->why);
	free(file);
	free(name);
}

static void write_cores(struct json *json, const struct match *match)
{
	json_begin_array(json, "cores");
	for (uint32_t i = 0; i < MATCH_CORES_MAX; i++) {
		const struct match_core *core = &match->cores[i];

		if (core->core == MATCH_NO_CORE)
			continue;
		json_begin_object(json, NULL);
		json_integer(json, "core", i);
		json_integer(json, "other", core->core);
		if (core->shift_is_known)
			json_integer(json, "shift", core->shift);
		else
			json_null(json, "shift");
		json_end_object(json);
	}
	json_end_array(json);
}

static void put(struct matching *self, const char *other, const char *module,
		const struct match *match)
{
	self->any |= match->strength != MATCH_NONE;
	if (self->json == NULL) {
		write_line(self->output, other, module, match);
		return;
	}
	json_begin_object(self->json, NULL);
	json_text(self->json, "file", other);
	if (*module != '\0')
		json_text(self->json, "module", module);
	else
		json_null(self->json, "module");
	json_text(self->json, "strength", match_strength_name(match->strength));
	json_text(self->json, "why", match->why);
	write_cores(self->json, match);
	json_end_object(self->json);
}

static void compare_recording(struct matching *self, const struct modulefile *other)
{
	struct subjects subjects;
	struct match match;
	size_t i;

	if (subjects_read(&subjects, other->recording) != 0)
		say_line("%s: %s", other->path, strerror(ENOMEM));
	for (i = 0; i < subjects_count(&subjects); i++) {
		match_recorded(self->file, &subjects.list[i].recorded, &match);
		put(self, other->path, subjects.list[i].mapping->name, &match);
	}
	if (i == 0)
		say_line("%s: no guest module was sampled", other->path);
	subjects_free(&subjects);
}

static int compare(struct matching *self, const char *path)
{
	struct modulefile other;
	struct match match;
	int status = COMMAND_BAD;

	self->any = false;
	if (modulefile_read(&other, path) == 0) {
		if (other.wasm != NULL)
			match_wasm(self->file, other.wasm, &match);
		else if (other.image != NULL)
			match_module(self->file, other.image, &match);
		if (other.recording != NULL)
			compare_recording(self, &other);
		else
			put(self, path, "", &match);
		status = self->any ? COMMAND_OK : NO_MATCH;
	}
	modulefile_fini(&other);
	return status;
}

static int compare_all(struct matching *self, const char *file, char **others, int count)
{
	int status = COMMAND_OK;

	if (self->json != NULL) {
		json_begin_object(self->json, NULL);
		json_integer(self->json, "version", 1);
		json_text(self->json, "file", file);
		json_begin_array(self->json, "matches");
	}
	for (int i = 0; i < count; i++) {
		int one = compare(self, others[i]);

		status = one > status ? one : status;
	}
	if (self->json != NULL) {
		json_end_array(self->json);
		json_end_object(self->json);
		output_text(self->output, "\n");
	}
	return status;
}

int id_match(const char *file, char **others, int count, bool as_json)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };
	struct matching self = { .output = output, .json = as_json ? &json : NULL };
	struct modulefile first;
	int status = COMMAND_BAD;

	if (output == NULL)
		return COMMAND_BAD;
	if (modulefile_read(&first, file) == 0 && first.wasm == NULL) {
		say_line("id --match: %s: a wasm file comes first", file);
	} else if (first.wasm != NULL) {
		self.file = first.wasm;
		status = compare_all(&self, file, others, count);
	}
	modulefile_fini(&first);
	return output_close(output, true) == 0 && !json.failed ? status : COMMAND_BAD;
}
