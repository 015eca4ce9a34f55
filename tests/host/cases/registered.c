/* SPDX-License-Identifier: MIT */
/*
 * registered.c - preloaded behind the profiler: counts what reaches the unwinder's registration
 * functions, and in what order. At the end one line on descriptor 9, where that is open. With
 * REGISTERED_ENDS in the environment it is the unwinder, which takes whatever comes at no cost.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void __register_frame(const void *begin);
void __deregister_frame(const void *begin);

static atomic_long registered, taken_back, open_now, never_registered;

enum { PLACES = 1 << 20 };
static _Atomic(const void *) places[PLACES];

static _Atomic(const void *) *place_of(const void *wanted, const void *begin)
{
	uint32_t at = (uint32_t)((uintptr_t)begin / 16 * 2654435761u) % PLACES;

	for (int i = 0; i < PLACES; i++, at = (at + 1) % PLACES) {
		const void *expected = wanted;

		if (wanted == NULL) {
			if (atomic_compare_exchange_strong(&places[at], &expected, begin))
				return &places[at];
		} else if (atomic_load(&places[at]) == wanted) {
			return &places[at];
		}
	}
	return NULL;
}

static void pass_on(const char *name, const void *begin)
{
	static atomic_int ends; /* 1: here; -1: it goes on */
	void (*real)(const void *);

	if (atomic_load(&ends) == 0)
		atomic_store(&ends, getenv("REGISTERED_ENDS") != NULL ? 1 : -1);
	if (atomic_load(&ends) > 0)
		return;
	real = (void (*)(const void *))dlsym(RTLD_NEXT, name);
	real(begin);
}

void __register_frame(const void *begin)
{
	atomic_fetch_add(&registered, 1);
	atomic_fetch_add(&open_now, 1);
	place_of(NULL, begin);
	pass_on("__register_frame", begin);
}

void __deregister_frame(const void *begin)
{
	_Atomic(const void *) *place = place_of(begin, begin);

	atomic_fetch_add(&taken_back, 1);
	atomic_fetch_sub(&open_now, 1);
	if (place != NULL)
		atomic_store(place, NULL);
	else
		atomic_fetch_add(&never_registered, 1);
	pass_on("__deregister_frame", begin);
}

__attribute__((destructor)) static void tell(void)
{
	dprintf(9, "registered %ld, taken back %ld, unknown %ld\n", atomic_load(&registered),
		atomic_load(&taken_back), atomic_load(&never_registered));
}
