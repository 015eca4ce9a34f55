/* SPDX-License-Identifier: MIT */
/*
 * images.c - the table of images, sorted by where their text starts.
 *
 * Entries of one address follow each other, told apart by generation. Threads: ours only.
 */
#include "preload/unwind/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"

enum { MAX_EH_FRAME = 256 << 20 };

static struct {
	struct image **images;
	size_t count, capacity;
	size_t longest_text; /* bounds how far left of an address its image may start */
	bool stale;	     /* a used image is gone */
} self;

static void image_free(struct image *image)
{
	if (image == NULL)
		return;
	fdetable_free(&image->table);
	free(image->eh_frame);
	free(image);
}

static struct image *image_new(uint32_t id, const struct fdetable_source *source, uint64_t born)
{
	struct image *image = calloc(1, sizeof(*image));

	if (image == NULL)
		return NULL;
	*image = (struct image){
		.id = id,
		.text = source->text,
		.text_size = source->text_size,
		.eh_frame_size = source->size,
		.eh_frame_address = source->address,
		.born = born,
		.died = UINT64_MAX,
	};
	if (source->size == 0)
		return image;
	image->eh_frame = malloc(source->size);
	if (image->eh_frame == NULL) {
		image_free(image);
		return NULL;
	}
	memcpy(image->eh_frame, source->bytes, source->size);
	return image;
}

static void report_damage(const struct image *image)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (image->table.damaged || image->table.rejected > 0)
		log_once(&once,
			 "unwind tables of code at 0x%zx are damaged: %zu functions kept, "
			 "%zu dropped; stacks through it may be cut",
			 image->text, image->table.count, image->table.rejected);
}

static void make_index(struct image *image)
{
	const struct fdetable_source source = {
		.bytes = image->eh_frame,
		.size = image->eh_frame_size,
		.address = image->eh_frame_address,
		.text = image->text,
		.text_size = image->text_size,
	};

	if (image->eh_frame == NULL || fdetable_index(&image->table, &source) != 0)
		return;
	image->is_indexed = true;
	report_damage(image);
}

/* Index of the first image whose text starts above ADDRESS. */
static size_t upper_bound(uintptr_t address)
{
	size_t low = 0, high = self.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (self.images[middle]->text <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool holds(const struct image *image, uintptr_t pc)
{
	return pc >= image->text && pc - image->text < image->text_size;
}

static bool alive(const struct image *image, uint64_t generation)
{
	return image->born <= generation && generation < image->died;
}

static bool overlap(const struct image *a, const struct image *b)
{
	return holds(a, b->text) || holds(b, a->text);
}

static bool reserve_one(void)
{
	size_t capacity = self.capacity == 0 ? 32 : self.capacity * 2;
	struct image **images;

	if (self.count < self.capacity)
		return true;
	images = realloc(self.images, capacity * sizeof(*images));
	if (images == NULL)
		return false;
	self.images = images;
	self.capacity = capacity;
	return true;
}

static void insert(struct image *image)
{
	size_t at = upper_bound(image->text), i;

	for (i = upper_bound(image->text + image->text_size - 1); i-- > 0;) {
		struct image *other = self.images[i];

		if (other->text < image->text && image->text - other->text >= self.longest_text)
			break;
		if (overlap(image, other))
			image->shared = other->shared = true;
	}
	memmove(&self.images[at + 1], &self.images[at], (self.count - at) * sizeof(self.images[0]));
	self.images[at] = image;
	self.count++;
	if (image->text_size > self.longest_text)
		self.longest_text = image->text_size;
}

int images_add(uint32_t id, const struct fdetable_source *source, uint64_t born)
{
	struct image *image;

	if (source->text_size == 0 || source->text + source->text_size < source->text)
		return -EINVAL;
	if (source->size > MAX_EH_FRAME || source->address + source->size < source->address)
		return -EINVAL;
	if (!reserve_one())
		return -ENOMEM;
	image = image_new(id, source, born);
	if (image == NULL)
		return -ENOMEM;
	insert(image);
	return 0;
}

void images_retire(uint32_t id, uint64_t died)
{
	size_t i;

	for (i = 0; i < self.count; i++) {
		if (self.images[i]->id == id && self.images[i]->died > died)
			self.images[i]->died = died;
	}
}

void images_forget(uint64_t oldest_generation)
{
	size_t i, kept = 0;

	self.longest_text = 0;
	for (i = 0; i < self.count; i++) {
		struct image *image = self.images[i];

		if (image->died > oldest_generation) {
			self.images[kept++] = image;
			if (image->text_size > self.longest_text)
				self.longest_text = image->text_size;
			continue;
		}
		self.stale |= image->used;
		image_free(image);
	}
	self.count = kept;
}

struct image *images_find(uintptr_t pc, uint64_t generation)
{
	struct image *found = NULL;
	size_t i;

	for (i = upper_bound(pc); i-- > 0;) {
		struct image *image = self.images[i];

		if (pc - image->text >= self.longest_text)
			break;
		if (!holds(image, pc) || !alive(image, generation))
			continue;
		if (found == NULL || image->born > found->born)
			found = image;
	}
	if (found != NULL && !found->is_indexed)
		make_index(found);
	return found;
}

struct image *images_find_table(uintptr_t address, uint64_t generation)
{
	struct image *found = NULL;
	size_t i;

	for (i = 0; i < self.count; i++) {
		struct image *image = self.images[i];

		if (address - image->eh_frame_address >= image->eh_frame_size ||
		    !alive(image, generation))
			continue;
		if (found == NULL || image->born > found->born)
			found = image;
	}
	return found;
}

bool images_stale(uint64_t generation)
{
	size_t i;

	for (i = 0; i < self.count && !self.stale; i++) {
		const struct image *image = self.images[i];

		if (image->used && image->shared && !alive(image, generation))
			self.stale = true;
	}
	return self.stale;
}

void images_flushed(void)
{
	size_t i;

	for (i = 0; i < self.count; i++)
		self.images[i]->used = false;
	self.stale = false;
}
