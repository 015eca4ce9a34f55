/* SPDX-License-Identifier: MIT */
/*
 * elves.h - small ELF files for tests: one segment with all bytes, a loader, a dynamic section.
 */
#ifndef TESTS_UNIT_CMD_ELVES_H
#define TESTS_UNIT_CMD_ELVES_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/encode/recordings.h"

struct elf {
	Elf64_Ehdr header;
	Elf64_Phdr programs[3]; /* loaded, interpreter, dynamic */
	Elf64_Dyn dynamic[8];
	Elf64_Sym symbols[3];
	Elf64_Shdr sections[2];
	char interpreter[64];
	char strings[256];
	char text[256]; /* loaded, anything */
};

enum { LOADED, INTERPRETER, DYNAMIC };

/* Offsets in `strings`. */
enum { LIBRARY_AT = 1, PATH_AT = 32, WANTED_AT = 64, DEFINED_AT = 96, GLIBC_AT = 160 };

static inline void elf_dynamic(struct elf *elf)
{
	const Elf64_Dyn dynamic[] = {
		{ DT_STRTAB, { offsetof(struct elf, strings) } },
		{ DT_STRSZ, { sizeof(elf->strings) } },
		{ DT_SYMTAB, { offsetof(struct elf, symbols) } },
		{ DT_NEEDED, { LIBRARY_AT } },
		{ DT_RUNPATH, { PATH_AT } },
		{ DT_NULL, { 0 } },
	};

	memcpy(elf->dynamic, dynamic, sizeof(dynamic));
	strcpy(elf->strings + LIBRARY_AT, "libneeded.so");
	strcpy(elf->strings + PATH_AT, "$ORIGIN/lib");
	strcpy(elf->strings + WANTED_AT, "__register_frame");
	strcpy(elf->strings + DEFINED_AT, "wasmtime_module_new");
	strcpy(elf->strings + GLIBC_AT, "GLIBC_2.17");
	strcpy(elf->strings + GLIBC_AT + 16, "GLIBC_2.4");
	elf->symbols[1].st_name = WANTED_AT;
	elf->symbols[2].st_name = DEFINED_AT;
	elf->symbols[2].st_shndx = 1;
	elf->sections[0] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
					 .sh_offset = offsetof(struct elf, symbols),
					 .sh_size = sizeof(elf->symbols) };
}

/* A dynamically linked program for glibc; without INTERPRETER a static one. */
static inline struct elf elf_new(const char *interpreter)
{
	struct elf elf = { .header = { .e_ident = ELFMAG,
				       .e_type = ET_DYN,
				       .e_machine = EM_X86_64,
				       .e_phoff = offsetof(struct elf, programs),
				       .e_phentsize = sizeof(Elf64_Phdr),
				       .e_phnum = 3,
				       .e_shoff = offsetof(struct elf, sections),
				       .e_shentsize = sizeof(Elf64_Shdr),
				       .e_shnum = 2 } };

	elf.header.e_ident[EI_CLASS] = ELFCLASS64;
	elf.header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.programs[LOADED] =
		(Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof(elf) };
	if (interpreter == NULL)
		return elf;
	strcpy(elf.interpreter, interpreter);
	elf.programs[INTERPRETER] = (Elf64_Phdr){ .p_type = PT_INTERP,
						  .p_offset = offsetof(struct elf, interpreter),
						  .p_filesz = strlen(interpreter) + 1 };
	elf.programs[DYNAMIC] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
					      .p_offset = offsetof(struct elf, dynamic),
					      .p_filesz = sizeof(elf.dynamic) };
	elf_dynamic(&elf);
	return elf;
}

static inline void elf_write(const char *name, const struct elf *elf)
{
	free(write_bytes(name, elf, sizeof(*elf)));
	chmod(name, 0755);
}

#endif /* TESTS_UNIT_CMD_ELVES_H */
