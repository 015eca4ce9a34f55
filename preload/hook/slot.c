/* SPDX-License-Identifier: MIT */
/*
 * slot.c - engine slots, keyed by the address an object is loaded at.
 *
 * A slot of an unloaded object is taken over when none is free. Its stale targets stay: thunks of
 * an unloaded engine must not be called anyway, and the new one's are stored before they are handed
 * out. Threads: any; lock-free, for dlsym is called in the children of forks.
 */
#include "preload/hook/slot.h"

#include "preload/hook/hook.h"

static atomic_uintptr_t engines[HOOK_SLOTS]; /* start address; 0: free */

static bool take(int slot, uintptr_t before, uintptr_t start)
{
	return atomic_compare_exchange_strong(&engines[slot], &before, start) || before == start;
}

static int find_or_take_free(uintptr_t start)
{
	for (int slot = 0; slot < HOOK_SLOTS; slot++) {
		uintptr_t engine = atomic_load(&engines[slot]);

		if (engine == start || (engine == 0 && take(slot, 0, start)))
			return slot;
	}
	return -1;
}

int slot_for(const struct object *engine)
{
	int slot = find_or_take_free(engine->start);

	for (int i = 0; slot < 0 && i < HOOK_SLOTS; i++) {
		uintptr_t start = atomic_load(&engines[i]);
		struct object object;

		if ((!object_at(start, &object) || object.start != start) &&
		    take(i, start, engine->start))
			slot = i;
	}
	return slot;
}
