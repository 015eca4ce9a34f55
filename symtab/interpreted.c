/* SPDX-License-Identifier: MIT */
/*
 * interpreted.c - functions of a module that an engine interprets, where it says which one runs.
 * Threads: as for names.
 *
 * They have no code: function k of those that the module defines is the place k of its text.
 */
#include "symtab/module.h"

#include <stdlib.h>

static bool list_functions(struct module *module, uint32_t imported, uint32_t defined)
{
	struct symbol_record *records = calloc(defined, sizeof(*records));

	if (records == NULL)
		return false;
	for (uint32_t i = 0; i < defined; i++)
		records[i] = (struct symbol_record){
			.symbol = { .kind = SYMBOL_GUEST,
				    .function = imported + i,
				    .id = i,
				    .start = i,
				    .end = (uint64_t)i + 1 },
			.name = { .offset = SYMBOLS_NO_NAME },
		};
	module->symbols.records = records;
	module->symbols.count = defined;
	return true;
}

const struct symbol *module_interpreted_symbol(struct module *module, uint32_t function)
{
	uint32_t imported, defined;
	const struct symbol *symbol;

	if (module->wasm == NULL || wasmbin_core_count(module->wasm) != 1)
		return NULL;
	imported = wasmbin_imported_functions(module->wasm, 0);
	defined = wasmbin_defined_functions(module->wasm, 0);
	if (function < imported || function - imported >= defined ||
	    (module->symbols.count == 0 && !list_functions(module, imported, defined)))
		return NULL;
	if (function - imported >= module->symbols.count)
		return NULL;
	symbol = &module->symbols.records[function - imported].symbol;
	/* of an image its symbols are others */
	return symbol->function == function ? symbol : NULL;
}
