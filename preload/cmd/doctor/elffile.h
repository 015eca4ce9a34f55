/* SPDX-License-Identifier: MIT */
/*
 * elffile.h - what an ELF file says of itself: whom it is for, what it needs, exports and holds.
 *
 * The file may be anything, and may change while it is read: all reads are bounded and checked,
 * nothing is mapped, and of what contradicts itself only the part before that is told.
 */
#ifndef PRELOAD_CMD_DOCTOR_ELFFILE_H
#define PRELOAD_CMD_DOCTOR_ELFFILE_H

#include <elf.h>

#include "symtab/base.h"

enum { ELFFILE_NEEDED_MAX = 64, ELFFILE_LOADS_MAX = 16 };

struct elffile {
	int fd; /* owned */
	uint64_t size;
	bool is_native; /* 64 bits and for this machine; where it is not, only the next is known */
	bool is_32bit;
	uint16_t machine;
	bool has_dynamic;      /* without: linked statically, or a static PIE's */
	bool has_symbols;      /* .symtab: names of functions that are not exported */
	bool is_damaged;       /* its headers lead outside the file */
	char interpreter[256]; /* the dynamic loader's path; "" when there is none */

	/* Of the dynamic section; all in `strings`. NULL: none. */
	const char *needed[ELFFILE_NEEDED_MAX];
	size_t needed_count;
	const char *search_path; /* DT_RUNPATH, else DT_RPATH */
	char *strings;		 /* owned, terminated */
	size_t strings_size;
	Elf64_Sym *symbols; /* owned */
	size_t symbol_count;

	Elf64_Phdr loads[ELFFILE_LOADS_MAX]; /* PT_LOAD */
	size_t load_count;
};

/*
 * Opens PATH. 0; -ENOEXEC: no ELF file; negative errno: it cannot be opened, or memory is short.
 * Then, and only then, elffile_close().
 */
int elffile_open(struct elffile *file, const char *path);
void elffile_close(struct elffile *file);

enum elffile_symbol { ELFFILE_ABSENT, ELFFILE_WANTED, ELFFILE_DEFINED };

/* Whether NAME is among the dynamic symbols: asked of others, or there for them. */
enum elffile_symbol elffile_symbol(const struct elffile *file, const char *name);

/*
 * The newest "GLIBC_2.N" that it names: what it asks for, or, of the libc itself, what that has.
 * N; 0: none.
 */
unsigned int elffile_glibc(const struct elffile *file);

/*
 * Gives VISIT the bytes that are loaded and not executed, in pieces: at most a megabyte, each but
 * the first of a part begins with the last OVERLAP bytes of the one before. Up to 512 MiB in all.
 * 0 or -ENOMEM.
 */
int elffile_texts(const struct elffile *file, size_t overlap,
		  void (*visit)(void *context, const uint8_t *bytes, size_t size), void *context);

#endif /* PRELOAD_CMD_DOCTOR_ELFFILE_H */
