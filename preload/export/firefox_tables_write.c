/* SPDX-License-Identifier: MIT */
/* firefox_tables_write.c - the shared tables as JSON, a column at a time. Threads: one at a time.
 */
#include "preload/export/firefox_tables.h"

#include "preload/read/escape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One cell of row INDEX of the rows at ROWS. */
typedef void cell_function(struct json *json, const struct firefox_tables *tables, uint32_t index);

static void index_or_null(struct json *json, uint32_t index)
{
	if (index == FIREFOX_NONE)
		json_null(json, NULL);
	else
		json_integer(json, NULL, index);
}

static void number_or_null(struct json *json, int64_t number)
{
	if (number <= 0)
		json_null(json, NULL);
	else
		json_integer(json, NULL, number);
}

static void cell_null(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	(void)tables, (void)index;
	json_null(json, NULL);
}

static void cell_0(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	(void)tables, (void)index;
	json_integer(json, NULL, 0);
}

static void cell_1(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	(void)tables, (void)index;
	json_integer(json, NULL, 1);
}

static void cell_false(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	(void)tables, (void)index;
	json_bool(json, NULL, false);
}

static void cell_index(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	(void)tables;
	json_integer(json, NULL, index);
}

static void source_filename(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->sources[index]);
}

static void lib_name(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->libs[index].name);
}

static void symbol_lib(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->symbols[index].lib);
}

static void symbol_address(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, (int64_t)tables->symbols[index].address);
}

static void symbol_name(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->symbols[index].name);
}

static void function_name(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->functions[index].name);
}

/* -1, not null, is "no resource" (src/types/profile.ts, FuncTable). */
static void function_resource(struct json *json, const struct firefox_tables *tables,
			      uint32_t index)
{
	uint32_t lib = tables->functions[index].lib;

	json_integer(json, NULL, lib == FIREFOX_NONE ? -1 : (int64_t)lib);
}

static void function_source(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	index_or_null(json, tables->functions[index].source);
}

static void function_line(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	number_or_null(json, tables->functions[index].line);
}

static void frame_address(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, (int64_t)tables->frames[index].address);
}

static void frame_depth(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->frames[index].inline_depth);
}

static void frame_category(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->frames[index].category);
}

static void frame_function(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, tables->frames[index].function);
}

static void frame_symbol(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	index_or_null(json, tables->frames[index].symbol);
}

static void frame_line(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	number_or_null(json, tables->frames[index].line);
}

static void frame_column(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	number_or_null(json, tables->frames[index].column);
}

static void stack_frame(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	json_integer(json, NULL, (int64_t)tables->stacks.list[index].first);
}

static void stack_prefix(struct json *json, const struct firefox_tables *tables, uint32_t index)
{
	index_or_null(json, (uint32_t)tables->stacks.list[index].second);
}

static const struct column {
	const char *table, *name;
	cell_function *cell;
} columns[] = {
	{ "sources", "id", cell_null },
	{ "sources", "filename", source_filename },
	{ "sources", "startLine", cell_1 },
	{ "sources", "startColumn", cell_1 },
	{ "sources", "sourceMapURL", cell_null },
	{ "resourceTable", "lib", cell_index },
	{ "resourceTable", "name", lib_name },
	{ "resourceTable", "host", cell_null },
	{ "resourceTable", "type", cell_1 }, /* 1: a library */
	{ "nativeSymbols", "libIndex", symbol_lib },
	{ "nativeSymbols", "address", symbol_address },
	{ "nativeSymbols", "name", symbol_name },
	{ "nativeSymbols", "functionSize", cell_null },
	{ "funcTable", "name", function_name },
	{ "funcTable", "isJS", cell_false },
	{ "funcTable", "relevantForJS", cell_false },
	{ "funcTable", "resource", function_resource },
	{ "funcTable", "source", function_source },
	{ "funcTable", "lineNumber", function_line },
	{ "funcTable", "columnNumber", cell_null },
	{ "frameTable", "address", frame_address },
	{ "frameTable", "inlineDepth", frame_depth },
	{ "frameTable", "category", frame_category },
	{ "frameTable", "subcategory", cell_0 },
	{ "frameTable", "func", frame_function },
	{ "frameTable", "nativeSymbol", frame_symbol },
	{ "frameTable", "innerWindowID", cell_0 },
	{ "frameTable", "line", frame_line },
	{ "frameTable", "column", frame_column },
	{ "stackTable", "frame", stack_frame },
	{ "stackTable", "prefix", stack_prefix },
};

static void write_table(const struct firefox_tables *tables, struct json *json, const char *name,
			uint32_t count)
{
	json_begin_object(json, name);
	json_integer(json, "length", count);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (strcmp(columns[i].table, name) != 0)
			continue;
		json_begin_array(json, columns[i].name);
		for (uint32_t row = 0; row < count; row++)
			columns[i].cell(json, tables, row);
		json_end_array(json);
	}
	json_end_object(json);
}

/* A Breakpad id is 32 hex digits and an age: of the identity, its beginning, and age 0. */
static void write_breakpad_id(struct json *json, const char *identity)
{
	char id[34];
	size_t used = 0;

	for (; *identity != '\0' && used < 32; identity++) {
		if (isxdigit((unsigned char)*identity))
			id[used++] = (char)toupper((unsigned char)*identity);
	}
	memset(id + used, '0', 33 - used);
	id[33] = '\0';
	json_text(json, "breakpadId", id);
}

static void write_lib(const struct firefox_tables *tables, struct json *json,
		      const struct firefox_lib *lib)
{
	const char *name = tables->strings.texts[lib->name];
	const char *path = lib->path[0] != '\0' ? lib->path : name;

	json_begin_object(json, NULL);
	json_text(json, "name", name);
	json_text(json, "path", path);
	json_text(json, "debugName", name);
	json_text(json, "debugPath", path);
	write_breakpad_id(json, lib->identity);
	if (lib->identity[0] != '\0')
		json_text(json, "codeId", lib->identity);
	else
		json_null(json, "codeId");
	json_text(json, "arch", lib->is_guest ? "wasm32" : "x86_64");
	json_end_object(json);
}

void firefox_tables_write(const struct firefox_tables *tables, struct json *json)
{
	json_begin_array(json, "libs");
	for (uint32_t i = 0; i < tables->lib_ids.count; i++)
		write_lib(tables, json, &tables->libs[i]);
	json_end_array(json);
	json_begin_object(json, "shared");
	json_begin_array(json, "stringArray");
	for (uint32_t i = 0; i < tables->strings.count; i++)
		json_text(json, NULL, tables->strings.texts[i]);
	json_end_array(json);
	write_table(tables, json, "sources", tables->source_ids.count);
	write_table(tables, json, "resourceTable", tables->lib_ids.count);
	write_table(tables, json, "nativeSymbols", tables->symbol_ids.count);
	write_table(tables, json, "funcTable", tables->function_ids.count);
	write_table(tables, json, "frameTable", tables->frame_ids.count);
	write_table(tables, json, "stackTable", tables->stacks.count);
	json_end_object(json);
}
