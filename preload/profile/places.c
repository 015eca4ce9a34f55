/* SPDX-License-Identifier: MIT */
/* places.c - a hash table from places in code to locations. Threads: ours. */
#include "preload/profile/places.h"

#include <stdlib.h>
#include <string.h>

#include "preload/profile/array.h"

static bool place_is(const void *table, uint32_t number, const void *key)
{
	const struct places *places = table;

	return memcmp(&places->rows[number], key, sizeof(struct place)) == 0;
}

uint32_t places_find(const struct places *places, const struct place *place)
{
	uint64_t hash = lookup_hash(place, sizeof(*place));
	uint32_t number = lookup_find(&places->lookup, hash, place_is, places, place);

	return number != LOOKUP_NONE ? places->locations[number] : 0;
}

void places_add(struct places *places, const struct place *place, uint32_t location)
{
	struct place *rows;
	uint32_t *locations;

	if (places->count >= places->limit)
		return;
	rows = array_room(places->rows, &places->row_capacity, places->count, sizeof(*rows));
	if (rows == NULL)
		return;
	places->rows = rows;
	locations = array_room(places->locations, &places->location_capacity, places->count,
			       sizeof(*locations));
	if (locations == NULL)
		return;
	places->locations = locations;
	if (lookup_add(&places->lookup, lookup_hash(place, sizeof(*place)),
		       (uint32_t)places->count) != 0)
		return;
	rows[places->count] = *place;
	locations[places->count++] = location;
}

void places_free(struct places *places)
{
	free(places->rows);
	free(places->locations);
	lookup_free(&places->lookup);
	*places = (struct places){ 0 };
}
