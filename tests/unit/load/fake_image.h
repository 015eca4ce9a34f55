/* SPDX-License-Identifier: MIT */
/*
 * fake_image.h - a code image as an engine maps it, small enough to make by hand: for what a real
 * engine cannot be made to do (addresses reused at once, handles deleted early, damaged tables).
 *
 *   page 0: ELF header, engine version, section names    r--
 *   page 1: .text, FUNCTIONS of 64 bytes each              r-x
 *   page 2: .eh_frame                                      r--
 *   page 3: .symtab .strtab, section headers               r--
 */
#ifndef TESTS_UNIT_LOAD_FAKE_IMAGE_H
#define TESTS_UNIT_LOAD_FAKE_IMAGE_H

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "symtab/base.h"

enum { FAKE_PAGE = 4096, FAKE_SIZE = 4 * FAKE_PAGE, FAKE_FUNCTION = 64 };

struct fake_section {
	const char *name;
	uint32_t type;
	size_t offset, size;
	uint32_t link;
	size_t entry_size;
};

static inline void fake_headers(uint8_t *image, const struct fake_section *sections, size_t count)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	Elf64_Shdr *table = (Elf64_Shdr *)(image + 3 * FAKE_PAGE + 2048);
	char *names = (char *)image + 1024;
	size_t at = 1;

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_ident[EI_OSABI] = 200;
	header->e_type = ET_REL;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_flags = 1;
	header->e_ehsize = sizeof(*header);
	header->e_shoff = (size_t)((uint8_t *)table - image);
	header->e_shentsize = sizeof(*table);
	header->e_shnum = (uint16_t)(count + 1);
	header->e_shstrndx = (uint16_t)count;
	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Shdr){
			.sh_name = (uint32_t)at,
			.sh_type = sections[i].type,
			.sh_offset = sections[i].offset,
			.sh_size = sections[i].size,
			.sh_link = sections[i].link,
			.sh_entsize = sections[i].entry_size,
			.sh_addralign = 1,
		};
		at += (size_t)sprintf(names + at, "%s", sections[i].name) + 1;
	}
}

/* One CIE and one FDE for all of .text, as Cranelift encodes pointers (pcrel|sdata4), and the end.
 */
static inline size_t fake_eh_frame(uint8_t *at, size_t text_size)
{
	static const uint8_t cie[] = { 20, 0,	 0,  0, 0,    0,    0, 0, 1,	'z', 'R', 0,
				       1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,	  0 };
	uint32_t fde[5] = { 16, sizeof(cie) + 4, 0, (uint32_t)text_size, 0 };

	memcpy(at, cie, sizeof(cie));
	fde[2] = (uint32_t)(-(int32_t)(FAKE_PAGE + sizeof(cie) + 8)); /* back to .text */
	memcpy(at + sizeof(cie), fde, sizeof(fde));
	memset(at + sizeof(cie) + sizeof(fde), 0, 4);
	return sizeof(cie) + sizeof(fde) + 4;
}

static inline size_t fake_symbols(uint8_t *image, const char *prefix, unsigned int functions,
				  size_t *strings_size)
{
	Elf64_Sym *symbols = (Elf64_Sym *)(image + 3 * FAKE_PAGE);
	char *strings = (char *)image + 3 * FAKE_PAGE + 1024;
	size_t at = 1;

	for (unsigned int i = 0; i < functions; i++) {
		symbols[i + 1] = (Elf64_Sym){
			.st_name = (uint32_t)at,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_shndx = 2,
			.st_value = i * FAKE_FUNCTION,
			.st_size = FAKE_FUNCTION,
		};
		at += (size_t)sprintf(strings + at, "wasm[0]::function[%u]::%s%u", i, prefix, i) +
		      1;
	}
	*strings_size = at;
	return (functions + 1) * sizeof(*symbols);
}

/* Maps an image whose functions are PREFIX0, PREFIX1, ... at ADDRESS (NULL: anywhere). */
static inline uint8_t *fake_image_map(void *address, const char *prefix, unsigned int functions)
{
	uint8_t *image =
		mmap(address, FAKE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | (address != NULL ? MAP_FIXED : 0), -1, 0);
	size_t strings_size, symbols_size = fake_symbols(image, prefix, functions, &strings_size);
	size_t frames_size = fake_eh_frame(image + 2 * FAKE_PAGE, functions * FAKE_FUNCTION);
	const struct fake_section sections[] = {
		{ ".wasmtime.engine", SHT_PROGBITS, 64, 4, 0, 0 },
		{ ".text", SHT_PROGBITS, FAKE_PAGE, functions * FAKE_FUNCTION, 0, 0 },
		{ ".eh_frame", SHT_PROGBITS, 2 * FAKE_PAGE, frames_size, 0, 0 },
		{ ".symtab", SHT_SYMTAB, 3 * FAKE_PAGE, symbols_size, 5, sizeof(Elf64_Sym) },
		{ ".strtab", SHT_STRTAB, 3 * FAKE_PAGE + 1024, strings_size, 0, 0 },
		{ ".shstrtab", SHT_STRTAB, 1024, 512, 0, 0 },
	};

	memcpy(image + 64, "\0\00250", 4);
	memset(image + FAKE_PAGE, 0x90, functions * FAKE_FUNCTION);
	fake_headers(image, sections, ARRAY_SIZE(sections));
	mprotect(image, FAKE_PAGE, PROT_READ);
	mprotect(image + FAKE_PAGE, FAKE_PAGE, PROT_READ | PROT_EXEC);
	mprotect(image + 2 * FAKE_PAGE, 2 * FAKE_PAGE, PROT_READ);
	return image;
}

static inline uint8_t *fake_image_text(uint8_t *image)
{
	return image + FAKE_PAGE;
}

static inline uint8_t *fake_image_frames(uint8_t *image)
{
	return image + 2 * FAKE_PAGE;
}

static inline void fake_image_unmap(uint8_t *image)
{
	munmap(image, FAKE_SIZE);
}

#endif /* TESTS_UNIT_LOAD_FAKE_IMAGE_H */
