/* SPDX-License-Identifier: MIT */
/* lined.c - makes pprof's lines and functions of frames. Threads: one at a time. */
#include "preload/cmd/symbolize/lined.h"

#include "preload/cmd/symbolize/subjects.h"
#include "preload/read/arena.h"
#include "preload/read/rows.h"
#include "symtab/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 8192, PATH_SIZE = 4096 };

/* What a new function is made of; equal ones are one. */
struct wanted {
	const char *name, *system_name, *file; /* not terminated by us, "" none */
	uint32_t wasm_index, core, start_line;
};

bool lined_add_map(struct lined_maps *maps, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || maps->count == LINED_MAPS_MAX)
		return false;
	maps->list[maps->count++] = (struct lined_map){ text, equals + 1, (size_t)(equals - text) };
	return true;
}

void lined_begin(struct lined *lined, struct recording *recording, const struct lined_maps *maps)
{
	*lined = (struct lined){ .recording = recording, .maps = maps };
	for (size_t i = 0; i < recording->function_count; i++) {
		if (recording->functions[i].id > lined->last_id)
			lined->last_id = recording->functions[i].id;
	}
	for (size_t i = 0; i < recording->location_count; i++) {
		if (recording->locations[i].id > lined->last_location_id)
			lined->last_location_id = recording->locations[i].id;
	}
}

void lined_free(struct lined *lined)
{
	names_free(&lined->texts);
	pairs_free(&lined->function_ids);
	pairs_free(&lined->call_ids);
	free(lined->functions);
	free(lined->calls);
	*lined = (struct lined){ 0 };
}

/* ---- texts ------------------------------------------------------------------------------------
 */

/* A folder's name, and not the beginning of one. */
static bool begins_with(const char *path, const struct lined_map *map)
{
	if (strncmp(path, map->from, map->from_length) != 0)
		return false;
	return map->from[map->from_length - 1] == '/' || path[map->from_length] == '/' ||
	       path[map->from_length] == '\0';
}

/* FILE as it is to be shown, in PATH. */
static const char *shown_file(const struct lined *lined, const char *file, char path[PATH_SIZE])
{
	const char *to = "", *rest = file;
	size_t used;

	if (file == NULL)
		return "";
	for (size_t i = 0; lined->maps != NULL && i < lined->maps->count; i++) {
		if (!begins_with(file, &lined->maps->list[i]))
			continue;
		to = lined->maps->list[i].to;
		rest = file + lined->maps->list[i].from_length;
		break;
	}
	used = utf8_clean(to, strlen(to), path, PATH_SIZE / 2);
	utf8_fit_path(rest, strlen(rest), file, strlen(file), path + used, PATH_SIZE - used);
	return path;
}

/* A name that was made up for want of one. */
static bool is_made_up(const struct recording_function *function)
{
	return function->name[0] == '\0' || strstr(function->name, "!wasm-function[") != NULL;
}

/* ---- functions --------------------------------------------------------------------------------
 */

static const char *text(struct lined *lined, const char *content)
{
	return arena_text(lined->recording->memory, (const uint8_t *)content, strlen(content));
}

static struct recording_function *make_function(struct lined *lined, const struct wanted *wanted)
{
	struct recording_function *function =
		arena_alloc(lined->recording->memory, 1, sizeof(*function));

	if (function == NULL)
		return NULL;
	*function = (struct recording_function){
		.id = ++lined->last_id,
		.name = text(lined, wanted->name),
		.system_name = text(lined, wanted->system_name),
		.filename = text(lined, wanted->file),
		.wasm_index = wanted->wasm_index,
		.core = wanted->core,
		.start_line = wanted->start_line,
	};
	if (function->name == NULL || function->system_name == NULL || function->filename == NULL)
		return NULL;
	return function;
}

static const struct recording_function *find_function(struct lined *lined,
						      const struct wanted *wanted)
{
	uint32_t name = names_id(&lined->texts, wanted->name);
	uint32_t file = names_id(&lined->texts, wanted->file);
	uint32_t known = lined->function_ids.count, id;

	if (name == NAMES_NONE || file == NAMES_NONE)
		return NULL;
	id = pairs_id(&lined->function_ids, (uint64_t)name << 32 | file,
		      (uint64_t)wanted->core << 32 | wanted->wasm_index);
	if (id == PAIRS_NONE)
		return NULL;
	if (id == known) {
		if (rows_reserve(&lined->functions, &lined->function_room, id,
				 sizeof(*lined->functions)) != 0)
			return NULL;
		lined->functions[id] = make_function(lined, wanted);
	}
	return lined->functions[id];
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static int set_line(struct lined *lined, struct recording_line *line, const struct wanted *wanted,
		    const struct lines_frame *frame)
{
	line->function = find_function(lined, wanted);
	if (frame != NULL && frame->file != NULL) {
		line->line = frame->line;
		line->column = frame->column;
	}
	return line->function != NULL ? 0 : -ENOMEM;
}

static int set_inlined(struct lined *lined, struct recording_line *line,
		       const struct lines_frame *frame)
{
	char name[NAME_SIZE], system_name[NAME_SIZE], path[PATH_SIZE];
	struct wanted wanted = {
		.name = "(unnamed)",
		.system_name = "",
		.wasm_index = UINT32_MAX,
		.core = UINT32_MAX,
		.start_line = frame->start_line,
	};

	if (frame->name != NULL) {
		size_t length = strlen(frame->name);

		demangle(frame->name, length, name, sizeof(name));
		utf8_fit(frame->name, length, frame->name, length, system_name,
			 sizeof(system_name));
		wanted.name = name;
		wanted.system_name = system_name;
	}
	wanted.file = shown_file(lined, frame->file, path);
	return set_line(lined, line, &wanted, frame);
}

/*
 * The function INDEX that the module defines. RAN: what the engine compiled, if it is the same: its
 * name stays, unless it had none. FRAME: NULL when there is no debug information.
 */
static int set_defined(struct lined *lined, struct recording_line *line,
		       const struct lines_frame *frame, const struct wasmbin *binary, uint32_t core,
		       uint32_t index, const struct recording_function *ran, bool is_same)
{
	char name[NAME_SIZE], system_name[NAME_SIZE], path[PATH_SIZE];
	struct wanted wanted = {
		.name = ran->name,
		.system_name = ran->system_name,
		.wasm_index = index,
		.core = ran->core,
		.start_line = frame != NULL ? frame->start_line : 0,
	};
	size_t length = 0;
	const char *raw = wasmbin_function_name(binary, core, index, &length);

	if (raw == NULL && frame != NULL && frame->name != NULL) {
		raw = frame->name;
		length = strlen(raw);
	}
	if (raw != NULL && (!is_same || is_made_up(ran))) {
		demangle(raw, length, name, sizeof(name));
		utf8_fit(raw, length, raw, length, system_name, sizeof(system_name));
		wanted.name = name;
		wanted.system_name = system_name;
	} else if (!is_same) {
		wanted.name = "(unnamed)";
		wanted.system_name = "";
	}
	wanted.file = shown_file(lined, frame != NULL ? frame->file : NULL, path);
	return set_line(lined, line, &wanted, frame);
}

int lined_set(struct lined *lined, struct recording_location *location,
	      const struct apart_answer *answer, const struct wasmbin *binary, uint32_t core)
{
	const struct recording_function *ran = subjects_function(location);
	bool is_same = answer->core == core && answer->function == ran->wasm_index;
	size_t frames = answer->frame_count, defined = frames != 0 ? frames - 1 : 0;
	struct recording_line *lines =
		arena_alloc(lined->recording->memory, defined + 2, sizeof(*lines));
	int error = lines != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < defined; i++)
		error = set_inlined(lined, &lines[i], &answer->frames[i]);
	if (error == 0)
		error = set_defined(lined, &lines[defined],
				    frames != 0 ? &answer->frames[defined] : NULL, binary,
				    answer->core, answer->function, ran, is_same);
	/* The engine inlined a function of the module into another: that one is the caller. */
	if (error == 0 && !is_same)
		error = set_defined(lined, &lines[defined + 1], NULL, binary, core, ran->wasm_index,
				    ran, true);
	if (error != 0)
		return error;
	location->lines = lines;
	location->line_count = defined + (is_same ? 1 : 2);
	return 0;
}

int lined_set_name(struct lined *lined, struct recording_location *location,
		   const struct wasmbin *binary, uint32_t core)
{
	const struct recording_function *ran = subjects_function(location);
	struct apart_answer answer = { .core = core, .function = ran->wasm_index };

	return is_made_up(ran) ? lined_set(lined, location, &answer, binary, core) : 0;
}

/* ---- host calls -------------------------------------------------------------------------------
 */

static struct recording_location *make_call(struct lined *lined, const char *name,
					    const struct recording_mapping *importer,
					    const struct recording_location *host)
{
	const struct wanted wanted = {
		.name = name,
		.system_name = name,
		.file = "",
		.wasm_index = UINT32_MAX,
		.core = UINT32_MAX,
	};
	struct recording_location *call = arena_alloc(lined->recording->memory, 1, sizeof(*call));
	struct recording_line *line = arena_alloc(lined->recording->memory, 1, sizeof(*line));

	if (call == NULL || line == NULL)
		return NULL;
	line->function = find_function(lined, &wanted);
	if (line->function == NULL)
		return NULL;
	*call = (struct recording_location){
		.id = ++lined->last_location_id,
		.mapping = host->mapping,
		.lines = line,
		.line_count = 1,
		.kind = FRAME_HOST,
		.importer = importer,
	};
	return call;
}

const struct recording_location *lined_call(struct lined *lined, const char *name,
					    const struct recording_mapping *importer,
					    const struct recording_location *host)
{
	uint32_t text_id = names_id(&lined->texts, name);
	uint32_t known = lined->call_ids.count, id;

	if (text_id == NAMES_NONE)
		return NULL;
	id = pairs_id(&lined->call_ids, text_id, importer->id);
	if (id == PAIRS_NONE)
		return NULL;
	if (id == known) {
		if (rows_reserve(&lined->calls, &lined->call_room, id, sizeof(*lined->calls)) != 0)
			return NULL;
		lined->calls[id] = make_call(lined, name, importer, host);
	}
	return lined->calls[id];
}
