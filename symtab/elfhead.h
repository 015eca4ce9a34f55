/* SPDX-License-Identifier: MIT */
/* elfhead.h - the ELF files that we read: of 64 bits, little-endian, with usual section headers. */
#ifndef SYMTAB_ELFHEAD_H
#define SYMTAB_ELFHEAD_H

#include <elf.h>
#include <string.h>

#include "symtab/base.h"

static inline bool elfhead_is_usual(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_shentsize == sizeof(Elf64_Shdr);
}

#endif /* SYMTAB_ELFHEAD_H */
