/* SPDX-License-Identifier: MIT */
/*
 * assign.c - which function each code range is, where the image has no symbols.
 *
 * The engine lays out all functions of core module 0, then of core module 1 and so on, each in the
 * order of their index, and glue behind them (wasmtime's FuncKey order, 37 to 50).
 */
#include "symtab/assign.h"

#include "symtab/funckeys.h"

static void make_guest(struct symbol_record *record, uint32_t core, uint32_t function)
{
	record->symbol.kind = SYMBOL_GUEST;
	record->symbol.core = core;
	record->symbol.function = function;
}

/* The wasm's counts say which range is which. */
static void assign_by_counts(struct module *module)
{
	uint32_t core, i, next = 0;

	for (core = 0; core < wasmbin_core_count(module->wasm); core++) {
		uint32_t imported = wasmbin_imported_functions(module->wasm, core);
		uint32_t defined = wasmbin_defined_functions(module->wasm, core);

		if (defined > module->symbols.count - next)
			return;
		for (i = 0; i < defined; i++)
			make_guest(&module->symbols.records[next++], core, imported + i);
	}
}

/* Number of leading ranges that the address map knows: glue has no positions. */
static uint32_t count_mapped(const struct module *module)
{
	uint32_t count, position;

	for (count = 0; count < module->symbols.count; count++) {
		const struct symbol *symbol = &module->symbols.records[count].symbol;

		if (!addrmap_first(&module->addrmap, symbol->start, symbol->end, &position))
			break;
	}
	return count;
}

/*
 * Number of imported functions of the only core module, where no wasm bytes were seen: from the
 * engine's metadata, else from a name table that names every function from the first import to the
 * last of COUNT definitions. UINT32_MAX when neither says.
 */
static uint32_t find_imports(const struct module *module, const struct modinfo *info,
			     uint32_t count)
{
	const struct nametable *names;

	if (module->is_component)
		return UINT32_MAX;
	if (info->imports_are_known)
		return info->imported_functions;
	names = naming_table(module);
	if (names == NULL || names->count < count || names->count == 0 ||
	    names->entries[names->count - 1].function != names->count - 1)
		return UINT32_MAX;
	return names->count - count;
}

static void assign_by_map(struct module *module, const struct modinfo *info)
{
	uint32_t count = count_mapped(module), i;
	uint32_t imports = find_imports(module, info, count);

	for (i = 0; i < count; i++)
		make_guest(&module->symbols.records[i], 0,
			   imports < UINT32_MAX - count ? imports + i : UINT32_MAX);
}

/* Where the engine's table told the number among the definitions, adds the imports to it. */
static void add_imports(struct module *module, const struct modinfo *info)
{
	uint32_t imports = find_imports(module, info, count_mapped(module)), i;

	for (i = 0; i < module->symbols.count; i++) {
		struct symbol *symbol = &module->symbols.records[i].symbol;

		if (symbol->kind != SYMBOL_GUEST)
			continue;
		if (module->wasm != NULL)
			imports = wasmbin_imported_functions(module->wasm, symbol->core);
		if (imports < UINT32_MAX - symbol->function)
			symbol->function += imports;
		else
			symbol->function = UINT32_MAX;
	}
}

void assign_functions(struct module *module, const struct modinfo *info)
{
	if (funckeys_apply(&module->tables->info, &module->symbols))
		add_imports(module, info);
	else if (module->wasm != NULL)
		assign_by_counts(module);
	else
		assign_by_map(module, info);
}
