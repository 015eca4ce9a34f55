/* SPDX-License-Identifier: MIT */
/* sourcelines.c - matches wasm files with the modules that ran, and asks them. Threads: one at a
 * time. */
#include "preload/cmd/symbolize/sourcelines.h"

#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/applying.h"
#include "preload/cmd/symbolize/embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REFUSALS_MAX = 3, SOURCELINES_MANY = 8 };

bool sourcelines_option(struct sourcelines *sourcelines, int option, const char *argument)
{
	if (option == SOURCELINES_WASM)
		return wasmfiles_add(&sourcelines->files, argument) == 0;
	if (lined_add_map(&sourcelines->maps, argument))
		return true;
	say_line("--source-map takes FROM=TO, at most %d of them, not %s", LINED_MAPS_MAX,
		 argument);
	return false;
}

void sourcelines_free(struct sourcelines *sourcelines)
{
	wasmfiles_free(&sourcelines->files);
}

/* ---- all files --------------------------------------------------------------------------------
 */

static void refuse(const struct applying *applying, const struct wasmfiles_entry *file,
		   const struct lines *lines)
{
	size_t count = subjects_count(&applying->subjects);
	struct match match;

	if (count > SOURCELINES_MANY) {
		say_line("%s: refused: it is none of the %zu modules that ran", file->path, count);
		return;
	}
	for (size_t i = 0; i < count && i < REFUSALS_MAX; i++) {
		const struct subject *subject = &applying->subjects.list[i];

		match_recorded(lines_binary(lines), &subject->recorded, &match);
		say_line("%s: refused: it is not %s that ran: %s", file->path,
			 subject->mapping->name, match.why);
	}
}

static bool has_same_bytes(const struct subject *subject, const struct lines *lines)
{
	struct identity identity;

	wasmbin_identity(lines_binary(lines), &identity);
	return strcmp(identity.wasm, subject->recorded.identity.wasm) == 0;
}

static int use_file(struct applying *applying, const struct wasmfiles_entry *file,
		    struct lines *lines)
{
	bool is_needed = applying->is_same_only;
	int error = 0;

	for (uint32_t id = 0; error == 0 && id < subjects_count(&applying->subjects); id++) {
		struct subject *subject = &applying->subjects.list[id];

		if (applying->is_same_only && !has_same_bytes(subject, lines))
			continue;
		match_recorded(lines_binary(lines), &subject->recorded, &applying->match);
		if (applying->match.strength == MATCH_NONE)
			continue;
		is_needed = true;
		if (!subject->has_lines && (!subject->has_names || lines_has_debug(lines)))
			error = applying_file(applying, id, file->path, lines);
	}
	if (!is_needed && file->is_named) {
		applying->result->refused++;
		refuse(applying, file, lines);
	}
	return error;
}

static bool are_all_done(const struct subjects *subjects)
{
	for (size_t i = 0; i < subjects_count(subjects); i++) {
		if (!subjects->list[i].has_lines)
			return false;
	}
	return true;
}

static int open_file(struct applying *applying, const struct wasmfiles_entry *file)
{
	struct lines *lines;
	int error;

	if ((applying->is_same_only || !file->is_named) && are_all_done(&applying->subjects))
		return 0;
	lines = lines_open(file->path);
	if (lines == NULL && errno == ENOMEM)
		return -ENOMEM;
	if (lines == NULL && !applying->is_same_only && file->is_named) {
		say_line("%s: %s", file->path,
			 errno == EINVAL ? "not a wasm file" : strerror(errno));
		applying->result->refused++;
	}
	if (lines == NULL)
		return 0;
	error = use_file(applying, file, lines);
	lines_close(lines);
	return error;
}

/* A match of what the recording carries with the module that carries it. */
static void match_itself(struct match *match)
{
	*match = (struct match){ .strength = MATCH_EXACT };
	for (uint32_t i = 0; i < MATCH_CORES_MAX; i++)
		match->cores[i] = (struct match_core){ .core = i, .shift_is_known = true };
}

static int use_embedded(struct applying *applying, uint32_t id)
{
	const struct subject *subject = &applying->subjects.list[id];
	struct lines *lines;
	int error;

	if (subject->embedding == NULL || subject->was_lined || subject->has_lines)
		return 0;
	lines = embedded_open(subject->embedding);
	if (lines == NULL && errno == ENOMEM)
		return -ENOMEM;
	if (lines == NULL) {
		say_line("%s: the debug information of %s in it is damaged; names without lines",
			 applying->recording->path, subject->mapping->name);
		return 0;
	}
	match_itself(&applying->match);
	error = applying_file(applying, id, NULL, lines);
	lines_close(lines);
	return error;
}

/*
 * Of several files the one with the very bytes that ran comes first, wherever it is: others may
 * have the same code, and other debug information.
 */
static int open_files(struct applying *applying, const struct wasmfiles *files)
{
	int error = 0;

	applying->is_same_only = true;
	for (size_t i = 0; error == 0 && files->count > 1 && i < files->count; i++)
		error = open_file(applying, &files->list[i]);
	applying->is_same_only = false;
	for (size_t i = 0; error == 0 && i < files->count; i++)
		error = open_file(applying, &files->list[i]);
	for (uint32_t id = 0; error == 0 && id < subjects_count(&applying->subjects); id++)
		error = use_embedded(applying, id);
	return error;
}

/* The files that the host opened, if they still are what they were. */
static int open_paths(struct applying *applying)
{
	int error = 0;

	applying->is_same_only = true;
	for (size_t id = 0; error == 0 && id < subjects_count(&applying->subjects); id++) {
		const struct subject *subject = &applying->subjects.list[id];
		struct wasmfiles_entry file = { .path = (char *)subject->mapping->path };

		if (file.path[0] != '\0' && !subject->has_lines)
			error = open_file(applying, &file);
	}
	applying->is_same_only = false;
	return error;
}

static void say_nothing_found(const struct applying *applying, size_t file_count)
{
	const char *path = applying->recording->path;

	if (subjects_count(&applying->subjects) == 0 && file_count != 0)
		say_line("%s: it does not say which functions of a wasm module ran", path);
	else if (file_count != 0)
		say_line("none of %zu wasm files is a module that ran", file_count);
}

int sourcelines_apply(const struct sourcelines *sourcelines, struct recording *recording,
		      struct lined *lined, struct sourcelines_result *result)
{
	struct applying applying = { .recording = recording, .lined = lined, .result = result };
	int error;

	*result = (struct sourcelines_result){ 0 };
	lined_begin(lined, recording, &sourcelines->maps);
	error = subjects_read(&applying.subjects, recording);
	if (error == 0 && subjects_count(&applying.subjects) != 0)
		error = open_files(&applying, &sourcelines->files);
	if (error == 0 && sourcelines->uses_paths)
		error = open_paths(&applying);
	if (error == 0 && result->modules == 0 && result->refused == 0)
		say_nothing_found(&applying, sourcelines->files.count);
	subjects_free(&applying.subjects);
	return error;
}

int sourcelines_use(const struct sourcelines *sourcelines, struct recording *recording)
{
	struct sourcelines_result result;
	struct lined lined;
	int error = sourcelines_apply(sourcelines, recording, &lined, &result);

	lined_free(&lined);
	return error;
}
