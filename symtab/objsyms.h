/* SPDX-License-Identifier: MIT */
/*
 * objsyms.h - names of functions in an object file: its .symtab, else its .dynsym, read from disk.
 *
 * The file is a stranger's: reads are bounded and checked, and nothing of it is mapped (it may be
 * cut off while we read). Only an index is kept, 16 bytes a function; names are read when asked
 * for. Threads: one at a time for one object.
 */
#ifndef SYMTAB_OBJSYMS_H
#define SYMTAB_OBJSYMS_H

#include "symtab/base.h"

struct objsyms;

enum { OBJSYMS_HEADER = 64, OBJSYMS_NAME_MAX = 4096 };

/*
 * Opens the ELF64 file at PATH, whose first OBJSYMS_HEADER bytes must be HEADER (what is in memory:
 * the file on disk may have been replaced); NULL does not check. Returns NULL with errno set:
 * ESTALE for another file, EINVAL for no or a damaged ELF, ENODATA when it names no function,
 * ENOMEM, or what opening it said. Keeps a descriptor open.
 */
struct objsyms *objsyms_open(const char *path, const uint8_t *header);
void objsyms_close(struct objsyms *objsyms);

size_t objsyms_count(const struct objsyms *objsyms);

/*
 * The name, as the file has it, of the function that covers ADDRESS (as the file counts: without
 * the load base). NULL when none does. Valid until the next call.
 */
const char *objsyms_find(struct objsyms *objsyms, uint64_t address);

#endif /* SYMTAB_OBJSYMS_H */
