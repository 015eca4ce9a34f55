/* SPDX-License-Identifier: MIT */
/* tables.c - mappings and functions of one recording, and its tables' life. Threads: ours. */
#include "preload/profile/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/clock.h"
#include "preload/profile/array.h"
#include "preload/profile/embed.h"
#include "preload/profile/hostnames.h"
#include "preload/profile/tables_private.h"

enum { LOCATION_COST = 160 };

/* ---- mappings -------------------------------------------------------------------------------- */

static bool mapping_is(const void *table, uint32_t number, const void *key)
{
	const struct tables *tables = table;

	return tables->mappings[number].loading == *(const uint32_t *)key;
}

static uint32_t engine_text(struct tables *tables, const struct module *module)
{
	char text[96];

	if (module_engine(module)[0] == '\0')
		return 0;
	snprintf(text, sizeof(text), "%s %s", module_engine(module), module_engine_version(module));
	if (module_engine_version(module)[0] == '\0')
		text[strcspn(text, " ")] = '\0';
	return texts_add(&tables->texts, text);
}

static uint64_t known_text(struct tables *tables, const char *text)
{
	return *text != '\0' ? texts_add(&tables->texts, text) : 0;
}

static void identify_mapping(struct tables *tables, const struct module *module,
			     struct chunk_mapping *mapping)
{
	const struct identity *identity = module_identity_all(module);

	mapping->identity_is_wasm = module_identity_is_wasm(module);
	mapping->build_id = texts_add(&tables->texts, module_identity(module));
	mapping->code = known_text(tables, identity->code);
	mapping->image = known_text(tables, identity->image);
	mapping->build_id_section = known_text(tables, identity->build_id);
	mapping->code_offset = identity->code_offset;
	mapping->path = known_text(tables, module_path(module));
	/* from the last one: what is loaded again and again was there a moment ago */
	for (size_t i = tables->mapping_count; i-- > 0;)
		if (tables->mappings[i].build_id == mapping->build_id)
			return;
	if (mapping->identity_is_wasm)
		embed_debug(module, mapping);
	else
		mapping->layout = module_layout(module, &mapping->layout_size);
	if (mapping->layout_size > tables->layout_left) {
		free(mapping->layout);
		mapping->layout = NULL;
		mapping->layout_size = 0;
	}
	tables->layout_left -= mapping->layout_size;
}

/* SHOWN may be the module's name with something behind it that makes it unique. */
static enum name_origin origin_of(const struct module *module, const char *shown)
{
	const char *own = module_name(module);

	return strncmp(own, shown, strlen(own)) == 0 ? module_name_origin(module) : NAME_LISTED;
}

static struct chunk_mapping describe_mapping(struct tables *tables,
					     const struct symtab_entry *entry, uint32_t name)
{
	struct chunk_mapping mapping = { 0 };
	uint64_t start_ns;

	if (entry == NULL) {
		mapping.filename = texts_add(&tables->texts, "[host]");
		return mapping;
	}
	start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mapping.start = entry->text;
	mapping.limit = entry->text + entry->text_size;
	mapping.filename = name;
	identify_mapping(tables, entry->module, &mapping);
	mapping.engine = engine_text(tables, entry->module);
	mapping.loading = entry->id;
	mapping.function_count = module_function_count(entry->module);
	mapping.name_origin = (uint8_t)origin_of(entry->module, tables->texts.rows[name]);
	tables->modules_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	return mapping;
}

uint64_t tables_mapping(struct tables *tables, const struct symtab_entry *entry, uint32_t name)
{
	uint32_t loading = entry == NULL ? 0 : entry->id, number;
	uint64_t hash = lookup_hash(&loading, sizeof(loading));
	struct chunk_mapping *rows;

	number = lookup_find(&tables->mapping_lookup, hash, mapping_is, tables, &loading);
	if (number != LOOKUP_NONE)
		return number + 1;
	rows = array_room(tables->mappings, &tables->mapping_capacity, tables->mapping_count,
			  sizeof(*rows));
	if (rows == NULL)
		return 0;
	tables->mappings = rows;
	if (lookup_add(&tables->mapping_lookup, hash, (uint32_t)tables->mapping_count) != 0)
		return 0;
	rows[tables->mapping_count] = describe_mapping(tables, entry, name);
	rows[tables->mapping_count].id = tables->mapping_count + 1;
	return ++tables->mapping_count;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool function_is(const void *table, uint32_t number, const void *key)
{
	const struct tables *tables = table;

	return memcmp(&tables->function_keys[number], key, sizeof(struct function_key)) == 0;
}

/* Id of the function with KEY, made as ROW says if new; 0 when memory is short. */
static uint64_t function_id(struct tables *tables, const struct function_key *key,
			    struct chunk_function row)
{
	uint64_t hash = lookup_hash(key, sizeof(*key));
	uint32_t number = lookup_find(&tables->function_lookup, hash, function_is, tables, key);
	struct chunk_function *rows;
	struct function_key *keys;

	if (number != LOOKUP_NONE)
		return number + 1;
	rows = array_room(tables->functions, &tables->function_capacity, tables->function_count,
			  sizeof(*rows));
	if (rows == NULL)
		return 0;
	tables->functions = rows;
	keys = array_room(tables->function_keys, &tables->function_key_capacity,
			  tables->function_count, sizeof(*keys));
	if (keys == NULL)
		return 0;
	tables->function_keys = keys;
	if (lookup_add(&tables->function_lookup, hash, (uint32_t)tables->function_count) != 0)
		return 0;
	keys[tables->function_count] = *key;
	row.id = tables->function_count + 1;
	rows[tables->function_count] = row;
	return ++tables->function_count;
}

uint64_t tables_plain_function(struct tables *tables, const char *text)
{
	uint32_t name = texts_add_raw(&tables->texts, text);
	struct function_key key = { .name = name, .index = UINT32_MAX };

	return function_id(tables, &key,
			   (struct chunk_function){ .name = name, .wasm_index = UINT32_MAX });
}

/* One function of a module for all that has no symbol. */
static uint64_t apart_function(struct tables *tables, const struct module *module,
			       uint32_t module_name, const char *text)
{
	uint32_t name = texts_add(&tables->texts, text);
	struct function_key key = {
		.identity = texts_add(&tables->texts, module_identity(module)),
		.name = name,
		.index = UINT32_MAX,
	};

	return function_id(tables, &key,
			   (struct chunk_function){
				   .name = name,
				   .filename = module_name,
				   .wasm_index = UINT32_MAX,
			   });
}

static uint64_t module_function(struct tables *tables, const struct frame *frame,
				uint32_t module_name)
{
	struct module *module = frame->entry->module;
	const struct symbol *symbol = frame->symbol;
	struct function_key key = {
		.identity = texts_add(&tables->texts, module_identity(module)),
		.core = symbol->core,
		.index = symbol->function,
	};
	uint32_t name = texts_add(&tables->texts, module_symbol_name(module, symbol));

	/* Numbers of glue are the engine's; its names say what it is. */
	if (symbol->function == UINT32_MAX)
		key.name = name;
	/* What an engine compiled twice (by a quick compiler, and a good one) differs there. */
	if (module_is_listed(module))
		key.name = texts_add(&tables->texts, module_symbol_system_name(module, symbol));
	return function_id(
		tables, &key,
		(struct chunk_function){
			.name = name,
			.system_name = texts_add(&tables->texts,
						 module_symbol_system_name(module, symbol)),
			.filename = module_name,
			.wasm_index = symbol->function,
			.core = symbol->core,
		});
}

static uint64_t host_function(struct tables *tables, uint64_t pc)
{
	struct hostname name;

	if (pc == 0)
		return tables_plain_function(tables, "(host)");
	hostnames_find(pc, &name);
	return tables_plain_function(tables, name.shown);
}

uint64_t tables_function(struct tables *tables, const struct frame *frame, uint32_t module_name)
{
	char text[40];

	switch (frame->kind) {
	case FRAME_HOST:
		return host_function(tables, frame->address);
	case FRAME_JIT:
		snprintf(text, sizeof(text), "[jit 0x%llx+0x%x]",
			 (unsigned long long)frame->address, TABLES_JIT_PAGE);
		return tables_plain_function(tables, text);
	case FRAME_INTERPRETER:
		return apart_function(tables, frame->entry->module, module_name, "(interpreter)");
	default:
		if (frame->symbol == NULL || frame->symbol->kind == SYMBOL_UNKNOWN)
			return apart_function(tables, frame->entry->module, module_name,
					      "[unnamed]");
		return module_function(tables, frame, module_name);
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

int tables_init(struct tables *tables, uint64_t memory)
{
	*tables = (struct tables){ 0 };
	if (texts_init(&tables->texts, memory / 2) != 0)
		return -ENOMEM;
	tables->location_limit = memory / 2 / LOCATION_COST;
	tables->places.limit = tables->location_limit;
	tables->layout_left = memory / 8;
	if (tables_add_other(tables) != 0) {
		tables_fini(tables);
		return -ENOMEM;
	}
	return 0;
}

void tables_fini(struct tables *tables)
{
	for (size_t i = 0; i < tables->mapping_count; i++) {
		free(tables->mappings[i].layout);
		free(tables->mappings[i].debug);
	}
	texts_fini(&tables->texts);
	free(tables->mappings);
	free(tables->functions);
	free(tables->function_keys);
	free(tables->locations);
	free(tables->location_keys);
	lookup_free(&tables->mapping_lookup);
	lookup_free(&tables->function_lookup);
	lookup_free(&tables->location_lookup);
	places_free(&tables->places);
	*tables = (struct tables){ 0 };
}
