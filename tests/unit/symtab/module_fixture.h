/* SPDX-License-Identifier: MIT */
/*
 * module_fixture.h - modules made from the images in tests/data/symtab.
 */
#ifndef TESTS_UNIT_SYMTAB_MODULE_FIXTURE_H
#define TESTS_UNIT_SYMTAB_MODULE_FIXTURE_H

#include "symtab/symtab.h"
#include "tests/unit/symtab/fixture.h"

/* A module of the image IMAGE, as bytes; WASM and GIVEN may be NULL. NULL when it is refused. */
static UNUSED struct module *module_of_bytes(struct bytes *image, struct wasmbin *wasm,
					     const char *given)
{
	struct memory memory = memory_of(image);
	struct module_source source = { .engine = "wasmtime", .given_name = given, .wasm = wasm };

	if (image_probe(&memory, (uintptr_t)image->bytes, &source.layout) < 0)
		return NULL;
	source.tables = image_copy(&memory, &source.layout);
	if (source.tables != NULL)
		image_hash(source.tables, &memory, &source.layout);
	return source.tables != NULL ? module_new(&source) : NULL;
}

/* The same from files; WASM_FILE may be NULL. */
static UNUSED struct module *module_of_file(const char *file, const char *wasm_file,
					    const char *given)
{
	struct bytes image = bytes_of_file(file), wasm = { 0 };
	struct wasmbin *bin = NULL;
	struct module *module;

	if (wasm_file != NULL) {
		wasm = bytes_of_file(wasm_file);
		bin = wasmbin_parse(wasm.bytes, wasm.size);
		bytes_free(&wasm);
	}
	module = module_of_bytes(&image, bin, given);
	wasmbin_unref(bin);
	bytes_free(&image);
	if (module == NULL) {
		fprintf(stderr, "%s: no module\n", file);
		exit(1);
	}
	return module;
}

/* The symbol of FUNCTION of core module CORE, or NULL. */
static UNUSED const struct symbol *symbol_of(const struct module *module, uint32_t core,
					     uint32_t function)
{
	const struct symbol *symbol;
	uint64_t offset;

	for (offset = 0; offset < 0x4000; offset++) {
		symbol = module_find(module, offset);
		if (symbol != NULL && symbol->core == core && symbol->function == function &&
		    symbol->kind == SYMBOL_GUEST)
			return symbol;
	}
	return NULL;
}

#endif /* TESTS_UNIT_SYMTAB_MODULE_FIXTURE_H */
