/* SPDX-License-Identifier: MIT */
/*
 * elfimg_fuzz.c - any bytes as an engine's image: its tables, the module made of them, its names.
 */
#include "symtab/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct input {
	uintptr_t start;
	size_t size;
};

static int read_input(void *context, uintptr_t address, void *out, size_t size)
{
	const struct input *input = context;

	if (address < input->start || address - input->start > input->size ||
	    size > input->size - (address - input->start))
		return -EFAULT;
	memcpy(out, (const void *)address, size);
	return 0;
}

/* A file with two functions of its own, for everything to be compared with. */
static const uint8_t wasm[] = {
	0, 'a', 's', 'm', 1, 0,	 0, 0, 1, 4, 1,	 0x60, 0, 0,
	3, 3,	2,   0,	  0, 10, 7, 2, 2, 0, 11, 2,    0, 11,
};

static void compare(struct module *module)
{
	struct wasmbin *file = wasmbin_parse_bodies(wasm, sizeof(wasm));
	struct match_recorded recorded = { .identity = *module_identity_all(module) };
	struct match match;
	uint8_t *layout;

	if (file == NULL)
		return;
	match_module(file, module, &match);
	layout = module_layout(module, &recorded.layout_size);
	recorded.layout = layout;
	match_recorded(file, &recorded, &match);
	free(layout);
	wasmbin_unref(file);
}

static void ask(struct module *module)
{
	uint32_t count = module_symbol_count(module), i;

	require(module_function_count(module) <= count);
	for (i = 0; i < count; i++) {
		const struct symbol *symbol = module_symbol(module, i);
		uint64_t position;

		require(symbol->id == i && symbol->start < symbol->end);
		require(module_find(module, symbol->start) == symbol);
		require(module_find(module, symbol->end - 1) == symbol);
		module_wasm_offset(module, symbol->end - 1, &position);
		/* names take a stack of their own each: not all of a thousand */
		if (i < 64) {
			module_symbol_name(module, symbol);
			module_symbol_system_name(module, symbol);
		}
	}
	compare(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { (uintptr_t)bytes, size };
	struct memory memory = { .read = read_input, .context = &input };
	struct module_source source = { .engine = "wasmtime" };
	struct module *module;

	if (image_probe(&memory, (uintptr_t)bytes, &source.layout) != 0)
		return 0;
	require(source.layout.text_size <= source.layout.size);
	source.tables = image_copy(&memory, &source.layout);
	if (source.tables != NULL)
		image_hash(source.tables, &memory, &source.layout);
	module = source.tables != NULL ? module_new(&source) : NULL;
	if (module == NULL)
		return 0;
	ask(module);
	module_unref(module);
	return 0;
}
