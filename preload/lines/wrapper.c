/* SPDX-License-Identifier: MIT */
/* wrapper.c - writes the ELF header and opens it with libdw. Threads: one at a time for an image.
 */
#include "preload/lines/wrapper.h"

#include <errno.h>
#include <string.h>

/* Section 0 is none; then the debug sections; then the names. */
enum { NAMES_SECTION = DEBUG_COUNT + 1, SECTION_COUNT = DEBUG_COUNT + 2 };
enum { NAMES_SIZE = 256 };

struct header {
	Elf32_Ehdr elf;
	Elf32_Shdr sections[SECTION_COUNT];
	char names[NAMES_SIZE];
};

_Static_assert(sizeof(struct header) <= WRAPPER_ROOM, "the header has room");

/* Appends NAME; its place in the names. */
static Elf32_Word add_name(struct header *header, size_t *used, const char *name)
{
	size_t at = *used, size = strlen(name) + 1;

	memcpy(header->names + at, name, size);
	*used += size;
	return (Elf32_Word)at;
}

static void add_sections(struct header *header, const struct sections_core *core)
{
	size_t used = 1;

	for (int i = 0; i < DEBUG_COUNT; i++) {
		header->sections[i + 1] = (Elf32_Shdr){
			.sh_name = add_name(header, &used, sections_names[i]),
			.sh_type = core->debug[i].size != 0 ? SHT_PROGBITS : SHT_NULL,
			.sh_offset = (Elf32_Off)(WRAPPER_ROOM + core->debug[i].at),
			.sh_size = (Elf32_Word)core->debug[i].size,
			.sh_addralign = 1,
		};
	}
	header->sections[NAMES_SECTION] = (Elf32_Shdr){
		.sh_name = add_name(header, &used, ".shstrtab"),
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct header, names),
		.sh_size = NAMES_SIZE,
		.sh_addralign = 1,
	};
}

static void write_header(uint8_t *image, const struct sections_core *core)
{
	struct header header = {
		.elf = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, /* nothing to relocate */
			.e_version = EV_CURRENT,
			.e_shoff = offsetof(struct header, sections),
			.e_ehsize = sizeof(Elf32_Ehdr),
			.e_shentsize = sizeof(Elf32_Shdr),
			.e_shnum = SECTION_COUNT,
			.e_shstrndx = NAMES_SECTION,
		},
	};

	add_sections(&header, core);
	memcpy(image, &header, sizeof(header));
}

int wrapper_open(struct wrapper *wrapper, uint8_t *image, size_t size,
		 const struct sections_core *core)
{
	*wrapper = (struct wrapper){ 0 };
	write_header(image, core);
	elf_version(EV_CURRENT);
	wrapper->elf = elf_memory((char *)image, WRAPPER_ROOM + size);
	if (wrapper->elf != NULL)
		wrapper->dwarf = dwarf_begin_elf(wrapper->elf, DWARF_C_READ, NULL);
	if (wrapper->dwarf != NULL)
		return 0;
	wrapper_close(wrapper);
	return -EBADMSG;
}

void wrapper_close(struct wrapper *wrapper)
{
	dwarf_end(wrapper->dwarf);
	elf_end(wrapper->elf);
	*wrapper = (struct wrapper){ 0 };
}
