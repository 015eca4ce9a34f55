/* SPDX-License-Identifier: MIT */
/* applying.c - asks a file for the places of all sampled positions of a module. Threads: one at a
 * time. */
#include "preload/cmd/symbolize/applying.h"

#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/callsites.h"
#include "preload/lines/apart.h"

#include <errno.h>
#include <stdlib.h>

/* A sampled position of the module, as the file counts it. */
struct position {
	uint64_t at;
	struct recording_location *location;
	uint32_t core; /* in the file */
};

struct tally {
	size_t lines, damaged;
	size_t untold; /* positions of which nobody knows where in the file they are */
};

uint32_t applying_core(const struct match *match, uint32_t core)
{
	if (core == UINT32_MAX)
		core = 0;
	for (uint32_t i = 0; i < MATCH_CORES_MAX; i++) {
		if (match->cores[i].core == core)
			return i;
	}
	return MATCH_NO_CORE;
}

static int compare_positions(const void *a, const void *b)
{
	const struct position *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->location < right->location ? -1 : left->location > right->location;
}

/*
 * The positions of subject ID, in order, in *POSITIONS; those that cannot be told in the file get
 * their names only. 0 or -ENOMEM.
 */
static int list_positions(struct applying *applying, uint32_t id, const struct wasmbin *binary,
			  struct position *positions, size_t *count, struct tally *tally)
{
	struct recording *recording = applying->recording;
	int error = 0;

	for (size_t i = 0; error == 0 && i < recording->location_count; i++) {
		struct recording_location *location = &recording->locations[i];
		uint32_t core;

		if (subjects_function(location) == NULL ||
		    subjects_of(&applying->subjects, location) != id)
			continue;
		core = applying_core(&applying->match, subjects_function(location)->core);
		if (core == MATCH_NO_CORE)
			continue;
		if (location->address_is_wasm && applying->match.cores[core].shift_is_known)
			positions[(*count)++] = (struct position){
				location->address - (uint64_t)applying->match.cores[core].shift,
				location,
				core,
			};
		else
			error = lined_set_name(applying->lined, location, binary, core);
		tally->untold +=
			!location->address_is_wasm || !applying->match.cores[core].shift_is_known;
	}
	if (*count != 0)
		qsort(positions, *count, sizeof(*positions), compare_positions);
	return error;
}

static int set_all(struct applying *applying, const struct position *positions,
		   const struct apart *apart, const struct wasmbin *binary, struct tally *tally)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < apart->count; i++) {
		const struct apart_answer *answer = &apart->answers[i];
		struct recording_location *location = positions[i].location;

		tally->damaged += answer->is_damaged;
		tally->lines += answer->frame_count != 0 && answer->frames[0].file != NULL;
		error = answer->is_known ? lined_set(applying->lined, location, answer, binary,
						     positions[i].core)
					 : lined_set_name(applying->lined, location, binary,
							  positions[i].core);
	}
	return error;
}

/* PATH has no debug information: does it say where that is? */
static void say_reference(const char *path, const struct lines *lines)
{
	char reference[LINES_REFERENCE_MAX];

	if (lines_reference(lines, LINES_EXTERNAL_DEBUG_INFO, reference))
		say_line("%s: its debug information is in %s, says the file; it is not opened: "
			 "name it with --wasm",
			 path, reference);
	else if (lines_reference(lines, LINES_SOURCE_MAP, reference))
		say_line("%s: it has no DWARF, but names a source map, %s; it is not opened", path,
			 reference);
	else
		say_line("%s: it has no debug information, only names", path);
}

static void say_outcome(const struct applying *applying, const struct subject *subject,
			const char *path, const struct lines *lines, const struct apart *apart,
			const struct tally *tally)
{
	bool is_embedded = path == NULL;

	if (is_embedded)
		path = applying->recording->path;
	else
		say_line("%s is %s (%s: %s): lines for %zu of %zu positions", path,
			 subject->mapping->name, match_strength_name(applying->match.strength),
			 applying->match.why, tally->lines, apart->count);
	if (apart->problem[0] != '\0')
		say_line("%s: its debug information is bad: %s; names without lines", path,
			 apart->problem);
	else if (tally->damaged != 0)
		say_line("%s: its debug information is damaged: no lines for %zu positions", path,
			 tally->damaged);
	if (is_embedded)
		return;
	if (tally->untold != 0)
		say_line("%s: names only for %zu positions: where in the file they are was not "
			 "recorded",
			 path, tally->untold);
	if (!lines_has_debug(lines))
		say_reference(path, lines);
}

static int ask(struct applying *applying, struct lines *lines, struct position *positions,
	       size_t count, struct apart *apart, struct tally *tally)
{
	uint64_t *asked = calloc(count + 1, sizeof(*asked));
	int error = asked != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < count; i++)
		asked[i] = positions[i].at;
	if (error == 0)
		error = apart_find(apart, lines, asked, count);
	if (error == 0)
		error = set_all(applying, positions, apart, lines_binary(lines), tally);
	free(asked);
	return error;
}

int applying_file(struct applying *applying, uint32_t id, const char *path, struct lines *lines)
{
	struct subject *subject = &applying->subjects.list[id];
	struct position *positions =
		calloc(applying->recording->location_count + 1, sizeof(*positions));
	struct apart apart = { 0 };
	struct tally tally = { 0 };
	size_t count = 0;
	int error = positions != NULL ? 0 : -ENOMEM;

	if (error == 0)
		error = list_positions(applying, id, lines_binary(lines), positions, &count,
				       &tally);
	if (error == 0)
		error = ask(applying, lines, positions, count, &apart, &tally);
	if (error == 0)
		error = callsites_apply(applying, id, lines_binary(lines));
	if (error == 0) {
		say_outcome(applying, subject, path, lines, &apart, &tally);
		applying->result->modules += !subject->has_names;
		subject->has_names = true;
		subject->has_lines = tally.lines != 0;
	}
	apart_free(&apart);
	free(positions);
	return error;
}
