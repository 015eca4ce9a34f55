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

enum {
	SHORT_HASH = 6,
	HASH_NAME = 12
}; /* hex digits in `name@3f9a2c`, and where there is no name */

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

static void hash_symbol(struct sha256 *sha, const struct module *module,
			const struct symbol_record *record)
{
	const struct symbol *symbol = &record->symbol;
	uint64_t facts[4] = { symbol->kind, (uint64_t)symbol->core << 32 | symbol->function,
			      symbol->start, symbol->end };
	size_t length = 0;
	const char *name = NULL;

	if (module->names.count == 0)
		name = naming_raw(module, record, &length);
	sha256_add(sha, facts, sizeof(facts));
	sha256_add(sha, &length, sizeof(length));
	sha256_add(sha, name, length);
}

/* All names at once: looking each of them up would take longer than hashing them. */
static void hash_names(struct sha256 *sha, const struct module *module)
{
	sha256_add(sha, module->names.entries,
		   module->names.count * sizeof(*module->names.entries));
	if (module->names.count > 0)
		sha256_add(sha, module->tables->names.bytes, module->tables->names.size);
}

static void identify(struct module *module)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;
	uint32_t i;

	if (module->wasm != NULL) {
		sha256_hex(wasmbin_sha256(module->wasm), module->identity);
		return;
	}
	sha256_init(&sha);
	for (i = 0; i < module->symbols.count; i++)
		hash_symbol(&sha, module, &module->symbols.records[i]);
	hash_names(&sha, module);
	sha256_end(&sha, digest);
	sha256_hex(digest, module->identity);
}

static int choose_name(struct module *module, const char *given, const char *guest)
{
	int length;

	if (given != NULL && *given != '\0') {
		module->name_origin = NAME_GIVEN;
		module->name = utf8_escape_new(given, strlen(given));
		return module->name != NULL ? 0 : -ENOMEM;
	}
	module->name_origin = guest != NULL && *guest != '\0' ? NAME_GUEST : NAME_HASH;
	if (module->name_origin == NAME_GUEST)
		length = asprintf(&module->name, "%s@%.*s", guest, SHORT_HASH, module->identity);
	else
		length = asprintf(&module->name, "%.*s", HASH_NAME, module->identity);
	if (length < 0)
		module->name = NULL; /* undefined after an error */
	return length < 0 ? -ENOMEM : 0;
}

static int read_functions(struct module *module, const struct image_layout *layout,
			  const struct modinfo *info)
{
	struct image_tables *tables = module->tables;
	int error = symbols_read(tables, layout->text, layout->text_size, &module->symbols);

	/* the image's names are those of the wasm bytes */
	if (error == 0 && module->wasm == NULL)
		error = nametable_read(tables, &module->symbols, module->is_component,
				       &module->names);
	if (error < 0)
		return error;
	module->addrmap =
		addrmap_of(tables->addrmap.bytes, tables->addrmap.size, major_version(module));
	if (module->symbols.from_frames)
		assign_functions(module, info);
	mark_adapters(module);
	count_functions(module);
	return 0;
}

static int describe(struct module *module, const struct module_source *source)
{
	struct modinfo info = { 0 };
	const char *guest_name;
	int error = 0;

	if (module->wasm == NULL && !module->is_component)
		error = modinfo_read(&module->tables->info, major_version(module), &info);
	if (error == 0)
		error = read_functions(module, &source->layout, &info);
	if (error == 0) {
		guest_name = module->wasm != NULL ? wasmbin_name(module->wasm) : info.name;
		identify(module);
		error = choose_name(module, source->given_name, guest_name);
	}
	modinfo_fini(&info);
	return error;
}

static int fill(struct module *module, const struct module_source *source)
{
	int error;

	module->engine = source->engine;
	memcpy(module->engine_version, source->layout.engine_version,
	       sizeof(module->engine_version) - 1);
	module->is_component = source->layout.is_component;
	if (source->wasm != NULL)
		module->wasm = wasmbin_ref(source->wasm);
	if (module->tables == NULL)
		module->tables = calloc(1, sizeof(*module->tables));
	if (module->tables == NULL)
		return -ENOMEM;
	error = describe(module, source);
	blob_free(&module->tables->symtab);
	blob_free(&module->tables->info);
	return error;
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
	nametable_free(&module->names);
	symbols_free(&module->symbols);
	image_tables_free(module->tables);
	wasmbin_unref(module->wasm);
	free(module->name);
	free(module);
}

/* ---- questions ------------------------------------------------------------------------------ */

const char *module_name(const struct module *module)
{
	return module->name;
}

enum name_origin module_name_origin(const struct module *module)
{
	return module->name_origin;
}

const char *module_identity(const struct module *module)
{
	return module->identity;
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

uint32_t module_function_count(const struct module *module)
{
	return module->function_count;
}

uint32_t module_symbol_count(const struct module *module)
{
	return module->symbols.count;
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

const uint8_t *module_eh_frame(const struct module *module, size_t *size, uintptr_t *address)
{
	*size = module->tables->eh_frame.size;
	*address = module->tables->eh_frame_address;
	return module->tables->eh_frame.bytes;
}
