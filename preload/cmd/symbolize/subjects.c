/* SPDX-License-Identifier: MIT */
/* subjects.c - gathers what a recording knows of each module. Threads: one at a time. */
#include "preload/cmd/symbolize/subjects.h"

#include "preload/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct recording_function *subjects_function(const struct recording_location *location)
{
	const struct recording_function *function;

	if (location->kind != FRAME_GUEST || location->mapping == NULL || location->line_count == 0)
		return NULL;
	/* the outermost is what the engine compiled; others are inlined into it */
	function = location->lines[location->line_count - 1].function;
	return function->wasm_index != UINT32_MAX ? function : NULL;
}

uint32_t subjects_of(struct subjects *subjects, const struct recording_location *location)
{
	const struct recording_mapping *mapping = location->mapping;

	if (subjects_function(location) == NULL)
		return SUBJECTS_NONE;
	return names_id(&subjects->identities,
			mapping->identity[0] != '\0' ? mapping->identity : mapping->name);
}

static void copy_hex(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void subjects_identity(const struct recording_mapping *mapping, struct identity *identity)
{
	*identity = (struct identity){ 0 };
	if (mapping->identity_is_wasm)
		copy_hex(identity->wasm, sizeof(identity->wasm), mapping->identity);
	copy_hex(identity->code, sizeof(identity->code), mapping->code);
	copy_hex(identity->image, sizeof(identity->image), mapping->image);
	copy_hex(identity->build_id, sizeof(identity->build_id), mapping->build_id_section);
	identity->code_offset = mapping->code_offset;
	identity->defined_functions = mapping->function_count;
}

static void begin(struct subject *subject, const struct recording_mapping *mapping)
{
	*subject = (struct subject){ .mapping = mapping };
	subjects_identity(mapping, &subject->recorded.identity);
}

static int add_place(struct subject *subject, const struct recording_location *location)
{
	const struct recording_function *function = subjects_function(location);
	size_t count = subject->recorded.place_count;

	if (rows_reserve(&subject->places, &subject->place_room, count, sizeof(*subject->places)) !=
	    0)
		return -ENOMEM;
	subject->places[count] = (struct match_place){
		.core = function->core != UINT32_MAX ? function->core : 0,
		.function = function->wasm_index,
		.name = function->system_name,
		.position = location->address_is_wasm ? location->address : UINT64_MAX,
	};
	subject->recorded.places = subject->places;
	subject->recorded.place_count = count + 1;
	subject->was_lined |= location->lines[0].line != 0;
	if (location->mapping->debug != NULL)
		subject->embedding = location->mapping;
	if (location->mapping->layout != NULL) {
		subject->recorded.layout = location->mapping->layout;
		subject->recorded.layout_size = location->mapping->layout_size;
	}
	return 0;
}

static int add_location(struct subjects *subjects, const struct recording_location *location)
{
	size_t known = subjects_count(subjects);
	uint32_t id = subjects_of(subjects, location);

	if (id == SUBJECTS_NONE)
		return subjects_function(location) != NULL ? -ENOMEM : 0;
	if (rows_reserve(&subjects->list, &subjects->room, id, sizeof(*subjects->list)) != 0)
		return -ENOMEM;
	if (id == known)
		begin(&subjects->list[id], location->mapping);
	return add_place(&subjects->list[id], location);
}

int subjects_read(struct subjects *subjects, const struct recording *recording)
{
	int error = 0;

	*subjects = (struct subjects){ .recording = recording };
	for (size_t i = 0; error == 0 && i < recording->location_count; i++)
		error = add_location(subjects, &recording->locations[i]);
	return error;
}

void subjects_free(struct subjects *subjects)
{
	for (size_t i = 0; i < subjects_count(subjects) && i < subjects->room; i++)
		free(subjects->list[i].places);
	free(subjects->list);
	names_free(&subjects->identities);
	*subjects = (struct subjects){ 0 };
}
