/* SPDX-License-Identifier: MIT */
/* code.c - what stands at and before a code address. Threads: ours only. */
#include "preload/unwind/code.h"

#include <string.h>

#include "preload/base/guarded.h"
#include "preload/unwind/code_x86_64.h"
#include "preload/unwind/images.h"
#include "preload/unwind/objects.h"

enum { REMEMBERED = 4096 };

static struct {
	uintptr_t good[REMEMBERED]; /* return addresses that were checked, by hash */
} self;

bool code_read(uintptr_t pc, void *out, size_t size)
{
	return guarded_read(pc, out, size) == 0;
}

bool code_is_image(uintptr_t pc, uint64_t generation)
{
	return images_find(pc, generation) != NULL;
}

bool code_is_known(uintptr_t pc, uint64_t generation)
{
	return code_is_image(pc, generation) || objects_find_code(pc) != NULL;
}

bool code_is_there(uintptr_t pc, uint64_t generation)
{
	const struct image *image = images_find(pc, generation);
	const struct object *object;

	if (image != NULL)
		return image->died == UINT64_MAX;
	object = objects_find_code(pc);
	return object != NULL && !object->gone;
}

bool code_follows_call(uintptr_t pc, uint64_t generation)
{
	uintptr_t *good = &self.good[(pc * 0x9e3779b97f4a7c15ull) >> 52];
	uint8_t before[CODE_CALL_MAX];

	_Static_assert(REMEMBERED == 1 << (64 - 52), "the hash must give every slot");
	/* a return address may be one past the end of its function, so of its object: ask for the
	 * call */
	if (!code_is_known(pc - 1, generation))
		return false;
	if (*good == pc)
		return true;
	if (code_is_there(pc - 1, generation)) {
		if (code_read(pc - sizeof(before), before, sizeof(before)) &&
		    !code_ends_in_call(before))
			return false;
		*good = pc;
	}
	return true;
}

bool code_is_sigreturn(uintptr_t pc)
{
	uint8_t bytes[CODE_SIGRETURN_SIZE];

	return code_read(pc, bytes, sizeof(bytes)) && code_is_sigreturn_text(bytes);
}

void code_flush(void)
{
	memset(self.good, 0, sizeof(self.good));
}
