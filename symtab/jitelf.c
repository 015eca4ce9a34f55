/* SPDX-License-Identifier: MIT */
/* jitelf.c - section headers, symbols, their names; nothing is believed. */
#include "symtab/jitelf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symtab/elfhead.h"

enum { MAX_FUNCTIONS = 65536 };

struct file {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	Elf64_Shdr symbols, strings;
};

static bool read_at(const struct file *file, uint64_t offset, void *out, size_t size)
{
	if (offset > file->size || size > file->size - offset)
		return false;
	memcpy(out, file->bytes + offset, size);
	return true;
}

static bool read_section(const struct file *file, uint64_t index, Elf64_Shdr *section)
{
	uint64_t offset = file->header.e_shoff + index * sizeof(*section);

	return index < file->header.e_shnum && offset >= file->header.e_shoff &&
	       read_at(file, offset, section, sizeof(*section));
}

static bool read_header(struct file *file)
{
	return read_at(file, 0, &file->header, sizeof(file->header)) &&
	       elfhead_is_usual(&file->header);
}

/* The symbol table, and the strings that it names. */
static bool find_symbols(struct file *file)
{
	for (uint32_t i = 0; i < file->header.e_shnum; i++) {
		if (!read_section(file, i, &file->symbols))
			return false;
		if (file->symbols.sh_type == SHT_SYMTAB &&
		    file->symbols.sh_entsize == sizeof(Elf64_Sym))
			return read_section(file, file->symbols.sh_link, &file->strings);
	}
	return false;
}

/* What the file's name for SYMBOL is; false: none. */
static bool name_of(const struct file *file, const Elf64_Sym *symbol,
		    struct jitelf_function *function)
{
	uint64_t offset = file->strings.sh_offset + symbol->st_name, left;

	if (symbol->st_name >= file->strings.sh_size || offset < file->strings.sh_offset ||
	    offset >= file->size)
		return false;
	left = file->strings.sh_size - symbol->st_name;
	if (left > file->size - offset)
		left = file->size - offset;
	function->name = (const char *)file->bytes + offset;
	function->name_length = strnlen(function->name, (size_t)left);
	return function->name_length != 0;
}

static bool place_of(const struct file *file, const Elf64_Sym *symbol,
		     struct jitelf_function *function)
{
	Elf64_Shdr section = { 0 };

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size == 0 ||
	    symbol->st_shndx == SHN_UNDEF)
		return false;
	if (file->header.e_type == ET_REL &&
	    (!read_section(file, symbol->st_shndx, &section) || section.sh_addr == 0))
		return false;
	function->start = section.sh_addr + symbol->st_value;
	function->size = symbol->st_size;
	return function->start != 0 && function->start >= section.sh_addr &&
	       function->start + function->size >= function->start;
}

int jitelf_functions(const uint8_t *bytes, size_t size,
		     void (*visit)(void *context, const struct jitelf_function *function),
		     void *context)
{
	struct file file = { .bytes = bytes, .size = size };
	struct jitelf_function function;
	uint64_t count;
	Elf64_Sym symbol;

	if (!read_header(&file) || !find_symbols(&file))
		return -EINVAL;
	count = file.symbols.sh_size / sizeof(symbol);
	for (uint64_t i = 0; i < count && i < MAX_FUNCTIONS; i++) {
		uint64_t offset = file.symbols.sh_offset + i * sizeof(symbol);

		if (offset < file.symbols.sh_offset ||
		    !read_at(&file, offset, &symbol, sizeof(symbol)))
			break;
		if (place_of(&file, &symbol, &function) && name_of(&file, &symbol, &function))
			visit(context, &function);
	}
	return 0;
}
