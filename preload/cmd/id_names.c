/* SPDX-License-Identifier: MIT */
/*
 * id_names.c - `guestprof id --names`: every function of a wasm file or an image, as it is shown.
 *
 * One line a function: `CORE:FUNCTION NAME`, or for the engine's glue in an image `- NAME`. As
 * JSON: { "version": 1, "file", "functions": [ { "core", "function": number or null, "name",
 *   "system_name": text or null } ] }; system_name is the name before demangling.
 */
#include "preload/cmd/command.h"
#include "preload/cmd/id.h"
#include "preload/cmd/symbolize/modulefile.h"
#include "preload/export/json.h"
#include "preload/read/escape.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_SHOWN = 8192 };

struct named {
	uint32_t core, function; /* UINT32_MAX: none */
	const char *name, *system_name;
};

struct names {
	struct output *output;
	struct json *json; /* NULL for text */
};

static void put_line(struct output *output, const struct named *named)
{
	char *name = escape_new(named->name, ESCAPE_VISIBLE);

	if (named->function != UINT32_MAX)
		output_format(output, "%" PRIu32 ":%" PRIu32 " ", named->core, named->function);
	else
		output_text(output, "- ");
	output_text(output, name != NULL ? name : "(out of memory)");
	output_text(output, "\n");
	free(name);
}

static void put(struct names *names, const struct named *named)
{
	if (names->json == NULL) {
		put_line(names->output, named);
		return;
	}
	json_begin_object(names->json, NULL);
	json_integer(names->json, "core", named->core);
	if (named->function != UINT32_MAX)
		json_integer(names->json, "function", named->function);
	else
		json_null(names->json, "function");
	json_text(names->json, "name", named->name);
	if (named->system_name != NULL)
		json_text(names->json, "system_name", named->system_name);
	else
		json_null(names->json, "system_name");
	json_end_object(names->json);
}

/* Functions without a name are left out: what they are called depends on the module's own name. */
static void put_core(struct names *names, const struct wasmbin *wasm, uint32_t core)
{
	uint32_t count =
		wasmbin_imported_functions(wasm, core) + wasmbin_defined_functions(wasm, core);
	char name[MAX_SHOWN], raw[MAX_SHOWN];

	for (uint32_t i = 0; i < count; i++) {
		size_t length = 0;
		const char *text = wasmbin_function_name(wasm, core, i, &length);

		if (text == NULL)
			continue;
		demangle(text, length, name, sizeof(name));
		demangle_not(text, length, raw, sizeof(raw));
		put(names, &(struct named){ core, i, name, raw });
	}
}

static void put_image(struct names *names, struct module *image)
{
	for (uint32_t i = 0; i < module_symbol_count(image); i++) {
		const struct symbol *symbol = module_symbol(image, i);

		put(names, &(struct named){ symbol->core, symbol->function,
					    module_symbol_name(image, symbol),
					    module_symbol_system_name(image, symbol) });
	}
}

static void put_recording(struct names *names, const struct recording *recording)
{
	for (size_t i = 0; i < recording->function_count; i++) {
		const struct recording_function *function = &recording->functions[i];

		put(names,
		    &(struct named){ function->core != UINT32_MAX ? function->core : 0,
				     function->wasm_index, function->name, function->system_name });
	}
}

static void put_file(struct names *names, const struct modulefile *read)
{
	if (read->wasm != NULL)
		for (uint32_t i = 0; i < wasmbin_core_count(read->wasm); i++)
			put_core(names, read->wasm, i);
	else if (read->image != NULL)
		put_image(names, read->image);
	else
		put_recording(names, read->recording);
}

int id_names(const char *file, bool as_json)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };
	struct names names = { .output = output, .json = as_json ? &json : NULL };
	struct modulefile read;
	int status;

	if (output == NULL)
		return COMMAND_BAD;
	status = modulefile_read(&read, file) == 0 ? COMMAND_OK : COMMAND_BAD;
	if (as_json) {
		json_begin_object(&json, NULL);
		json_integer(&json, "version", 1);
		json_text(&json, "file", file);
		json_begin_array(&json, "functions");
	}
	if (status == COMMAND_OK)
		put_file(&names, &read);
	if (as_json) {
		json_end_array(&json);
		json_end_object(&json);
		output_text(output, "\n");
	}
	modulefile_fini(&read);
	return output_close(output, true) == 0 && !json.failed ? status : COMMAND_BAD;
}
