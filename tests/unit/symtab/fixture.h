/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - inputs for the tests of this room: files, memory that reads from a buffer, and
 * builders of wasm binaries and of ELF images.
 */
#ifndef TESTS_UNIT_SYMTAB_FIXTURE_H
#define TESTS_UNIT_SYMTAB_FIXTURE_H

#include "symtab/memory.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	uint8_t *bytes;
	size_t size;
};

#define UNUSED __attribute__((unused))

static UNUSED void bytes_add(struct bytes *to, const void *more, size_t size)
{
	to->bytes = realloc(to->bytes, to->size + size + 1);
	if (to->bytes == NULL)
		abort();
	if (size > 0)
		memcpy(to->bytes + to->size, more, size);
	to->size += size;
}

static UNUSED void bytes_byte(struct bytes *to, unsigned int byte)
{
	uint8_t value = (uint8_t)byte;

	bytes_add(to, &value, 1);
}

static UNUSED void bytes_u32(struct bytes *to, uint32_t value)
{
	bytes_add(to, &value, sizeof(value));
}

static UNUSED void bytes_u64(struct bytes *to, uint64_t value)
{
	bytes_add(to, &value, sizeof(value));
}

static UNUSED void bytes_uleb(struct bytes *to, uint64_t value)
{
	do {
		bytes_byte(to, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value > 0);
}

static UNUSED void bytes_sleb(struct bytes *to, int64_t value)
{
	for (;;) {
		unsigned int byte = value & 0x7f;

		value >>= 7;
		if ((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0)) {
			bytes_byte(to, byte);
			return;
		}
		bytes_byte(to, byte | 0x80);
	}
}

/* A length and the text, as wasm and the engine's metadata have it. */
static UNUSED void bytes_name(struct bytes *to, const char *name)
{
	bytes_uleb(to, strlen(name));
	bytes_add(to, name, strlen(name));
}

static UNUSED void bytes_free(struct bytes *bytes)
{
	free(bytes->bytes);
	*bytes = (struct bytes){ 0 };
}

/* A file of tests/data/symtab, in a block of exactly its size, so that sanitizers see every step
 * past its end. The tests run in the root of the source tree. */
static UNUSED struct bytes bytes_of_file(const char *name)
{
	struct bytes file = { 0 };
	char path[256], part[4096];
	size_t got;
	FILE *stream;

	snprintf(path, sizeof(path), "tests/data/symtab/%s", name);
	stream = fopen(path, "rb");
	if (stream == NULL) {
		fprintf(stderr, "%s: %s (run in the root of the source tree)\n", path,
			strerror(errno));
		exit(1);
	}
	while ((got = fread(part, 1, sizeof(part), stream)) > 0)
		bytes_add(&file, part, got);
	fclose(stream);
	file.bytes = realloc(file.bytes, file.size);
	return file;
}

/* ---- memory that reads from a buffer -------------------------------------------------------- */

static UNUSED int read_bytes(void *context, uintptr_t address, void *out, size_t size)
{
	const struct bytes *from = context;
	uintptr_t start = (uintptr_t)from->bytes;

	if (address < start || address - start > from->size ||
	    size > from->size - (address - start))
		return -EFAULT;
	memcpy(out, (const void *)address, size);
	return 0;
}

static UNUSED struct memory memory_of(struct bytes *bytes)
{
	return (struct memory){ .read = read_bytes, .context = bytes };
}

/* ---- wasm ----------------------------------------------------------------------------------- */

#define WASM_PREAMBLE "\0asm\1\0\0\0"
#define COMPONENT_PREAMBLE "\0asm\x0d\0\1\0"

/* Appends a section, or a subsection, and frees its body. */
static UNUSED void wasm_section(struct bytes *wasm, unsigned int id, struct bytes *body)
{
	bytes_byte(wasm, id);
	bytes_uleb(wasm, body->size);
	bytes_add(wasm, body->bytes, body->size);
	bytes_free(body);
}

/* COUNT functions of type 0, which has no parameters and no results. */
static UNUSED void wasm_functions(struct bytes *wasm, unsigned int count)
{
	struct bytes types = { 0 }, functions = { 0 };
	unsigned int i;

	bytes_add(&types, "\1\x60\0\0", 4);
	wasm_section(wasm, 1, &types);
	bytes_uleb(&functions, count);
	for (i = 0; i < count; i++)
		bytes_byte(&functions, 0);
	wasm_section(wasm, 3, &functions);
}

/* ---- images --------------------------------------------------------------------------------- */

struct image_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	struct bytes body;
};

/* Builds an image of COUNT sections behind each other, plus .shstrtab. Frees their bodies. */
static UNUSED struct bytes build_image(struct image_section *sections, size_t count, uint32_t flags)
{
	Elf64_Ehdr elf = { .e_type = ET_REL, .e_machine = EM_X86_64, .e_flags = flags };
	Elf64_Shdr headers[16] = { 0 };
	struct bytes image = { 0 }, names = { 0 };
	size_t i;

	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.e_ident[EI_OSABI] = 200;
	bytes_byte(&names, 0);
	bytes_add(&image, &elf, sizeof(elf));
	for (i = 0; i <= count; i++) {
		const char *name = i < count ? sections[i].name : ".shstrtab";
		Elf64_Shdr *header = &headers[i + 1];

		header->sh_name = (uint32_t)names.size;
		bytes_add(&names, name, strlen(name) + 1);
		header->sh_type = i < count ? sections[i].type : SHT_STRTAB;
		header->sh_flags = i < count ? sections[i].flags : 0;
		header->sh_offset = image.size;
		if (i < count) {
			header->sh_size = sections[i].body.size;
			bytes_add(&image, sections[i].body.bytes, sections[i].body.size);
			bytes_free(&sections[i].body);
		} else {
			header->sh_size = names.size;
			bytes_add(&image, names.bytes, names.size);
		}
	}
	elf.e_shoff = image.size;
	elf.e_shentsize = sizeof(headers[0]);
	elf.e_shnum = (uint16_t)(count + 2);
	elf.e_shstrndx = (uint16_t)(count + 1);
	bytes_add(&image, headers, elf.e_shnum * sizeof(headers[0]));
	memcpy(image.bytes, &elf, sizeof(elf));
	image.bytes = realloc(image.bytes, image.size);
	bytes_free(&names);
	return image;
}

/* Appends a function symbol of NAME to SYMTAB and STRTAB (which begins with its empty text). */
static UNUSED void add_symbol(struct bytes *symtab, struct bytes *strtab, const char *name,
			      uint64_t value, uint64_t size)
{
	Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_value = value,
			     .st_size = size };

	if (strtab->size == 0)
		bytes_byte(strtab, 0);
	symbol.st_name = (uint32_t)strtab->size;
	bytes_add(strtab, name, strlen(name) + 1);
	bytes_add(symtab, &symbol, sizeof(symbol));
}

#endif /* TESTS_UNIT_SYMTAB_FIXTURE_H */
