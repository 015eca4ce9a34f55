/* SPDX-License-Identifier: MIT */
/*
 * places.h - from a place in code to the location that was found for it.
 *
 * A location is known by its place in the wasm file, which takes decoding the engine's address map.
 * A place is decoded once; from then on it is found by its key. Bounded: beyond LIMIT places are
 * decoded each time. Zeroed memory with a limit is an empty one. Threads: the owner's.
 */
#ifndef PRELOAD_PROFILE_PLACES_H
#define PRELOAD_PROFILE_PLACES_H

#include "preload/profile/lookup.h"

struct place {
	uint64_t address; /* of code, in its module */
	uint32_t loading, symbol;
	uint32_t kind, is_guess; /* no bytes between: it is compared as memory */
};

struct places {
	struct place *rows;
	uint32_t *locations; /* of each row */
	size_t count, row_capacity, location_capacity, limit;
	struct lookup lookup;
};

/* The location of PLACE, 0 when it is not known. */
uint32_t places_find(const struct places *places, const struct place *place);

/* PLACE, which was not known, has LOCATION. Without memory it stays unknown. */
void places_add(struct places *places, const struct place *place, uint32_t location);

void places_free(struct places *places);

#endif /* PRELOAD_PROFILE_PLACES_H */
