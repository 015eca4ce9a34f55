/* SPDX-License-Identifier: MIT */
/*
 * frames_fuzz.c - any bytes as unwind tables that a JIT registered: the module made of them.
 *
 * The first byte says at which of the rest the registration points, as records are 4 bytes and
 * more; the code that the tables describe is what the second says: not there, or all prologues.
 */
#include "symtab/symtab.h"

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
	bool has_code;
};

static int read_input(void *context, uintptr_t address, void *out, size_t size)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	const struct input *input = context;

	if (address >= input->start && address - input->start <= input->size &&
	    size <= input->size - (address - input->start)) {
		memcpy(out, (const void *)address, size);
		return 0;
	}
	if (!input->has_code || size != sizeof(prologue))
		return -EFAULT;
	memcpy(out, prologue, size);
	return 0;
}

/* A module of one import and two functions. */
static const uint8_t wasm[] = {
	0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4,  1, 0x60, 0, 0, 2,	7, 1, 1,  'e',
	1, 'f', 0,   0,	  3, 3, 2, 0, 0, 10, 7, 2,    2, 0, 11, 2, 0, 11,
};

static void ask(struct module *module)
{
	uint32_t count = module_symbol_count(module), i;

	require(!module_has_entries(module));
	for (i = 0; i < count; i++) {
		const struct symbol *symbol = module_symbol(module, i);

		require(symbol->id == i && symbol->start < symbol->end);
		require(symbol->kind == SYMBOL_GUEST);
		require(module_find(module, symbol->start) == symbol);
		require(module_find(module, symbol->end - 1) == symbol);
		if (i < 16)
			require(*module_symbol_name(module, symbol) != '\0');
	}
	module_name(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { (uintptr_t)bytes + 2, size - 2, size >= 2 && (bytes[1] & 1) != 0 };
	struct memory memory = { .read = read_input, .context = &input };
	struct module_source source = { .engine = size >= 2 && (bytes[1] & 2) != 0 ? "wasmer"
										   : NULL };
	struct module *module;

	if (size < 2 ||
	    image_probe_frames(&memory, input.start + 4u * bytes[0], &source.layout) != 0)
		return 0;
	require(source.layout.is_bare && source.layout.text_size > 0);
	require(source.layout.text + source.layout.text_size > source.layout.text);
	require(source.layout.frame_count > 0 && source.layout.frame_count <= size / 8);
	source.tables = image_copy(&memory, &source.layout);
	if (source.tables == NULL)
		return 0;
	image_hash(source.tables, &memory, &source.layout);
	if ((bytes[1] & 4) != 0)
		source.wasm = wasmbin_parse(wasm, sizeof(wasm));
	module = module_new(&source);
	wasmbin_unref(source.wasm);
	if (module == NULL)
		return 0;
	ask(module);
	module_unref(module);
	return 0;
}
