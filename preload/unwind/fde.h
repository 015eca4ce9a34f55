/* SPDX-License-Identifier: MIT */
/*
 * fde.h - which FDE describes an address, and the bytes of it and its CIE.
 *
 * Images first, then loaded objects; both are read from copies. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_FDE_H
#define PRELOAD_UNWIND_FDE_H

#include "symtab/base.h"
#include "symtab/memory.h"

struct image;
struct object;

/* Where tables are: in one of these two. Valid until objects or images change. */
struct fde_place {
	const struct image *image;
	struct object *object;
};

/* The FDE that may describe IP; PLACE is set also when there is none. */
bool fde_find(uintptr_t ip, uint64_t generation, struct fde_place *place, uintptr_t *fde);

/* Copies SIZE bytes of PLACE's tables at ADDRESS. 0 or -EFAULT. */
int fde_read(const struct fde_place *place, uintptr_t address, void *out, size_t size);

/* PLACE's tables as memory. */
struct memory fde_memory(struct fde_place *place);

#endif /* PRELOAD_UNWIND_FDE_H */
