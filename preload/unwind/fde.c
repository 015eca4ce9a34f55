/* SPDX-License-Identifier: MIT */
/* fde.c - the search for an FDE over images and objects. Threads: ours only. */
#include "preload/unwind/fde.h"

#include <errno.h>
#include <string.h>

#include "preload/unwind/images.h"
#include "preload/unwind/objects.h"

bool fde_find(uintptr_t ip, uint64_t generation, struct fde_place *place, uintptr_t *fde)
{
	struct image *image = images_find(ip, generation);

	place->image = image;
	place->object = image == NULL ? objects_find_code(ip) : NULL;
	if (image != NULL) {
		image->used = true;
		return fdetable_find(&image->table, ip, fde);
	}
	if (place->object == NULL)
		return false;
	place->object->used = true;
	return object_find_fde(place->object, ip, fde);
}

int fde_read(const struct fde_place *place, uintptr_t address, void *out, size_t size)
{
	const struct image *image = place->image;

	if (place->object != NULL)
		return pages_read(&place->object->pages, address, out, size);
	if (image == NULL || address - image->eh_frame_address > image->eh_frame_size ||
	    image->eh_frame_size - (address - image->eh_frame_address) < size)
		return -EFAULT;
	memcpy(out, image->eh_frame + (address - image->eh_frame_address), size);
	return 0;
}

static int read_place(void *context, uintptr_t address, void *out, size_t size)
{
	return fde_read(context, address, out, size);
}

struct memory fde_memory(struct fde_place *place)
{
	return (struct memory){ .read = read_place, .context = place };
}
