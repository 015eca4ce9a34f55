/* SPDX-License-Identifier: MIT */
/*
 * module.c - one unit of guest code: its identity, its functions, where each came from.
 */
#include "symtab/module.h"

#include "symtab/assign.h"
#include "symtab/modinfo.h"
#include "symtab/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long major_version(const struct module *module)
{
	return strtoul(module->engine_version, NULL, 10);
}

/*
 * Number of core modules that the binary has. Positions in it rise from one core module to the
 * next, but those of an adapter begin again, in a small module of its own: where no wasm bytes were
 * seen that tells them apart, unless the whole component is as small.
 */
static uint32_t count_cores(const struct module *module)
{
	uint32_t i, position, highest = 0;

	if (module->wasm != NULL)
		return wasmbin_core_count(module->wasm);
	for (i = 0; i < module->symbols.count; i++) {
		const struct symbol *symbol = &module->symbols.records[i].symbol;

		if (symbol->kind != SYMBOL_GUEST ||
		    !addrmap_first(&module->addrmap, symbol->start, symbol->end, &position))
			continue;
		if (position < highest && symbol->core > 0 &&
		    module->symbols.records[i - 1].symbol.core != symbol->core)
			return symbol->core;
		highest = position;
	}
	return UINT32_MAX;
}

/* Core modules beyond the binary's are fused adapters, which the engine made: glue. */
static void mark_adapters(struct module *module)
{
	uint32_t count = module->is_component ? count_cores(module) : 1, i;

	for (i = 0; i < module->symbols.count; i++) {
		struct symbol_record *record = &module->symbols.records[i];

		if (record->symbol.kind != SYMBOL_GUEST || record->symbol.core < count)
			continue;
		record->symbol.kind = SYMBOL_TRAMPOLINE;
		record->symbol.function = UINT32_MAX;
	}
}

static void count_functions(struct module *module)
{
	uint64_t count = 0;
	uint32_t i;

	if (module->wasm != NULL)
		for (i = 0; i < wasmbin_core_count(module->wasm); i++)
			count += wasmbin_defined_functions(module->wasm, i);
	else
		for (i = 0; i < module->symbols.count; i++)
			count += module->symbols.records[i].symbol.kind == SYMBOL_GUEST;
	module->function_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/*
 * Code without an image: each range that an FDE describes is a function. Engines of wasm lay out
 * those that the module defines in the order of their index, whatever the order of the FDEs is
 * (wasmer 1.1 to 7.4), so where the numbers agree range k is function (imported functions + k).
 */
static void take_frames(struct module *module)
{
	const struct wasmbin *wasm = module->wasm;
	uint32_t count = module->symbols.count, first = 0, i;
	bool is_counted = wasm != NULL && wasmbin_core_count(wasm) == 1 &&
			  wasmbin_defined_functions(wasm, 0) == count;

	if (is_counted)
		first = wasmbin_imported_functions(wasm, 0);
	for (i = 0; i < count; i++) {
		struct symbol *symbol = &module->symbols.records[i].symbol;
		bool is_known = wasm == NULL || (is_counted && i < UINT32_MAX - first);

		symbol->kind = SYMBOL_GUEST;
		symbol->function = is_known ? first + i : UINT32_MAX;
	}
}

/*
 * The same of a compiler that has glue of its own in the code, whose FDEs come before those of the
 * functions. Where they lie tells nothing: what is seldom run is elsewhere (WasmEdge 0.14, over
 * LLVM: what raises a trap, a wrapper for each type, what calls imports; then the functions).
 */
static void take_frames_behind_glue(struct module *module)
{
	const struct wasmbin *wasm = module->wasm;
	uint32_t count = 0, defined = 0, first = 0, glue, i;
	bool is_counted;

	if (wasm != NULL && wasmbin_core_count(wasm) == 1) {
		defined = wasmbin_defined_functions(wasm, 0);
		first = wasmbin_imported_functions(wasm, 0);
	}
	for (i = 0; i < module->symbols.count; i++)
		if (module->symbols.records[i].name.length >= count)
			count = module->symbols.records[i].name.length + 1;
	is_counted = defined != 0 && defined <= count;
	glue = is_counted ? count - defined : 0;
	for (i = 0; i < module->symbols.count; i++) {
		struct symbol_record *record = &module->symbols.records[i];
		uint32_t place = record->name.length;
		bool is_known = is_counted && place >= glue && place - glue < UINT32_MAX - first;

		/* of unknown wasm all that can be said is that it is code of its */
		record->symbol.kind = is_known || !is_counted ? SYMBOL_GUEST : SYMBOL_TRAMPOLINE;
		record->symbol.function = is_known ? first + place - glue : UINT32_MAX;
	}
}

static int read_functions(struct module *module, const struct image_layout *layout,
			  const struct modinfo *info)
{
	struct image_tables *tables = module->tables;
	int error = symbols_read(tables, layout->text, layout->text_size, &module->symbols);

	if (error < 0)
		return error;
	module->addrmap =
		addrmap_of(tables->addrmap.bytes, tables->addrmap.size, major_version(module));
	if (module->symbols.from_frames && layout->is_bare && layout->glue_comes_first)
		take_frames_behind_glue(module);
	else if (module->symbols.from_frames && layout->is_bare)
		take_frames(module);
	else if (module->symbols.from_frames)
		assign_functions(module, info);
	mark_adapters(module);
	count_functions(module);
	return 0;
}

static int copy_text(char **copy, const char *text)
{
	if (text == NULL || *text == '\0')
		return 0;
	*copy = strdup(text);
	return *copy != NULL ? 0 : -ENOMEM;
}

static int describe(struct module *module, const struct module_source *source)
{
	struct modinfo info = { 0 };
	int error = 0;

	if (module->wasm == NULL && !module->is_component)
		error = modinfo_read(&module->tables->info, major_version(module), &info);
	if (error == 0)
		error = read_functions(module, &source->layout, &info);
	if (error == 0)
		error = copy_text(&module->guest_name,
				  module->wasm != NULL ? wasmbin_name(module->wasm) : info.name);
	modinfo_fini(&info);
	return error;
}

/* TEXT as it can be shown. */
static int copy_printable(char **copy, const char *text, char *(*as_shown)(const char *, size_t))
{
	if (text == NULL || *text == '\0')
		return 0;
	*copy = as_shown(text, strlen(text));
	return *copy != NULL ? 0 : -ENOMEM;
}

static int fill(struct module *module, const struct module_source *source)
{
	int error = copy_printable(&module->path, source->path, utf8_clean_new);

	module->engine = source->engine;
	memcpy(module->engine_version, source->layout.engine_version,
	       sizeof(module->engine_version) - 1);
	module->is_component = source->layout.is_component;
	module->bare_text = source->layout.is_bare ? source->layout.text : 0;
	if (source->wasm != NULL)
		module->wasm = wasmbin_ref(source->wasm);
	if (module->tables == NULL)
		module->tables = calloc(1, sizeof(*module->tables));
	module->who = calloc(1, sizeof(*module->who));
	module->names = calloc(1, sizeof(*module->names));
	if (module->tables == NULL || module->who == NULL || module->names == NULL)
		return -ENOMEM;
	if (error == 0)
		error = copy_printable(&module->given_name, source->given_name, utf8_escape_new);
	if (error == 0)
		error = describe(module, source);
	module_drop_read(module);
	return error;
}

void module_drop_read(const struct module *module)
{
	/* where no wasm bytes were seen both are part of who it is */
	bool is_who_known = module->wasm != NULL || module->who->is_known;

	if (is_who_known)
		blob_free(&module->tables->symtab);
	if (is_who_known && (module->wasm != NULL || module->names->is_read))
		blob_free(&module->tables->info);
}

struct module *module_new(const struct module_source *source)
{
	struct module *module = calloc(1, sizeof(*module));
	int error;

	if (module == NULL) {
		image_tables_free(source->tables);
		return NULL;
	}
	atomic_init(&module->refs, 1);
	module->tables = source->tables;
	error = fill(module, source);
	if (error < 0) {
		module_unref(module);
		errno = -error;
		return NULL;
	}
	return module;
}

struct module *module_ref(struct module *module)
{
	atomic_fetch_add_explicit(&module->refs, 1, memory_order_relaxed);
	return module;
}

void module_unref(struct module *module)
{
	/* Release our writes; the last owner acquires everyone else's before freeing. */
	if (module == NULL ||
	    atomic_fetch_sub_explicit(&module->refs, 1, memory_order_acq_rel) != 1)
		return;
	naming_free(module);
	if (module->names != NULL)
		nametable_free(module->names);
	free(module->names);
	symbols_free(&module->symbols);
	image_tables_free(module->tables);
	wasmbin_unref(module->wasm);
	who_free(module->who);
	listing_free(module->listing);
	free(module->given_name);
	free(module->guest_name);
	free(module->path);
	free(module);
}

/* ---- questions ------------------------------------------------------------------------------ */

const char *module_name(const struct module *module)
{
	const char *name = who_of(module)->name;

	return name != NULL ? name : "(out of memory)";
}

enum name_origin module_name_origin(const struct module *module)
{
	return who_of(module)->name_origin;
}

const char *module_path(const struct module *module)
{
	return module->path != NULL ? module->path : "";
}

const char *module_identity(const struct module *module)
{
	const struct identity *identity = &who_of(module)->identity;

	return module->wasm != NULL ? identity->wasm : identity->image;
}

const struct identity *module_identity_all(const struct module *module)
{
	return &who_of(module)->identity;
}

bool module_identity_is_wasm(const struct module *module)
{
	return module->wasm != NULL;
}

const char *module_engine(const struct module *module)
{
	return module->engine != NULL ? module->engine : "";
}

const char *module_engine_version(const struct module *module)
{
	return module->engine_version;
}

bool module_has_entries(const struct module *module)
{
	return module->bare_text == 0;
}

uint32_t module_function_count(const struct module *module)
{
	return module->function_count;
}

uint32_t module_symbol_count(const struct module *module)
{
	return module->symbols.count;
}

const struct symbol *module_symbol(const struct module *module, uint32_t id)
{
	return &module->symbols.records[id].symbol;
}

const struct symbol *module_find(const struct module *module, uint64_t offset)
{
	const struct symbol_record *record = symbols_find(&module->symbols, offset);

	return record != NULL ? &record->symbol : NULL;
}

const char *module_core_name(const struct module *module, uint32_t core)
{
	return module->wasm != NULL ? wasmbin_core_name(module->wasm, core) : "";
}

const char *module_symbol_name(struct module *module, const struct symbol *symbol)
{
	return naming_display(module, symbol);
}

const char *module_symbol_system_name(struct module *module, const struct symbol *symbol)
{
	return naming_system(module, symbol);
}

bool module_wasm_offset(const struct module *module, uint64_t offset, uint64_t *position)
{
	const struct symbol *symbol = module_find(module, offset);
	uint32_t found;

	/* glue has no place in the binary; an adapter's positions are in a module of its own */
	if (symbol == NULL || symbol->kind != SYMBOL_GUEST)
		return false;
	/* the prologue comes before anything that has a position: it is the first instruction's */
	if (!addrmap_find(&module->addrmap, symbol->start, offset, &found) &&
	    !addrmap_first(&module->addrmap, symbol->start, symbol->end, &found))
		return false;
	*position = found;
	return true;
}

size_t module_called_import(const struct module *module, uint64_t offset, char *out, size_t size)
{
	uint64_t position;

	if (module->wasm == NULL || !module_wasm_offset(module, offset, &position))
		return 0;
	return wasmbin_called_import(module->wasm, position, out, size);
}

const uint8_t *module_eh_frame(const struct module *module, size_t *size, uintptr_t *address)
{
	*size = module->tables->eh_frame.size;
	*address = module->tables->eh_frame_address;
	return module->tables->eh_frame.bytes;
}

const struct wasmbin *module_wasm(const struct module *module)
{
	return module->wasm;
}
