/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.h - the shared tables of a Firefox profile: strings, libraries, functions, frames,
 * stacks.
 *
 * A row is made at its first use; equal rows are one. Indexes are FIREFOX_NONE where JSON has null.
 */
#ifndef PRELOAD_EXPORT_FIREFOX_TABLES_H
#define PRELOAD_EXPORT_FIREFOX_TABLES_H

#include "preload/export/json.h"
#include "preload/read/frames.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"

#define FIREFOX_NONE UINT32_MAX

/* In the order of meta.categories. */
enum firefox_category {
	CATEGORY_GUEST,
	CATEGORY_HOST,
	CATEGORY_BUILTIN,
	CATEGORY_TRAMPOLINE,
	CATEGORY_INLINED,
	CATEGORY_WAITING,
	CATEGORY_INTERPRETER,
	CATEGORY_OTHER,
	CATEGORY_COUNT
};

struct firefox_lib {
	uint32_t name; /* string */
	const char *identity, *path;
	bool is_guest;
};

struct firefox_function {
	uint32_t name, lib, source; /* string, or NONE: lib, source */
	int64_t line;
};

struct firefox_symbol {
	uint32_t lib, name;
	uint64_t address; /* the lowest one sampled: where it begins is not recorded */
};

struct firefox_frame {
	uint64_t address; /* UINT64_MAX: none */
	uint32_t inline_depth, function, symbol;
	enum firefox_category category;
	int64_t line, column; /* 0: unknown */
};

struct firefox_tables {
	struct names strings;
	struct pairs lib_ids, source_ids, function_ids, symbol_ids, frame_ids;
	struct pairs stacks; /* (frame, prefix or NONE) */
	struct firefox_lib *libs;
	uint32_t *sources; /* string */
	struct firefox_function *functions;
	struct firefox_symbol *symbols;
	struct firefox_frame *frames;
	size_t lib_room, source_room, function_room, symbol_room, frame_room;
	struct frames scratch;
	bool failed; /* no memory: sticks */
};

/* The number of TEXT in the string table. */
uint32_t firefox_tables_string(struct firefox_tables *tables, const char *text);

/* About how many bytes of JSON the tables are. */
uint64_t firefox_tables_size(const struct firefox_tables *tables);

/* The stack of SAMPLE; FIREFOX_NONE when it has no frame. */
uint32_t firefox_tables_stack(struct firefox_tables *tables, const struct recording_sample *sample);

/* Writes `libs` and `shared`. */
void firefox_tables_write(const struct firefox_tables *tables, struct json *json);
void firefox_tables_free(struct firefox_tables *tables);

#endif /* PRELOAD_EXPORT_FIREFOX_TABLES_H */
