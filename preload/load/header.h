/* SPDX-License-Identifier: MIT */
/*
 * header.h - from any address in a code image to its ELF header.
 */
#ifndef PRELOAD_LOAD_HEADER_H
#define PRELOAD_LOAD_HEADER_H

#include "symtab/symtab.h"

/*
 * Looks back from ADDRESS, page by page, for the header of the image that holds it. Returns 0,
 * -ENOENT when unreadable memory or 512 MiB came first, or what image_probe() says.
 */
int header_find(uintptr_t address, struct image_layout *layout);

#endif /* PRELOAD_LOAD_HEADER_H */
