/* SPDX-License-Identifier: MIT */
/*
 * object.h - one object that the loader mapped, and its own table of FDEs.
 *
 * .eh_frame_hdr and .eh_frame are read from memory, page by page and guarded, when first needed:
 * the object may be gone by then. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_OBJECT_H
#define PRELOAD_UNWIND_OBJECT_H

#include "preload/unwind/fdetable.h"
#include "preload/unwind/pages.h"
#include "symtab/base.h"

/* What the loader says. */
struct object_place {
	uintptr_t base;
	uintptr_t low, high;	       /* all of its segments */
	uintptr_t code_low, code_high; /* the executable ones */
	uintptr_t header, header_size; /* .eh_frame_hdr; 0: none */
	uintptr_t header_end; /* of the segment that holds it; .eh_frame follows it there */
};

struct object {
	struct object_place place;
	char *name; /* as the loader has it; owned */
	struct pages pages;
	bool used;	  /* the unwinder may remember rows of it */
	bool gone;	  /* unloaded */
	bool header_read; /* the next three are known */
	uintptr_t table;  /* of the sorted {int32 start, int32 fde}, relative to place.header */
	size_t table_count;
	struct fdetable index; /* our own, where .eh_frame_hdr holds no table */
};

/* Copies NAME. NULL when memory is short. */
struct object *object_new(const struct object_place *place, const char *name);
void object_free(struct object *object);

static inline bool object_holds_code(const struct object *object, uintptr_t pc)
{
	return pc >= object->place.code_low && pc < object->place.code_high;
}

/* The FDE that may describe PC; false: there is none, or it could not be read. */
bool object_find_fde(struct object *object, uintptr_t pc, uintptr_t *fde);

/* Copies the tables, up to a limit, in one go: they were wanted when the object was not there. */
void object_fetch_tables(struct object *object);

/* The memory at these addresses may have been another object's when it was copied: copy anew. */
void object_distrust(struct object *object);

#endif /* PRELOAD_UNWIND_OBJECT_H */
