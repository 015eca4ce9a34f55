/* SPDX-License-Identifier: MIT */
/*
 * codeimage.c - symbols, as an image has them (symbols.c reads them), for functions that somebody
 * listed.
 */
#include "symtab/codeimage.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/elfimg.h"
#include "symtab/prologue.h"

enum {
	MAX_FUNCTIONS = 1 << 20,
	MAX_CODE = 1 << 30,
	MAX_NAME = 512,
	MAX_PREFIX = 40, /* wasm[0]::function[4294967295]:: and its 0 */
};

static int find_extent(const struct code_function *functions, size_t count,
		       struct image_layout *layout)
{
	uintptr_t low = UINTPTR_MAX, high = 0;

	for (size_t i = 0; i < count; i++) {
		const struct code_function *function = &functions[i];

		if (function->size == 0 || function->size > MAX_CODE ||
		    function->start > UINTPTR_MAX - function->size)
			return -EINVAL;
		if (function->start < low)
			low = function->start;
		if (function->start + function->size > high)
			high = function->start + function->size;
	}
	if (count == 0 || count > MAX_FUNCTIONS || high - low > MAX_CODE)
		return -EINVAL;
	layout->text = layout->base = low;
	layout->text_size = layout->size = high - low;
	return 0;
}

static bool have_frame_pointers(const struct memory *memory, const struct code_function *functions,
				size_t count)
{
	for (size_t i = 0; i < count; i += count / PROLOGUES + 1) {
		if (functions[i].size < PROLOGUE_SIZE ||
		    !prologue_is_at(memory, functions[i].start))
			return false;
	}
	return true;
}

static size_t kept_length(const struct code_function *function)
{
	if (function->name == NULL)
		return 0;
	return strnlen(function->name,
		       function->name_length < MAX_NAME ? function->name_length : MAX_NAME);
}

/* Writes the symbol's name to OUT, which has room. Returns its length with the 0. */
static size_t put_name(const struct code_function *function, char *out)
{
	size_t length = kept_length(function);
	int prefix = snprintf(out, MAX_PREFIX, "wasm[0]::function[%u]%s", function->index,
			      length != 0 ? "::" : "");

	if (length != 0)
		memcpy(out + prefix, function->name, length);
	out[(size_t)prefix + length] = '\0';
	return (size_t)prefix + length + 1;
}

static int fill(struct image_tables *tables, const struct code_function *functions, size_t count,
		uintptr_t text)
{
	size_t room = 1, used = 1;

	for (size_t i = 0; i < count; i++)
		room += MAX_PREFIX + kept_length(&functions[i]);
	if (room >= UINT32_MAX || blob_new(&tables->symtab, count * sizeof(Elf64_Sym)) != 0 ||
	    blob_new(&tables->strtab, room) != 0)
		return -ENOMEM;
	tables->strtab.bytes[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const Elf64_Sym symbol = {
			.st_name = (Elf64_Word)used,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_value = functions[i].start - text,
			.st_size = functions[i].size,
		};

		memcpy(tables->symtab.bytes + i * sizeof(symbol), &symbol, sizeof(symbol));
		used += put_name(&functions[i], (char *)tables->strtab.bytes + used);
	}
	/* symbols.c wants a 0 at the very end */
	memset(tables->strtab.bytes + used, 0, room - used);
	return 0;
}

struct image_tables *codeimage_make(const struct memory *memory,
				    const struct code_function *functions, size_t count,
				    struct image_layout *layout)
{
	struct image_layout made = { .is_bare = true };
	struct image_tables *tables;
	int error = find_extent(functions, count, &made);

	if (error != 0) {
		errno = -error;
		return NULL;
	}
	tables = calloc(1, sizeof(*tables));
	if (tables == NULL || fill(tables, functions, count, made.text) != 0) {
		image_tables_free(tables);
		errno = ENOMEM;
		return NULL;
	}
	made.frame_count = (uint32_t)count;
	made.has_frame_pointers = have_frame_pointers(memory, functions, count);
	*layout = made;
	return tables;
}
