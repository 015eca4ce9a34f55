/* SPDX-License-Identifier: MIT */
/* folded.c - equal stacks are merged in a prefix tree, then written in order of first sight.
 * Threads: one at a time. */
#include "preload/export/folded.h"

#include "preload/read/escape.h"
#include "preload/read/frames.h"
#include "preload/read/rows.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of one recording, or of two. */
struct folded_count {
	uint64_t of[2];
};

struct folded {
	struct names names;
	struct pairs frame_ids;
	struct pairs tree; /* (parent or PAIRS_NONE at a root, name) */
	uint32_t *name_of_frame;
	struct folded_count *counts; /* by number in the tree */
	size_t frame_room, count_room;
	struct frames frames;
};

/* "name 12" and "name 1.5" would be read as a count each. */
static void join_number(char *text)
{
	char *space = strrchr(text, ' ');
	size_t digits;

	if (space == NULL)
		return;
	digits = strspn(space + 1, "0123456789.");
	if (digits != 0 && space[1 + digits] == '\0')
		*space = '_';
}

static void trim(char *text)
{
	size_t start = strspn(text, " "), length = strlen(text + start);

	while (length > 0 && text[start + length - 1] == ' ')
		length--;
	memmove(text, text + start, length);
	text[length] = '\0';
}

/* Number of NAME as it is written; NAMES_NONE without memory. */
static uint32_t written_name(struct folded *folded, const char *name)
{
	char *text = escape_new(name, ESCAPE_SPACES);
	uint32_t id;

	if (text == NULL)
		return NAMES_NONE;
	for (char *at = strchr(text, ';'); at != NULL; at = strchr(at, ';'))
		*at = ':';
	trim(text);
	join_number(text);
	id = names_id(&folded->names, text[0] != '\0' ? text : "(unnamed)");
	free(text);
	return id;
}

static uint32_t name_of(struct folded *folded, const struct frame *frame)
{
	uint32_t known = folded->frame_ids.count;
	uint32_t id =
		pairs_id(&folded->frame_ids, (uintptr_t)frame->location, (uintptr_t)frame->line);
	char scratch[FRAMES_NAME_SIZE];

	if (id == PAIRS_NONE)
		return NAMES_NONE;
	if (id == known) {
		if (rows_reserve(&folded->name_of_frame, &folded->frame_room, id,
				 sizeof(*folded->name_of_frame)) != 0)
			return NAMES_NONE;
		folded->name_of_frame[id] = written_name(folded, frames_name(frame, scratch));
	}
	return folded->name_of_frame[id];
}

/* The child NAME of PARENT; PAIRS_NONE without memory. */
static uint32_t child_of(struct folded *folded, uint32_t parent, uint32_t name)
{
	return name == NAMES_NONE ? PAIRS_NONE : pairs_id(&folded->tree, parent, name);
}

static int add_sample(struct folded *folded, const struct recording_sample *sample,
		      const char *root, uint64_t weight, unsigned int side)
{
	uint32_t node = child_of(folded, PAIRS_NONE, written_name(folded, root));
	int error = frames_list(&folded->frames, sample);

	for (size_t i = 0; error == 0 && node != PAIRS_NONE && i < folded->frames.count; i++)
		node = child_of(folded, node, name_of(folded, &folded->frames.list[i]));
	if (error != 0 || node == PAIRS_NONE ||
	    rows_reserve(&folded->counts, &folded->count_room, node, sizeof(*folded->counts)) != 0)
		return -ENOMEM;
	folded->counts[node].of[side] += weight;
	return 0;
}

/* The names from the root to NODE, in PATH; 0 or -ENOMEM. */
static int write_line(const struct folded *folded, uint32_t node, unsigned int sides,
		      uint32_t **path, size_t *room, struct output *output)
{
	size_t depth = 0;

	for (uint32_t at = node; at != PAIRS_NONE; at = (uint32_t)folded->tree.list[at].first) {
		if (rows_reserve(path, room, depth, sizeof(**path)) != 0)
			return -ENOMEM;
		(*path)[depth++] = (uint32_t)folded->tree.list[at].second;
	}
	while (depth-- > 0) {
		output_text(output, folded->names.texts[(*path)[depth]]);
		output_text(output, depth == 0 ? " " : ";");
	}
	output_number(output, folded->counts[node].of[0]);
	if (sides == 2) {
		output_text(output, " ");
		output_number(output, folded->counts[node].of[1]);
	}
	output_text(output, "\n");
	return 0;
}

static int write_lines(const struct folded *folded, unsigned int sides, struct output *output)
{
	uint32_t *path = NULL;
	size_t room = 0;
	int error = 0;

	/* Beyond the room no node is the end of a stack. */
	for (uint32_t i = 0; error == 0 && i < folded->tree.count && i < folded->count_room; i++) {
		if (folded->counts[i].of[0] != 0 || folded->counts[i].of[1] != 0)
			error = write_line(folded, i, sides, &path, &room, output);
	}
	free(path);
	return error;
}

static int add_recording(struct folded *folded, const struct recording *recording, bool by_instance,
			 bool by_wall, unsigned int side)
{
	int error = 0;

	/* What is known of frames is known by their addresses, which are a recording's own. */
	pairs_free(&folded->frame_ids);
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		const char *module = totals_module(recording, sample);
		bool has_instance = by_instance && sample->instance[0] != '\0';

		error = add_sample(folded, sample, has_instance ? sample->instance : module,
				   by_wall ? sample->wall_ns : sample->count, side);
	}
	return error;
}

static void free_folded(struct folded *folded)
{
	names_free(&folded->names);
	pairs_free(&folded->frame_ids);
	pairs_free(&folded->tree);
	free(folded->name_of_frame);
	free(folded->counts);
	frames_free(&folded->frames);
}

int folded_write(const struct recording *recording, bool by_instance, bool by_wall,
		 struct output *output)
{
	struct folded folded = { 0 };
	int error = add_recording(&folded, recording, by_instance, by_wall, 0);

	if (error == 0)
		error = write_lines(&folded, 1, output);
	free_folded(&folded);
	return error;
}

int folded_write_change(const struct recording *before, const struct recording *after,
			struct output *output)
{
	struct folded folded = { 0 };
	int error = add_recording(&folded, before, false, false, 0);

	if (error == 0)
		error = add_recording(&folded, after, false, false, 1);
	if (error == 0)
		error = write_lines(&folded, 2, output);
	free_folded(&folded);
	return error;
}
