/* SPDX-License-Identifier: MIT */
/* html_tree.c - numbers functions, frames, stacks and scopes as samples bring them. Threads: one
 * at a time. */
#include "preload/export/html_tree.h"

#include "preload/read/rows.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being added, and under which names. */
struct adding {
	struct html_tree *tree;
	const struct recording *recording;
	const struct html_tree_names *names;
	unsigned side;
};

const char *html_tree_module(const struct html_tree_names *names, const char *module, unsigned side)
{
	return names->module_name != NULL ? names->module_name(names->context, module, side)
					  : module;
}

static const char *shown_module(const struct adding *adding, const char *module)
{
	return html_tree_module(adding->names, module, adding->side);
}

/* Lines, kinds and flags share the second number of a pair: lines of a source fit in 32 bits. */
static uint64_t line_key(int64_t line, unsigned more)
{
	return (uint64_t)(line > 0 && line < UINT32_MAX ? line : 0) << 8 | more;
}

/* Number of FUNCTION in its table; PAIRS_NONE without memory. */
static uint32_t function_id(struct html_tree *tree, const struct html_function *function)
{
	uint32_t named =
		pairs_id(&tree->names_in_modules, (uint64_t)function->name << 32 | function->module,
			 (uint64_t)function->file << 8 | function->kind);
	uint32_t id;

	if (named == PAIRS_NONE)
		return PAIRS_NONE;
	id = pairs_id(&tree->function_ids, named,
		      line_key(tree->is_change ? 0 : function->line, 0));
	if (id != tree->function_count)
		return id;
	if (rows_reserve(&tree->functions, &tree->function_room, id, sizeof(*tree->functions)) != 0)
		return PAIRS_NONE;
	tree->functions[tree->function_count++] = *function;
	return id;
}

static uint32_t frame_id(struct html_tree *tree, const struct html_frame *frame)
{
	uint32_t id = pairs_id(&tree->frame_ids, frame->function,
			       line_key(frame->line, frame->is_inlined));

	if (id != tree->frame_count)
		return id;
	if (rows_reserve(&tree->frames, &tree->frame_room, id, sizeof(*tree->frames)) != 0)
		return PAIRS_NONE;
	tree->frames[tree->frame_count++] = *frame;
	return id;
}

/* The frame NAME of MODULE in FILE; AT: NULL when nothing more is known. */
static uint32_t described_frame(struct html_tree *tree, const char *name, const char *module,
				const char *file, enum frame_kind kind, const struct frame *at)
{
	const struct recording_line *line = at != NULL ? at->line : NULL;
	struct html_function function = {
		.name = names_id(&tree->texts, name),
		.module = names_id(&tree->texts, module),
		.file = names_id(&tree->texts, file),
		.kind = kind,
		.line = line != NULL ? line->function->start_line : 0,
	};
	struct html_frame frame = { .line = line != NULL ? line->line : 0,
				    .is_inlined = at != NULL && at->inline_depth != 0 };

	if (function.name == NAMES_NONE || function.module == NAMES_NONE ||
	    function.file == NAMES_NONE)
		return PAIRS_NONE;
	frame.function = function_id(tree, &function);
	return frame.function == PAIRS_NONE ? PAIRS_NONE : frame_id(tree, &frame);
}

/* Most frames were seen before: found by their address, without their names. */
static uint32_t place_frame(const struct adding *adding, const struct frame *frame)
{
	struct html_tree *tree = adding->tree;
	const struct recording_mapping *mapping = frame->location->mapping;
	uint32_t known = tree->place_ids.count;
	uint32_t place =
		pairs_id(&tree->place_ids, (uintptr_t)frame->location, (uintptr_t)frame->line);
	char scratch[FRAMES_NAME_SIZE];

	if (place == PAIRS_NONE || place != known)
		return place == PAIRS_NONE ? PAIRS_NONE : tree->frame_of_place[place];
	if (rows_reserve(&tree->frame_of_place, &tree->place_room, place,
			 sizeof(*tree->frame_of_place)) != 0)
		return PAIRS_NONE;
	tree->frame_of_place[place] =
		described_frame(tree, frames_name(frame, scratch),
				mapping != NULL ? shown_module(adding, mapping->name) : "",
				frame->line != NULL ? frame->line->function->filename : "",
				frame->location->kind, frame);
	return tree->frame_of_place[place];
}

/* The end of SAMPLE's stack in the tree; PAIRS_NONE without memory. */
static uint32_t sample_node(const struct adding *adding, const struct recording_sample *sample)
{
	struct html_tree *tree = adding->tree;
	uint32_t node = HTML_TREE_NONE, frame = 0;

	if (frames_list(&tree->scratch, sample) != 0)
		return PAIRS_NONE;
	for (size_t i = 0; i < tree->scratch.count; i++) {
		frame = place_frame(adding, &tree->scratch.list[i]);
		if (frame == PAIRS_NONE)
			return PAIRS_NONE;
		node = pairs_id(&tree->nodes, node, frame);
		if (node == PAIRS_NONE)
			return PAIRS_NONE;
	}
	if (tree->scratch.count != 0)
		return node;
	frame = described_frame(tree, "(no stack)", "", "", FRAME_HOST, NULL);
	return frame == PAIRS_NONE ? PAIRS_NONE : pairs_id(&tree->nodes, HTML_TREE_NONE, frame);
}

/* Names of instances are those of one process. */
static uint32_t instance_text(const struct adding *adding, const struct recording_sample *sample)
{
	const struct recording *recording = adding->recording;
	char *text;
	uint32_t id;

	if (sample->instance[0] == '\0' || recording->process_count < 2)
		return names_id(&adding->tree->texts, sample->instance);
	if (asprintf(&text, "%s (%" PRIu64 ")", sample->instance,
		     recording_process(recording, sample)->pid) < 0)
		return NAMES_NONE;
	id = names_id(&adding->tree->texts, text);
	free(text);
	return id;
}

static uint32_t sample_scope(const struct adding *adding, const struct recording_sample *sample)
{
	struct html_tree *tree = adding->tree;
	struct html_scope scope = {
		.group = names_id(&tree->texts,
				  shown_module(adding, totals_module(adding->recording, sample))),
		.instance = instance_text(adding, sample),
		.state = sample->state,
		.side = adding->side,
	};
	uint32_t id;

	if (scope.group == NAMES_NONE || scope.instance == NAMES_NONE)
		return PAIRS_NONE;
	id = pairs_id(&tree->scope_ids, (uint64_t)scope.group << 32 | scope.instance,
		      (uint64_t)scope.state << 1 | scope.side);
	if (id != tree->scope_count)
		return id;
	if (rows_reserve(&tree->scopes, &tree->scope_room, id, sizeof(*tree->scopes)) != 0)
		return PAIRS_NONE;
	tree->scopes[tree->scope_count++] = scope;
	return id;
}

static int add_sample(const struct adding *adding, const struct recording_sample *sample)
{
	struct html_tree *tree = adding->tree;
	uint32_t node = sample_node(adding, sample), scope = sample_scope(adding, sample), id;
	struct html_row *row;

	if (node == PAIRS_NONE || scope == PAIRS_NONE)
		return -ENOMEM;
	id = pairs_id(&tree->row_ids, node, scope);
	if (id == PAIRS_NONE ||
	    rows_reserve(&tree->rows, &tree->row_room, id, sizeof(*tree->rows)) != 0)
		return -ENOMEM;
	tree->row_count = tree->row_ids.count;
	row = &tree->rows[id];
	row->node = node;
	row->scope = scope;
	row->samples += sample->count;
	row->cpu_ns += sample->cpu_ns;
	row->wall_ns += sample->wall_ns;
	return 0;
}

int html_tree_add(struct html_tree *tree, const struct recording *recording, unsigned side,
		  const struct html_tree_names *names)
{
	const struct adding adding = { tree, recording, names, side };
	int error = names_id(&tree->texts, "") == NAMES_NONE ? -ENOMEM : 0;

	/* The same location may mean another one in another recording. */
	pairs_free(&tree->place_ids);
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = add_sample(&adding, &recording->samples[i]);
	return error;
}

void html_tree_free(struct html_tree *tree)
{
	struct pairs *pairs[] = { &tree->nodes,	    &tree->names_in_modules, &tree->function_ids,
				  &tree->frame_ids, &tree->scope_ids,	     &tree->row_ids,
				  &tree->place_ids };

	names_free(&tree->texts);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		pairs_free(pairs[i]);
	free(tree->functions);
	free(tree->frames);
	free(tree->scopes);
	free(tree->rows);
	free(tree->frame_of_place);
	frames_free(&tree->scratch);
	*tree = (struct html_tree){ 0 };
}
