/* SPDX-License-Identifier: MIT */
/* callsites.c - from a guest's position to the import that it calls. Threads: one at a time. */
#include "preload/cmd/symbolize/callsites.h"

#include "preload/read/arena.h"

#include <errno.h>
#include <string.h>

enum { NAME_SIZE = 512 };

struct naming {
	struct applying *applying;
	const struct wasmbin *binary;
	uint32_t subject;
	bool has_all_frames; /* whole stacks were recorded: the host's frames stay */
};

/* The import that LOCATION of the guest calls, as a location; NULL: none, or *ERROR is set. */
static const struct recording_location *called(const struct naming *naming,
					       const struct recording_location *location,
					       const struct recording_location *host, int *error)
{
	struct applying *applying = naming->applying;
	const struct recording_function *function = subjects_function(location);
	const struct recording_location *call;
	char name[NAME_SIZE];
	uint64_t position;
	uint32_t core;

	if (location->kind != FRAME_GUEST || function == NULL || !location->address_is_wasm ||
	    subjects_of(&applying->subjects, location) != naming->subject)
		return NULL;
	core = applying_core(&applying->match, function->core);
	if (core == MATCH_NO_CORE || !applying->match.cores[core].shift_is_known)
		return NULL;
	position = location->address - (uint64_t)applying->match.cores[core].shift;
	if (wasmbin_called_import(naming->binary, position, name, sizeof(name)) == 0)
		return NULL;
	call = lined_call(applying->lined, name, location->mapping, host);
	if (call == NULL)
		*error = -ENOMEM;
	return call;
}

/* `[futex]`: what the host waits in, and not what was called. */
static bool is_system_call(const struct recording_location *location)
{
	return location->line_count != 0 && location->lines[0].function->name[0] == '[';
}

/*
 * Is frame I of SAMPLE the host's, with a guest's below it, which called out? *GUEST: its number;
 * glue may lie between.
 */
static bool is_called(const struct recording_sample *sample, size_t i, size_t *guest)
{
	const struct recording_location *location = sample->locations[i];

	if (location->kind != FRAME_HOST || location->importer != NULL || is_system_call(location))
		return false;
	*guest = i + 1;
	if (*guest < sample->location_count && sample->locations[*guest]->kind == FRAME_TRAMPOLINE)
		++*guest;
	return *guest < sample->location_count && sample->locations[*guest]->kind == FRAME_GUEST;
}

/* CALL as frame AT of SAMPLE; what was there, and its callers, move down. 0 or -ENOMEM. */
static int insert(struct recording *recording, struct recording_sample *sample, size_t at,
		  const struct recording_location *call)
{
	size_t count = sample->location_count;
	const struct recording_location **locations =
		arena_alloc(recording->memory, count + 1, sizeof(*locations));

	if (locations == NULL)
		return -ENOMEM;
	memcpy(locations, sample->locations, at * sizeof(*locations));
	locations[at] = call;
	memcpy(locations + at + 1, sample->locations + at, (count - at) * sizeof(*locations));
	sample->locations = locations;
	sample->location_count = count + 1;
	return 0;
}

static int name_calls(const struct naming *naming, struct recording_sample *sample)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i + 1 < sample->location_count; i++) {
		const struct recording_location *call = NULL;
		size_t guest;

		if (is_called(sample, i, &guest))
			call = called(naming, sample->locations[guest], sample->locations[i],
				      &error);
		if (call == NULL)
			continue;
		if (naming->has_all_frames)
			error = insert(naming->applying->recording, sample, ++i, call);
		else
			sample->locations[i] = call;
	}
	return error;
}

int callsites_apply(struct applying *applying, uint32_t id, const struct wasmbin *binary)
{
	struct recording *recording = applying->recording;
	struct naming naming = {
		.applying = applying,
		.binary = binary,
		.subject = id,
		.has_all_frames = strcmp(recording->stacks, "full") == 0,
	};
	int error = 0;

	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = name_calls(&naming, &recording->samples[i]);
	return error;
}
