/* SPDX-License-Identifier: MIT */
/*
 * extract.c - marks what the samples of a window refer to, numbers it, copies it. Threads: ours.
 */
#include "preload/profile/extract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/extract_tables.h"
#include "preload/profile/extract_told.h"
#include "preload/profile/profile_private.h"

struct window {
	const struct profile *profile;
	const struct extract_wish *wish;
	uint64_t first, next; /* chunks */
	size_t rows, stacks;  /* how many, and their locations together */
};

/* ---- the window ------------------------------------------------------------------------------ */

static size_t count_locations(const struct profile *profile, const struct history_chunk *chunk)
{
	size_t count = 0;

	for (uint64_t i = 0; i < chunk->row_count; i++)
		count += stacks_get(&profile->stacks,
				    history_row(&profile->history, chunk->first_row + i)->key.stack,
				    NULL);
	return count;
}

/* Backwards from the last chunk, as far as it is wanted, there, and bearable. */
static struct window open_window(const struct profile *profile, const struct extract_wish *wish)
{
	const struct history *history = &profile->history;
	struct window window = { .profile = profile, .wish = wish, .next = history->next_chunk };

	window.first = window.next;
	while (window.first > history->first_chunk && window.first > wish->first_chunk) {
		const struct history_chunk *chunk = history_chunk(history, window.first - 1);
		size_t stacks = count_locations(profile, chunk);

		if (chunk->end_ns <= wish->since_ns ||
		    (window.stacks + stacks) * sizeof(uint64_t) +
				    (window.rows + chunk->row_count) * sizeof(struct chunk_sample) >
			    wish->memory)
			break;
		window.stacks += stacks;
		window.rows += chunk->row_count;
		window.first--;
	}
	return window;
}

/* Calls VISIT for each row of the window, oldest first. */
static void each_row(const struct window *window, struct extract *extract,
		     void (*visit)(const struct window *, struct extract *, const struct row *))
{
	const struct history *history = &window->profile->history;

	for (uint64_t i = window->first; i < window->next; i++) {
		const struct history_chunk *chunk = history_chunk(history, i);

		for (uint64_t k = 0; k < chunk->row_count; k++)
			visit(window, extract, history_row(history, chunk->first_row + k));
	}
}

/* ---- what is needed -------------------------------------------------------------------------- */

static void sum_group(const struct window *window, struct extract_memory *memory,
		      const struct row *row)
{
	const struct group *group = &window->profile->groups.rows[row->key.group];
	struct group_sum *sum = &memory->groups[row->key.group];

	if (!sum->is_needed) {
		sum->is_needed = true;
		sum->row = (struct chunk_group){
			.module = group->name,
			.identity = group->identity,
			.instances_created = group->instances_created,
			.instances_sampled = group->instances_sampled,
			.label_count = group->label_count,
		};
		memory->texts[group->name] = memory->texts[group->identity] = EXTRACT_NEEDED;
		for (size_t i = 0; i < group->label_count; i++) {
			sum->labels[i] = group->labels[i];
			memory->texts[group->labels[i].key] = EXTRACT_NEEDED;
			memory->texts[group->labels[i].value] = EXTRACT_NEEDED;
		}
	}
	sum->row.samples += row->weight.count;
	sum->row.cpu_ns += row->weight.cpu_ns;
	sum->row.wall_ns += row->weight.wall_ns;
	/* Of waiting the looks: a row stands for at least one. */
	sum->row.samples_by_state[row->key.state] +=
		row->key.state == STATE_WAITING ? 1 : row->weight.count;
}

static void mark_row(const struct window *window, struct extract *extract, const struct row *row)
{
	struct extract_memory *memory = extract->memory;
	const struct stack_node *nodes = window->profile->stacks.nodes;

	memory->texts[row->key.module] = EXTRACT_NEEDED;
	memory->texts[row->key.instance] = EXTRACT_NEEDED;
	memory->texts[row->key.thread_name] = EXTRACT_NEEDED;
	for (uint32_t node = row->key.stack; node != STACK_NONE; node = nodes[node].parent)
		memory->locations[nodes[node].location] = EXTRACT_NEEDED;
	sum_group(window, memory, row);
	extract->samples += row->weight.count;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void copy_groups(const struct profile *profile, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;
	size_t count = 0;

	for (size_t i = 0; i < profile->groups.count; i++) {
		struct group_sum *sum = &memory->groups[i];

		if (!sum->is_needed)
			continue;
		for (size_t k = 0; k < sum->row.label_count; k++) {
			sum->labels[k].key = memory->texts[sum->labels[k].key];
			sum->labels[k].value = memory->texts[sum->labels[k].value];
		}
		sum->row.module = memory->texts[sum->row.module];
		sum->row.identity = memory->texts[sum->row.identity];
		sum->row.labels = sum->labels;
		memory->group_rows[count++] = sum->row;
	}
	extract->chunk.groups = memory->group_rows;
	extract->chunk.group_count = count;
}

/* Behind copy_groups(), whose labels samples share. */
static void copy_row(const struct window *window, struct extract *extract, const struct row *row)
{
	struct extract_memory *memory = extract->memory;
	uint64_t *stack = memory->stacks;
	size_t count = stacks_get(&window->profile->stacks, row->key.stack, stack);
	const struct group_sum *sum = &memory->groups[row->key.group];

	for (size_t i = 0; i < count; i++)
		stack[i] = memory->locations[stack[i]];
	memory->stacks += count;
	memory->samples[extract->chunk.sample_count++] = (struct chunk_sample){
		.locations = stack,
		.location_count = count,
		.count = row->weight.count,
		.cpu_ns = row->weight.cpu_ns,
		.wall_ns = row->weight.wall_ns,
		.module = memory->texts[row->key.module],
		.instance = memory->texts[row->key.instance],
		.thread_name = memory->texts[row->key.thread_name],
		.state = chunk_state_string(row->key.state),
		.thread_id = row->key.thread_id,
		.time_ns =
			row->first_ns > extract->start_ns ? row->first_ns - extract->start_ns : 0,
		.is_truncated = row->key.is_truncated,
		.labels = sum->labels,
		.label_count = sum->row.label_count,
		.has_descriptor = row->key.descriptor != 0,
		.descriptor = row->key.descriptor - (row->key.descriptor != 0),
	};
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct extract_memory *reserve(const struct window *window)
{
	const struct tables *tables = &window->profile->tables;
	struct extract_memory *memory = calloc(1, sizeof(*memory));

	if (memory == NULL)
		return NULL;
	memory->texts = calloc(tables->texts.count + 1, sizeof(*memory->texts));
	memory->functions = calloc(tables->function_count + 1, sizeof(*memory->functions));
	memory->locations = calloc(tables->location_count + 1, sizeof(*memory->locations));
	memory->mappings = calloc(tables->mapping_count + 1, sizeof(*memory->mappings));
	memory->groups = calloc(window->profile->groups.count + 1, sizeof(*memory->groups));
	memory->samples = calloc(window->rows + 1, sizeof(*memory->samples));
	memory->stacks = calloc(window->stacks + 1, sizeof(*memory->stacks));
	return memory;
}

/* The rows of the tables, once their numbers are known. */
static bool reserve_rows(struct extract_memory *memory, size_t texts, size_t functions,
			 size_t locations, size_t mappings, size_t groups)
{
	memory->strings = calloc(texts, sizeof(*memory->strings));
	memory->function_rows = calloc(functions, sizeof(*memory->function_rows));
	memory->location_rows = calloc(locations, sizeof(*memory->location_rows));
	memory->mapping_rows = calloc(mappings, sizeof(*memory->mapping_rows));
	memory->group_rows = calloc(groups + 1, sizeof(*memory->group_rows));
	return memory->strings != NULL && memory->function_rows != NULL &&
	       memory->location_rows != NULL && memory->mapping_rows != NULL &&
	       memory->group_rows != NULL;
}

static int fill(const struct window *window, struct extract *extract)
{
	const struct profile *profile = window->profile;
	const struct tables *tables = &profile->tables;
	struct extract_memory *memory = extract->memory;
	uint64_t *stacks = memory->stacks;
	size_t functions, locations, mappings;
	bool has_told = !window->wish->is_lean && window->first < window->next;

	each_row(window, extract, mark_row);
	if (has_told)
		extract_told_mark(profile, extract);
	extract_mark_tables(tables, memory);
	/* The encoder knows these by their numbers. */
	for (size_t i = 0; i < STRING_FIXED_COUNT; i++)
		memory->texts[i] = EXTRACT_NEEDED;
	extract->chunk.string_count = extract_number(memory->texts, tables->texts.count);
	functions = extract_number(memory->functions, tables->function_count + 1);
	locations = extract_number(memory->locations, tables->location_count + 1);
	mappings = extract_number(memory->mappings, tables->mapping_count + 1);
	if (!reserve_rows(memory, extract->chunk.string_count, functions, locations, mappings,
			  profile->groups.count) ||
	    extract_copy_tables(tables, window->wish->is_lean, extract) != 0)
		return -ENOMEM;
	copy_groups(profile, extract);
	each_row(window, extract, copy_row);
	memory->stacks = stacks;
	extract->chunk.samples = memory->samples;
	return has_told ? extract_told_copy(profile, extract) : 0;
}

int extract_make(const struct profile *profile, const struct extract_wish *wish,
		 struct extract *extract)
{
	const struct history *history = &profile->history;
	struct window window = open_window(profile, wish);
	struct extract_memory *memory = reserve(&window);
	int error = -ENOMEM;

	*extract = (struct extract){ .next_chunk = window.next, .memory = memory };
	extract->before = history->now;
	extract->start_ns = extract->end_ns = history->now.time_ns;
	if (window.first < window.next) {
		extract->before = history_chunk(history, window.first)->before;
		extract->start_ns = extract->before.time_ns;
		extract->end_ns = history_chunk(history, window.next - 1)->end_ns;
	}
	extract->chunk.duration_ns = extract->end_ns - extract->start_ns;
	extract->chunk.has_wall = profile->options.config->wall;
	if (memory != NULL && memory->texts != NULL && memory->functions != NULL &&
	    memory->locations != NULL && memory->mappings != NULL && memory->groups != NULL &&
	    memory->samples != NULL && memory->stacks != NULL)
		error = fill(&window, extract);
	extract->chunk.stats_before = extract->before.stats; /* as fill() leaves them */
	if (error != 0)
		extract_free(extract);
	return error;
}

void extract_free(struct extract *extract)
{
	struct extract_memory *memory = extract->memory;

	if (memory == NULL)
		return;
	free(memory->texts);
	free(memory->functions);
	free(memory->locations);
	free(memory->mappings);
	free(memory->groups);
	free(memory->strings);
	free(memory->mapping_rows);
	free(memory->function_rows);
	free(memory->location_rows);
	free(memory->samples);
	free(memory->stacks);
	free(memory->group_rows);
	free(memory->lives);
	free(memory->hostcalls);
	free(memory->intervals);
	free(memory);
	extract->memory = NULL;
}
