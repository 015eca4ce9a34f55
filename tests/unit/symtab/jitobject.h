/* SPDX-License-Identifier: MIT */
/* jitobject.h - an object file as LLVM shows it to debuggers, for tests. */
#ifndef TESTS_UNIT_SYMTAB_JITOBJECT_H
#define TESTS_UNIT_SYMTAB_JITOBJECT_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct jitobject {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4]; /* none, text, symbols, strings */
	Elf64_Sym symbols[4];	/* none, NAME, one without a size, one that is no function */
	char strings[64];
};

/* One function: SIZE bytes at 0x10 of a text that was loaded at TEXT, in a file of TYPE. */
static inline void jitobject_make(struct jitobject *object, uint16_t type, uint64_t text,
				  const char *name, uint64_t size)
{
	uint64_t value = type == ET_REL ? 0x10 : text + 0x10;

	memset(object, 0, sizeof(*object));
	memcpy(object->header.e_ident, ELFMAG, SELFMAG);
	object->header.e_ident[EI_CLASS] = ELFCLASS64;
	object->header.e_ident[EI_DATA] = ELFDATA2LSB;
	object->header.e_type = type;
	object->header.e_shoff = offsetof(struct jitobject, sections);
	object->header.e_shentsize = sizeof(Elf64_Shdr);
	object->header.e_shnum = 4;
	object->sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_addr = text };
	object->sections[2] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct jitobject, symbols),
		.sh_size = sizeof(object->symbols),
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_link = 3,
	};
	object->sections[3] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct jitobject, strings),
		.sh_size = sizeof(object->strings),
	};
	strncpy(object->strings + 1, name, sizeof(object->strings) - 2);
	object->symbols[1] = (Elf64_Sym){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size,
	};
	object->symbols[2] = object->symbols[1];
	object->symbols[2].st_size = 0;
	object->symbols[3] = object->symbols[1];
	object->symbols[3].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
}

#endif /* TESTS_UNIT_SYMTAB_JITOBJECT_H */
