/* SPDX-License-Identifier: MIT */
/*
 * wrapper.h - gives libdw the debug sections of a core module, as those of an ELF file.
 *
 * libdw reads ELF only. So the file's bytes lie behind room for a header, and the header that is
 * written there names the sections where they are; nothing is copied:
 *
 *   | Elf32_Ehdr, names, Elf32_Shdr[] | bytes of the wasm file ... | 0 |
 *   image                             image + WRAPPER_ROOM
 */
#ifndef PRELOAD_LINES_WRAPPER_H
#define PRELOAD_LINES_WRAPPER_H

#include "preload/lines/sections.h"

#include <elfutils/libdw.h>

enum { WRAPPER_ROOM = 4096 };

struct wrapper {
	Elf *elf;
	Dwarf *dwarf;
};

/*
 * IMAGE holds room for the header, then SIZE bytes of the file, then a zero byte (a string at the
 * end of the last section ends). One wrapper of an image at a time; IMAGE outlives it. 0, or
 * -EBADMSG: libdw finds no debug information there.
 */
int wrapper_open(struct wrapper *wrapper, uint8_t *image, size_t size,
		 const struct sections_core *core);
void wrapper_close(struct wrapper *wrapper);

#endif /* PRELOAD_LINES_WRAPPER_H */
