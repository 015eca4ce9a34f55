/* SPDX-License-Identifier: MIT */
/* locations.c - moves and completes the table of locations. Threads: one at a time. */
#include "preload/read/locations.h"

#include "preload/read/arena.h"
#include "preload/read/pairs.h"

#include <errno.h>
#include <string.h>

static bool is_inside(const struct recording *recording, const struct recording_location *location)
{
	return location >= recording->locations &&
	       location < recording->locations + recording->location_count;
}

int locations_reserve(struct recording *recording, size_t more)
{
	size_t count = recording->location_count;
	struct recording_location *list =
		arena_alloc(recording->memory, count + more, sizeof(*list));

	if (list == NULL)
		return -ENOMEM;
	if (count != 0)
		memcpy(list, recording->locations, count * sizeof(*list));
	for (size_t i = 0; i < recording->sample_count; i++) {
		struct recording_sample *sample = &recording->samples[i];

		for (size_t l = 0; l < sample->location_count; l++) {
			if (is_inside(recording, sample->locations[l]))
				sample->locations[l] =
					&list[sample->locations[l] - recording->locations];
		}
	}
	recording->locations = list;
	return 0;
}

/* Numbers the locations outside the table, by address. 0 or -ENOMEM. */
static int find_strays(const struct recording *recording, struct pairs *strays)
{
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];

		for (size_t l = 0; l < sample->location_count; l++) {
			if (!is_inside(recording, sample->locations[l]) &&
			    pairs_id(strays, (uintptr_t)sample->locations[l], 0) == PAIRS_NONE)
				return -ENOMEM;
		}
	}
	return 0;
}

/* COUNT rows are the table's own; those of STRAYS follow. */
static void take_in(struct recording *recording, const struct pairs *strays, size_t count)
{
	for (uint32_t i = 0; i < strays->count; i++)
		recording->locations[count + i] =
			*(const struct recording_location *)(uintptr_t)strays->list[i].first;
	for (size_t i = 0; i < recording->sample_count; i++) {
		struct recording_sample *sample = &recording->samples[i];

		for (size_t l = 0; l < sample->location_count; l++) {
			if (!is_inside(recording, sample->locations[l]))
				sample->locations[l] =
					&recording->locations
						 [count +
						  pairs_find(strays,
							     (uintptr_t)sample->locations[l], 0)];
		}
	}
	recording->location_count = count + strays->count;
}

int locations_gather(struct recording *recording)
{
	struct pairs strays = { 0 };
	int error = find_strays(recording, &strays);

	if (error == 0 && strays.count != 0)
		error = locations_reserve(recording, strays.count);
	if (error == 0)
		take_in(recording, &strays, recording->location_count);
	pairs_free(&strays);
	return error;
}
