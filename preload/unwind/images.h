/* SPDX-License-Identifier: MIT */
/*
 * images.h - code that no loader knows: its range, its copied .eh_frame, and when it was there.
 *
 * An address is reused as soon as a module is gone, so an image answers only for the generations
 * [born, died). Its index is made at its first sample: most modules have none. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_IMAGES_H
#define PRELOAD_UNWIND_IMAGES_H

#include "preload/unwind/fdetable.h"
#include "symtab/base.h"

struct image {
	uint32_t id;
	uintptr_t text;
	size_t text_size;
	uint8_t *eh_frame; /* owned; NULL when the code has no tables */
	size_t eh_frame_size;
	uintptr_t eh_frame_address;
	struct fdetable table; /* made when the image is found first */
	bool is_indexed;
	uint64_t born, died;
	bool shared; /* its addresses were, or will be, another image's too */
	bool used;   /* the unwinder may remember rows of it */
};

/* As unwind_add_image(). */
int images_add(uint32_t id, const struct fdetable_source *source, uint64_t born);
void images_retire(uint32_t id, uint64_t died);
void images_forget(uint64_t oldest_generation);

/* The image that holds PC in GENERATION (the youngest, should several claim it) with its index, or
 * NULL. Short of memory it has no index until the next time. */
struct image *images_find(uintptr_t pc, uint64_t generation);

/* The same by an address in its .eh_frame. */
struct image *images_find_table(uintptr_t address, uint64_t generation);

/* Whether rows remembered of images could be wrong for a sample of GENERATION. */
bool images_stale(uint64_t generation);

/* Nothing is remembered any more. */
void images_flushed(void);

#endif /* PRELOAD_UNWIND_IMAGES_H */
