/* SPDX-License-Identifier: MIT */
/* frames.c - walks a sample from its root to its leaf. Threads: one at a time. */
#include "preload/read/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int reserve(struct frames *frames, size_t more)
{
	size_t capacity = frames->capacity == 0 ? 128 : frames->capacity;
	struct frame *list;

	while (capacity < frames->count + more)
		capacity *= 2;
	if (capacity == frames->capacity)
		return 0;
	list = realloc(frames->list, capacity * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	frames->list = list;
	frames->capacity = capacity;
	return 0;
}

static int add_location(struct frames *frames, const struct recording_location *location)
{
	size_t lines = location->line_count;

	if (reserve(frames, lines + 1) != 0)
		return -ENOMEM;
	if (lines == 0)
		frames->list[frames->count++] = (struct frame){ .location = location };
	for (size_t i = lines; i-- > 0;)
		frames->list[frames->count++] = (struct frame){
			.location = location,
			.line = &location->lines[i],
			.inline_depth = (uint32_t)(lines - 1 - i),
		};
	return 0;
}

int frames_list(struct frames *frames, const struct recording_sample *sample)
{
	int error = 0;

	frames->count = 0;
	for (size_t i = sample->location_count; error == 0 && i-- > 0;)
		error = add_location(frames, sample->locations[i]);
	return error;
}

void frames_free(struct frames *frames)
{
	free(frames->list);
	*frames = (struct frames){ 0 };
}

const char *frames_name(const struct frame *frame, char scratch[FRAMES_NAME_SIZE])
{
	if (frame->line != NULL && frame->line->function->name[0] != '\0')
		return frame->line->function->name;
	if (frame->line != NULL && frame->line->function->system_name[0] != '\0')
		return frame->line->function->system_name;
	snprintf(scratch, FRAMES_NAME_SIZE, "[0x%" PRIx64 "]", frame->location->address);
	return scratch;
}

const char *frames_kind_name(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_GUEST] = "guest",     [FRAME_HOST] = "host",
		[FRAME_BUILTIN] = "builtin", [FRAME_TRAMPOLINE] = "trampoline",
		[FRAME_JIT] = "jit",	     [FRAME_INTERPRETER] = "interpreter",
	};

	return names[kind];
}
