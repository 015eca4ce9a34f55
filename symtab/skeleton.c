/* SPDX-License-Identifier: MIT */
/* skeleton.c - keeps debug sections, counts, and the sizes of sections and bodies. */
#include "symtab/skeleton.h"

#include "symtab/wasmparts.h"

#include <errno.h>
#include <stdlib.h>

enum { PREAMBLE_SIZE = 8, MAX_DEPTH = 32, ZEROS = 4096 };

struct keeping {
	struct wasmbin *bin;
	struct skeleton *skeleton;
	const uint8_t *wasm;
	size_t limit;
	bool has_debug;
	int error;
};

static bool reserve(void **array, size_t *room, size_t count, size_t size)
{
	size_t more = *room == 0 ? 64 : 2 * *room;
	void *bigger;

	while (more < count)
		more *= 2;
	if (count <= *room)
		return true;
	bigger = realloc(*array, more * size);
	if (bigger == NULL)
		return false;
	*array = bigger;
	*room = more;
	return true;
}

static bool add_range(struct skeleton *skeleton, size_t at, size_t size)
{
	struct skeleton_range *last = skeleton->ranges;
	void *ranges = skeleton->ranges;

	if (skeleton->range_count > 0)
		last += skeleton->range_count - 1;
	if (skeleton->range_count > 0 && last->at + last->size == at) {
		last->size += size;
		return true;
	}
	if (!reserve(&ranges, &skeleton->range_room, skeleton->range_count + 1, sizeof(*last)))
		return false;
	skeleton->ranges = ranges;
	skeleton->ranges[skeleton->range_count++] = (struct skeleton_range){ at, size };
	return true;
}

/* Keeps bytes [AT, END) of the binary. AT rises from call to call. */
static void keep(struct keeping *keeping, size_t at, size_t end)
{
	struct skeleton *skeleton = keeping->skeleton;
	size_t size = end - at;
	void *kept = skeleton->kept;

	if (keeping->error != 0 || size == 0)
		return;
	if (size > keeping->limit - skeleton->kept_size) {
		keeping->error = -E2BIG;
		return;
	}
	if (!reserve(&kept, &skeleton->kept_room, skeleton->kept_size + size, 1)) {
		keeping->error = -ENOMEM;
		return;
	}
	skeleton->kept = kept;
	if (!add_range(skeleton, at, size)) {
		keeping->error = -ENOMEM;
		return;
	}
	memcpy(skeleton->kept + skeleton->kept_size, keeping->wasm + at, size);
	skeleton->kept_size += size;
}

/* The count and the size of each body, but no body. */
static void keep_sizes(struct keeping *keeping, struct cursor code)
{
	size_t at = cursor_offset(&code);
	uint32_t left = cursor_uleb32(&code);

	for (; left > 0 && !code.failed; left--) {
		uint32_t size = cursor_uleb32(&code);

		keep(keeping, at, cursor_offset(&code));
		cursor_bytes(&code, size);
		at = cursor_offset(&code);
	}
}

/* Whether lines are made from the custom section in BODY, which is named so. */
static bool is_needed(struct cursor body, bool *is_debug)
{
	static const char *const names[] = {
		".debug_info",	   ".debug_abbrev",   ".debug_line",
		".debug_line_str", ".debug_str",      ".debug_addr",
		".debug_ranges",   ".debug_rnglists", ".debug_str_offsets",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct cursor cursor = body;

		if (!wasmbin_section_is(&cursor, names[i]))
			continue;
		*is_debug |= i == 0;
		return true;
	}
	return false;
}

static void keep_core(struct keeping *keeping, struct cursor body)
{
	size_t at = cursor_offset(&body);
	struct section section;

	while (keeping->error == 0 && wasmbin_next_section(keeping->bin, &body, &section)) {
		size_t start = cursor_offset(&section.body);
		bool is_whole = section.id == SECTION_IMPORT || section.id == SECTION_FUNCTION;

		if (section.id == SECTION_CUSTOM)
			is_whole = is_needed(section.body, &keeping->has_debug);
		keep(keeping, at, is_whole ? start + cursor_left(&section.body) : start);
		if (section.id == SECTION_CODE)
			keep_sizes(keeping, section.body);
		at = cursor_offset(&body);
	}
}

static void keep_component(struct keeping *keeping, struct cursor body, unsigned int depth)
{
	size_t at = cursor_offset(&body);
	struct section section;

	while (keeping->error == 0 && wasmbin_next_section(keeping->bin, &body, &section)) {
		size_t start = cursor_offset(&section.body);
		bool is_nested = section.id == SECTION_CORE_MODULE ||
				 (section.id == SECTION_COMPONENT && depth < MAX_DEPTH);

		if (is_nested && cursor_bytes(&section.body, PREAMBLE_SIZE) != NULL)
			start += PREAMBLE_SIZE;
		keep(keeping, at, start);
		if (is_nested && section.id == SECTION_CORE_MODULE)
			keep_core(keeping, section.body);
		else if (is_nested)
			keep_component(keeping, section.body, depth + 1);
		at = cursor_offset(&body);
	}
}

struct skeleton *skeleton_new(struct wasmbin *bin, const uint8_t *wasm, size_t size, size_t limit)
{
	struct keeping keeping = { .bin = bin, .wasm = wasm, .limit = limit };
	struct cursor body = cursor_of(wasm, size);

	keeping.skeleton = calloc(1, sizeof(*keeping.skeleton));
	if (keeping.skeleton == NULL)
		return NULL;
	keeping.skeleton->size = size;
	cursor_bytes(&body, PREAMBLE_SIZE);
	keep(&keeping, 0, PREAMBLE_SIZE);
	if (bin->is_component)
		keep_component(&keeping, body, 0);
	else
		keep_core(&keeping, body);
	if (keeping.error == 0 && !keeping.has_debug)
		keeping.error = -ENOENT;
	if (keeping.error == 0)
		return keeping.skeleton;
	skeleton_free(keeping.skeleton);
	errno = -keeping.error;
	return NULL;
}

void skeleton_free(struct skeleton *skeleton)
{
	if (skeleton == NULL)
		return;
	free(skeleton->kept);
	free(skeleton->ranges);
	free(skeleton);
}

static int put_zeros(size_t size, int (*put)(void *context, const void *bytes, size_t size),
		     void *context)
{
	static const uint8_t zeros[ZEROS];
	int result = 0;

	while (result == 0 && size > 0) {
		size_t piece = size < ZEROS ? size : ZEROS;

		result = put(context, zeros, piece);
		size -= piece;
	}
	return result;
}

int skeleton_write(const struct skeleton *skeleton,
		   int (*put)(void *context, const void *bytes, size_t size), void *context)
{
	const uint8_t *kept = skeleton->kept;
	size_t at = 0;
	int result = 0;

	for (size_t i = 0; result == 0 && i < skeleton->range_count; i++) {
		const struct skeleton_range *range = &skeleton->ranges[i];

		result = put_zeros(range->at - at, put, context);
		if (result == 0)
			result = put(context, kept, range->size);
		kept += range->size;
		at = range->at + range->size;
	}
	return result != 0 ? result : put_zeros(skeleton->size - at, put, context);
}

int wasmbin_keep_debug(struct wasmbin *bin, const uint8_t *wasm, size_t size, size_t limit)
{
	if (bin->skeleton != NULL)
		return 0;
	bin->skeleton = skeleton_new(bin, wasm, size, limit);
	return bin->skeleton != NULL ? 0 : -errno;
}

size_t wasmbin_debug_size(const struct wasmbin *bin)
{
	return bin->skeleton != NULL ? bin->skeleton->size : 0;
}

int wasmbin_debug_write(const struct wasmbin *bin,
			int (*put)(void *context, const void *bytes, size_t size), void *context)
{
	return bin->skeleton != NULL ? skeleton_write(bin->skeleton, put, context) : 0;
}
