/* SPDX-License-Identifier: MIT */
/*
 * naming.c - the texts that stand for a module's symbols. Threads: one at a time for one module.
 */
#include "symtab/module.h"

#include "symtab/builtin.h"
#include "symtab/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 8192 }; /* 7,274 bytes is the longest real one seen */

static const char no_memory[] = "(out of memory)";

const struct nametable *naming_table(const struct module *module)
{
	struct nametable *names = module->names;

	if (names->is_read)
		return names;
	/* the image's names are those of the wasm bytes */
	if (module->wasm == NULL &&
	    nametable_read(module->tables, &module->symbols, module->is_component, names) < 0)
		return NULL;
	names->is_read = true;
	module_drop_read(module);
	return names;
}

static const char *symbol_text(const struct module *module, const struct symbol_record *record,
			       size_t *length)
{
	if (record->name.offset == SYMBOLS_NO_NAME || record->name.length == 0)
		return NULL;
	*length = record->name.length;
	return (const char *)module->tables->strtab.bytes + record->name.offset;
}

const char *naming_raw(const struct module *module, const struct symbol_record *record,
		       size_t *length)
{
	const struct symbol *symbol = &record->symbol;
	const struct nametable *names;
	const struct nametable_entry *entry;
	const char *name = NULL;

	if (module->listing != NULL)
		return listing_full(module, symbol->id, length);
	if (symbol->kind != SYMBOL_GUEST || symbol->function == UINT32_MAX)
		return symbol_text(module, record, length);
	if (module->wasm != NULL)
		name = wasmbin_function_name(module->wasm, symbol->core, symbol->function, length);
	if (name != NULL)
		return name;
	names = naming_table(module);
	entry = names != NULL ? nametable_find(names, symbol->core, symbol->function) : NULL;
	if (entry == NULL || entry->name.length == 0)
		return symbol_text(module, record, length);
	*length = entry->name.length;
	return (const char *)module->tables->names.bytes + entry->name.offset;
}

/* `module!wasm-function[M]`, with the core module where there may be several. */
static void name_unnamed(const struct module *module, const struct symbol *symbol, char *out,
			 size_t size)
{
	const char *core = module_core_name(module, symbol->core);
	char where[MAX_SHOWN / 2] = "";

	/* what no engine of wasm made has no functions of wasm */
	if (module->bare_text != 0 &&
	    (*module_engine(module) == '\0' || symbol->function == UINT32_MAX)) {
		snprintf(out, size, "[jit 0x%" PRIx64 "+0x%" PRIx64 "]",
			 (uint64_t)module->bare_text + symbol->start, symbol->end - symbol->start);
		return;
	}

	if (module->is_component && *core != '\0')
		snprintf(where, sizeof(where), "/%s", core);
	else if (module->is_component && symbol->function != UINT32_MAX)
		snprintf(where, sizeof(where), "/wasm[%u]", symbol->core);
	if (symbol->function != UINT32_MAX)
		snprintf(out, size, "%.2000s%.2000s!wasm-function[%u]", module_name(module), where,
			 symbol->function);
	else
		snprintf(out, size, "%.2000s%.2000s!wasm-code[0x%" PRIx64 "]", module_name(module),
			 where, symbol->start);
}

static void name_builtin(const char *raw, size_t length, char *out, size_t size)
{
	const char *instruction = builtin_instruction(raw, length);
	size_t prefix = builtin_prefix(raw, length);

	if (instruction != NULL)
		snprintf(out, size, "%s", instruction);
	else
		utf8_fit(raw + prefix, length - prefix, raw, length, out, size);
}

/* Glue whose symbol name has TEXT in it is shown under NAME. */
static const struct glue {
	const char *text;
	const char *name;
} glues[] = {
	{ "wasm_to_array", "[guest to host]" },
	{ "component-lower-import", "[guest to host]" },
	{ "component-transcode", "[string between components]" },
	{ "resource_drop", "[resource.drop]" },
	{ "resource-drop", "[resource.drop]" },
	{ "module_start", "[module start]" },
	{ "-call-trap", "[trap]" }, /* component-trampolines[I]-wasm-call-trap-CODE */
	{ "unsafe-intrinsics-", "[intrinsic]" },
};

static void name_glue(const struct symbol *symbol, const char *raw, size_t length, char *out,
		      size_t size)
{
	const char *name = NULL;
	size_t i;

	if (symbol->kind == SYMBOL_ENTRY)
		name = "[host to guest]";
	else if (raw == NULL && symbol->kind == SYMBOL_BUILTIN)
		name = "[builtin]";
	else if (raw == NULL) /* adapters are core modules, but not the first */
		name = symbol->core > 0 ? "[between components]" : "[engine glue]";
	for (i = 0; name == NULL && i < ARRAY_SIZE(glues); i++)
		if (memmem(raw, length, glues[i].text, strlen(glues[i].text)) != NULL)
			name = glues[i].name;
	if (name != NULL)
		snprintf(out, size, "%s", name);
	else
		utf8_fit(raw, length, raw, length, out, size);
}

static void make_display(const struct module *module, const struct symbol_record *record, char *out,
			 size_t size)
{
	size_t length = 0;
	const char *raw = module->listing != NULL
				  ? listing_shown(module, record->symbol.id, &length)
				  : naming_raw(module, record, &length);

	if (module->listing != NULL && length == 0 && module->wasm != NULL)
		raw = wasmbin_function_name(module->wasm, 0, record->symbol.function, &length);
	if (module->listing != NULL && length == 0)
		name_unnamed(module, &record->symbol, out, size);
	else if (module->listing != NULL)
		demangle(raw, length, out, size);
	else if (record->symbol.kind == SYMBOL_BUILTIN && raw != NULL)
		name_builtin(raw, length, out, size);
	else if (record->symbol.kind != SYMBOL_GUEST)
		name_glue(&record->symbol, raw, length, out, size);
	else if (raw != NULL)
		demangle(raw, length, out, size);
	else
		name_unnamed(module, &record->symbol, out, size);
}

/* Room in the cache for all symbols; listed ones get more with time. */
static bool reserve_shown(struct module *module)
{
	uint32_t known = module->shown_count, count = module->symbols.count;
	struct shown_name *shown;

	if (module->shown != NULL && known >= count)
		return true;
	if (module->listing != NULL)
		count = module->listing->room;
	shown = realloc(module->shown, count * sizeof(*shown));
	if (shown == NULL)
		return false;
	memset(shown + known, 0, (count - known) * sizeof(*shown));
	module->shown = shown;
	module->shown_count = count;
	return true;
}

/* The cache's place for SYMBOL, with its display name made; NULL when memory is short. */
static struct shown_name *show(struct module *module, const struct symbol *symbol)
{
	const struct symbol_record *record = &module->symbols.records[symbol->id];
	char text[MAX_SHOWN];
	struct shown_name *shown;

	/* a name that is kept for ever is not to come of a short moment */
	if (module->listing == NULL && naming_table(module) == NULL)
		return NULL;
	if (!reserve_shown(module))
		return NULL;
	shown = &module->shown[symbol->id];
	if (shown->display == NULL) {
		make_display(module, record, text, sizeof(text));
		shown->display = strdup(text);
	}
	return shown->display != NULL ? shown : NULL;
}

const char *naming_display(struct module *module, const struct symbol *symbol)
{
	const struct shown_name *shown = show(module, symbol);

	return shown != NULL ? shown->display : no_memory;
}

const char *naming_system(struct module *module, const struct symbol *symbol)
{
	struct shown_name *shown = show(module, symbol);
	char text[MAX_SHOWN];
	size_t length = 0;
	const char *raw;

	if (shown == NULL)
		return no_memory;
	if (shown->system != NULL)
		return shown->system;
	raw = naming_raw(module, &module->symbols.records[symbol->id], &length);
	if (raw != NULL)
		utf8_fit(raw, length, raw, length, text, sizeof(text));
	if (raw == NULL || strcmp(text, shown->display) == 0)
		shown->system = shown->display;
	else
		shown->system = strdup(text);
	return shown->system != NULL ? shown->system : no_memory;
}

void naming_free(struct module *module)
{
	uint32_t i;

	for (i = 0; i < module->shown_count; i++) {
		if (module->shown[i].system != module->shown[i].display)
			free(module->shown[i].system);
		free(module->shown[i].display);
	}
	free(module->shown);
}
