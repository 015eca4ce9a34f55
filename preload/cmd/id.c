/* SPDX-License-Identifier: MIT */
/*
 * id.c - `guestprof id`: which modules files are, and whether a wasm file is what ran.
 *
 * As text one line for each module, and behind a component's one for each of its core modules, each
 * `key=value` with a space between them, the name last. As JSON:
 *
 *   { "version": 1,
 *     "files": [ { "file", "kind": "wasm" | "image" | "recording",
 *                  "modules": [ { "name", "wasm", "code", "image", "build_id": text or null,
 *                                 "code_offset", "functions", "engine": text or null,
 *                                 "cores": [ { "name", "code", "build_id", "functions" } ] } ] } ]
 * }
 */
#include "preload/cmd/id.h"
#include "preload/cmd/command.h"
#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/modulefile.h"
#include "preload/cmd/symbolize/subjects.h"
#include "preload/export/json.h"
#include "preload/export/output.h"
#include "preload/read/names.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One line of the output. */
struct line {
	struct identity identity;
	const char *name, *engine, *engine_version; /* "" when unknown */
	const struct wasmbin *cores;		    /* of a wasm file; NULL for others */
};

/* ---- text -------------------------------------------------------------------------------------
 */

static void write_key(struct output *output, const char *key, const char *value)
{
	if (*value != '\0')
		output_format(output, "%s=%s ", key, value);
}

static void write_rest(struct output *output, const struct line *line, const char *file)
{
	write_key(output, "build_id", line->identity.build_id);
	output_format(output, "functions=%" PRIu32 " ", line->identity.defined_functions);
	if (*line->engine != '\0')
		output_format(output, "engine=%s%s%s ", line->engine,
			      *line->engine_version != '\0' ? "-" : "", line->engine_version);
	id_text(output, "file", file);
	output_text(output, " ");
	id_text(output, "name", line->name);
	output_text(output, "\n");
}

static void write_cores(struct output *output, const struct wasmbin *wasm, const char *file)
{
	for (uint32_t i = 0; i < wasmbin_core_count(wasm); i++) {
		struct line line = { .name = wasmbin_core_name(wasm, i),
				     .engine = "",
				     .engine_version = "" };

		wasmbin_core_identity(wasm, i, &line.identity);
		output_format(output, "core=%" PRIu32 " ", i);
		write_key(output, "code", line.identity.code);
		write_rest(output, &line, file);
	}
}

static void write_line(struct output *output, const struct line *line, const char *file)
{
	write_key(output, "wasm", line->identity.wasm);
	write_key(output, "code", line->identity.code);
	write_key(output, "image", line->identity.image);
	write_rest(output, line, file);
	if (line->cores != NULL && wasmbin_is_component(line->cores))
		write_cores(output, line->cores, file);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void write_text(struct json *json, const char *key, const char *text)
{
	if (*text != '\0')
		json_text(json, key, text);
	else
		json_null(json, key);
}

static void write_core(struct json *json, const struct wasmbin *wasm, uint32_t core)
{
	struct identity identity;

	wasmbin_core_identity(wasm, core, &identity);
	json_begin_object(json, NULL);
	json_text(json, "name", wasmbin_core_name(wasm, core));
	write_text(json, "code", identity.code);
	write_text(json, "build_id", identity.build_id);
	json_integer(json, "functions", identity.defined_functions);
	json_integer(json, "imported", wasmbin_imported_functions(wasm, core));
	json_integer(json, "named", wasmbin_named_functions(wasm, core));
	json_end_object(json);
}

static void write_module(struct json *json, const struct line *line)
{
	json_begin_object(json, NULL);
	json_text(json, "name", line->name);
	write_text(json, "wasm", line->identity.wasm);
	write_text(json, "code", line->identity.code);
	write_text(json, "image", line->identity.image);
	write_text(json, "build_id", line->identity.build_id);
	json_integer(json, "code_offset", (int64_t)line->identity.code_offset);
	json_integer(json, "functions", line->identity.defined_functions);
	write_text(json, "engine", line->engine);
	json_begin_array(json, "cores");
	for (uint32_t i = 0; line->cores != NULL && i < wasmbin_core_count(line->cores); i++)
		write_core(json, line->cores, i);
	json_end_array(json);
	json_end_object(json);
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Where lines go: JSON is NULL for text. */
struct sink {
	struct output *output;
	struct json *json;
	const char *file;
};

static void put(struct sink *sink, const struct line *line)
{
	if (sink->json != NULL)
		write_module(sink->json, line);
	else
		write_line(sink->output, line, sink->file);
}

static void put_wasm(struct sink *sink, const struct wasmbin *wasm)
{
	struct line line = {
		.name = wasmbin_name(wasm), .engine = "", .engine_version = "", .cores = wasm
	};

	wasmbin_identity(wasm, &line.identity);
	put(sink, &line);
}

static void put_image(struct sink *sink, const struct module *image)
{
	put(sink, &(struct line){ .identity = *module_identity_all(image),
				  .name = module_name(image),
				  .engine = module_engine(image),
				  .engine_version = module_engine_version(image) });
}

/* Each module once, however often it was loaded. */
static void put_recording(struct sink *sink, const struct recording *recording)
{
	struct names told = { 0 };

	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];
		struct line line = { .name = mapping->name,
				     .engine = mapping->engine,
				     .engine_version = "" };

		size_t count = told.count;

		if (*mapping->identity == '\0' || names_id(&told, mapping->identity) != count)
			continue;
		subjects_identity(mapping, &line.identity);
		put(sink, &line);
	}
	names_free(&told);
}

static void put_file(struct sink *sink, const struct modulefile *file)
{
	sink->file = file->path;
	if (sink->json != NULL) {
		json_begin_object(sink->json, NULL);
		json_text(sink->json, "file", file->path);
		json_text(sink->json, "kind",
			  file->wasm != NULL	? "wasm"
			  : file->image != NULL ? "image"
						: "recording");
		json_begin_array(sink->json, "modules");
	}
	if (file->wasm != NULL)
		put_wasm(sink, file->wasm);
	else if (file->image != NULL)
		put_image(sink, file->image);
	else
		put_recording(sink, file->recording);
	if (sink->json != NULL) {
		json_end_array(sink->json);
		json_end_object(sink->json);
	}
}

static int print_identities(char **files, int count, bool as_json)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };
	struct sink sink = { .output = output, .json = as_json ? &json : NULL };
	int status = COMMAND_OK;

	if (output == NULL)
		return COMMAND_BAD;
	if (as_json) {
		json_begin_object(&json, NULL);
		json_integer(&json, "version", 1);
		json_begin_array(&json, "files");
	}
	for (int i = 0; i < count; i++) {
		struct modulefile file;

		if (modulefile_read(&file, files[i]) == 0)
			put_file(&sink, &file);
		else
			status = COMMAND_BAD;
		modulefile_fini(&file);
	}
	if (as_json) {
		json_end_array(&json);
		json_end_object(&json);
		output_text(output, "\n");
	}
	return output_close(output, true) == 0 && !json.failed ? status : COMMAND_BAD;
}

int id_command(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "match", no_argument, NULL, 'm' },
		{ "names", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	bool as_json = false, is_match = false, is_names = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		as_json |= option == 'j';
		is_match |= option == 'm';
		is_names |= option == 'n';
		if (option == '?') {
			say_line("id: %s: no such option", argv[optind - 1]);
			return COMMAND_BAD;
		}
	}
	if (argc - optind < (is_match ? 2 : 1)) {
		say_line(is_match ? "id --match: a wasm file is needed, and what to compare it with"
				  : "id: a file is needed");
		return COMMAND_BAD;
	}
	if (is_match)
		return id_match(argv[optind], argv + optind + 1, argc - optind - 1, as_json);
	if (is_names)
		return id_names(argv[optind], as_json);
	return print_identities(argv + optind, argc - optind, as_json);
}
