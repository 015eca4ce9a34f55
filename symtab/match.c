/* SPDX-License-Identifier: MIT */
/*
 * match.c - is this wasm file what ran? Against another file, and against a module in memory.
 *
 * Static and precompiled hosts never show wasm bytes, so there may be nothing but an image to
 * compare with: counts, names, and where the engine's address map says that each function was.
 */
#include "symtab/match.h"

#include "symtab/matchpair.h"
#include "symtab/module.h"

const char *match_strength_name(enum match_strength strength)
{
	static const char *const names[] = {
		[MATCH_NONE] = "no match",
		[MATCH_BY_NAMES] = "by names",
		[MATCH_BY_LAYOUT] = "by layout",
		[MATCH_EXACT] = "exact",
	};

	return names[strength];
}

/* ---- another file --------------------------------------------------------------------------- */

static void identify_wasm(const void *what, uint32_t core, struct identity *identity)
{
	wasmbin_core_identity(what, core, identity);
}

static uint32_t compare_wasm(const void *what, uint32_t core, struct matchcore *match)
{
	const struct wasmbin *other = what;
	const struct wasmbin_core *of = &other->cores[core];
	uint32_t i;

	for (i = 0; i < of->body_count; i++) {
		struct match_fact fact = { .function = of->imported + i, .body = &of->bodies[i] };

		fact.name = wasmbin_section_name(other, core, fact.function, &fact.name_length);
		fact.form = fact.name != NULL ? FORM_RAW : FORM_NONE;
		if (!matchcore_add(match, &fact))
			break;
	}
	return of->defined;
}

void match_wasm(const struct wasmbin *file, const struct wasmbin *other, struct match *match)
{
	struct match_other what = { .what = other,
				    .core_count = other->core_count,
				    .is_whole = true,
				    .identify = identify_wasm,
				    .compare = compare_wasm };

	wasmbin_identity(other, &what.identity);
	matchpair_run(file, &what, match);
}

/* ---- a module in memory --------------------------------------------------------------------- */

static void identify_module(const void *what, uint32_t core, struct identity *identity)
{
	const struct module *module = what;

	if (module->wasm != NULL)
		wasmbin_core_identity(module->wasm, core, identity);
	else
		*identity = (struct identity){ 0 };
}

static void add_module_name(const struct module *module, const struct symbol_record *record,
			    struct match_fact *fact)
{
	const struct nametable *names = naming_table(module);
	const struct nametable_entry *entry =
		names != NULL ? nametable_find(names, record->symbol.core, fact->function) : NULL;

	if (entry != NULL) {
		fact->form = FORM_RAW;
		fact->name = (const char *)module->tables->names.bytes + entry->name.offset;
		fact->name_length = entry->name.length;
	} else if ((names == NULL || names->count == 0) && record->name.offset != SYMBOLS_NO_NAME) {
		fact->form = FORM_CLEANED;
		fact->name = (const char *)module->tables->strtab.bytes + record->name.offset;
		fact->name_length = record->name.length;
	}
}

/* The engine lays functions out in the order of their index: what has none is counted. */
static uint32_t compare_module(const void *what, uint32_t core, struct matchcore *match)
{
	const struct module *module = what;
	uint32_t imported = wasmbin_imported_functions(match->file, match->core), count = 0, i;

	for (i = 0; i < module->symbols.count; i++) {
		const struct symbol_record *record = &module->symbols.records[i];
		const struct symbol *symbol = &record->symbol;
		struct match_fact fact = { .function = symbol->function };
		uint32_t low, high;

		if (symbol->kind != SYMBOL_GUEST || symbol->core != core)
			continue;
		if (fact.function == UINT32_MAX)
			fact.function = imported + count;
		count++;
		add_module_name(module, record, &fact);
		fact.has_extent =
			addrmap_extent(&module->addrmap, symbol->start, symbol->end, &low, &high);
		fact.low = fact.has_extent ? low : 0;
		fact.high = fact.has_extent ? high : 0;
		matchcore_add(match, &fact); /* and go on: all are counted */
	}
	return count;
}

static uint32_t module_core_count(const struct module *module)
{
	uint32_t count = 0, i;

	if (module->wasm != NULL)
		return wasmbin_core_count(module->wasm);
	for (i = 0; i < module->symbols.count; i++)
		if (module->symbols.records[i].symbol.kind == SYMBOL_GUEST &&
		    module->symbols.records[i].symbol.core >= count)
			count = module->symbols.records[i].symbol.core + 1;
	return count;
}

void match_module(const struct wasmbin *file, const struct module *module, struct match *match)
{
	struct match_other what = { .what = module,
				    .identity = *module_identity_all(module),
				    .core_count = module_core_count(module),
				    .is_whole = true,
				    .identify = identify_module,
				    .compare = compare_module };

	matchpair_run(file, &what, match);
}
