/* SPDX-License-Identifier: MIT */
/* census.c - counts groups over processes, and decides who is told apart. Threads: one at a time.
 */
#include "preload/read/census.h"

#include "preload/read/arena.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX ((size_t)64 << 20)

enum { STATS_MAX = 200 };

struct census_private {
	struct arena texts;
	struct names stat_names, labels;
	struct pairs group_ids;
	size_t group_room, process_room, stat_room, shown;
};

struct census *census_new(void)
{
	struct census *census = calloc(1, sizeof(*census));

	if (census != NULL)
		census->own = calloc(1, sizeof(*census->own));
	if (census == NULL || census->own == NULL) {
		free(census);
		return NULL;
	}
	census->own->texts.limit = TEXTS_MAX;
	return census;
}

void census_free(struct census *census)
{
	struct census_private *own = census != NULL ? census->own : NULL;

	if (census == NULL)
		return;
	for (size_t i = 0; i < census->process_count; i++) {
		free(census->processes[i].key);
		free(census->processes[i].program);
		free(census->processes[i].parts);
	}
	arena_free(&own->texts);
	names_free(&own->stat_names);
	names_free(&own->labels);
	pairs_free(&own->group_ids);
	free(own);
	free(census->groups);
	free(census->processes);
	free(census->stats);
	free(census);
}

static const char *keep(struct census *census, const char *text)
{
	const char *kept = arena_text(&census->own->texts, (const uint8_t *)text, strlen(text));

	return kept != NULL ? kept : "";
}

bool census_is_there(uint64_t last_ns, uint64_t now_ns)
{
	return last_ns != 0 && (now_ns < last_ns || now_ns - last_ns < CENSUS_STAY_NS);
}

/* ---- processes and groups -------------------------------------------------------------------- */

/* The row of KEY, else one that is free or was not seen for long; NULL. */
static struct census_process *find_process(struct census *census, const char *key, uint64_t now_ns)
{
	struct census_process *spare = NULL;

	for (size_t i = 0; i < census->process_count; i++) {
		struct census_process *process = &census->processes[i];

		if (strcmp(process->key, key) == 0)
			return process;
		if (!census_is_there(process->last_ns, now_ns))
			spare = process;
	}
	if (census->process_count < CENSUS_PROCESSES_MAX &&
	    rows_reserve(&census->processes, &census->own->process_room, census->process_count,
			 sizeof(*census->processes)) == 0)
		return &census->processes[census->process_count];
	return spare;
}

uint32_t census_process(struct census *census, const char *key, const char *program, uint64_t pid,
			uint64_t now_ns)
{
	struct census_process *process = find_process(census, key, now_ns);
	char *new_key, *new_program;

	if (process == NULL)
		return UINT32_MAX;
	if (process->key == NULL || strcmp(process->key, key) != 0) {
		new_key = strdup(key);
		new_program = strdup(program);
		if (new_key == NULL || new_program == NULL) {
			free(new_key);
			free(new_program);
			return UINT32_MAX;
		}
		census->process_count += process->key == NULL;
		free(process->key);
		free(process->program);
		process->key = new_key;
		process->program = new_program;
		process->part_count = 0;
	}
	process->pid = pid;
	process->last_ns = now_ns;
	return (uint32_t)(process - census->processes);
}

/* Number of a group's labels as one text; NAMES_NONE without memory. */
static uint32_t label_number(struct census *census, const struct feed_group *group)
{
	uint32_t id = NAMES_NONE;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NAMES_NONE;
	/* No label has control characters in it that these could be taken for. */
	for (size_t i = 0; i < group->label_count; i++)
		fprintf(out, "%s\x1e%s\x1f", group->labels[i].key, group->labels[i].value);
	if (fclose(out) == 0)
		id = names_id(&census->own->labels, text);
	free(text);
	return id;
}

static void fill_group(struct census *census, struct census_group *row,
		       const struct feed_group *group)
{
	struct recording_label *labels =
		arena_alloc(&census->own->texts, group->label_count, sizeof(*labels));

	*row = (struct census_group){ .module = keep(census, group->module), .labels = labels };
	for (size_t i = 0; labels != NULL && i < group->label_count; i++) {
		labels[i].key = keep(census, group->labels[i].key);
		labels[i].value = keep(census, group->labels[i].value);
		row->label_count++;
	}
}

/* Index of GROUP; UINT32_MAX: there are too many. */
static int find_group(struct census *census, const struct feed_group *group, uint32_t *index)
{
	struct census_private *own = census->own;
	uint32_t labels, module, before = own->group_ids.count;

	*index = UINT32_MAX;
	if (own->labels.count >= 2 * CENSUS_GROUPS_MAX || own->texts.failed)
		return 0;
	labels = label_number(census, group);
	module = names_id(&own->labels, group->module);
	if (labels == NAMES_NONE || module == NAMES_NONE)
		return -ENOMEM;
	*index = pairs_find(&own->group_ids, module, labels);
	if (*index != PAIRS_NONE || before >= CENSUS_GROUPS_MAX)
		return 0;
	*index = pairs_id(&own->group_ids, module, labels);
	if (*index == PAIRS_NONE ||
	    rows_reserve(&census->groups, &own->group_room, *index, sizeof(*census->groups)) != 0)
		return -ENOMEM;
	fill_group(census, &census->groups[*index], group);
	census->group_count = own->group_ids.count;
	return 0;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void add_counters(struct feed_counters *to, const struct feed_counters *more)
{
	for (size_t i = 0; i < STATE_COUNT; i++)
		to->samples_by_state[i] += more->samples_by_state[i];
	to->cpu_ns += more->cpu_ns;
	to->wall_ns += more->wall_ns;
	to->instances_created += more->instances_created;
}

static int add_part(struct census_process *process, uint32_t group, uint64_t cpu_ns,
		    uint64_t now_ns)
{
	size_t i = 0;

	while (i < process->part_count && process->parts[i].group != group)
		i++;
	if (i == process->part_count) {
		if (rows_reserve(&process->parts, &process->part_room, i,
				 sizeof(*process->parts)) != 0)
			return -ENOMEM;
		process->parts[i] = (struct census_part){ .group = group };
		process->part_count++;
	}
	process->parts[i].recent_ns += cpu_ns;
	process->parts[i].last_ns = now_ns;
	return 0;
}

int census_add(struct census *census, uint32_t process, const struct feed_group *group,
	       const struct feed_counters *more, uint64_t now_ns)
{
	uint32_t index;
	int error = find_group(census, group, &index);

	if (error != 0)
		return error;
	if (index == UINT32_MAX) {
		add_counters(&census->other, more);
		return 0;
	}
	census->groups[index].last_ns = now_ns;
	/* A place is free for whoever comes first; census_turn() makes them so. */
	if (!census->groups[index].is_shown && census->own->shown < CENSUS_SHOWN_MAX) {
		census->groups[index].is_shown = true;
		census->own->shown++;
	}
	add_counters(census->groups[index].is_shown ? &census->groups[index].counters
						    : &census->other,
		     more);
	return add_part(&census->processes[process], index, more->cpu_ns, now_ns);
}

void census_add_stat(struct census *census, const char *name, uint64_t more)
{
	struct census_private *own = census->own;
	uint32_t id = names_find(&own->stat_names, name);

	if (id == NAMES_NONE && own->stat_names.count < STATS_MAX)
		id = names_id(&own->stat_names, name);
	if (id == NAMES_NONE ||
	    rows_reserve(&census->stats, &own->stat_room, id, sizeof(*census->stats)) != 0)
		return;
	if (id == census->stat_count) {
		census->stats[id].name = keep(census, name);
		census->stat_count++;
	}
	census->stats[id].value += more;
}

/* ---- who is told apart ----------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
	const struct census_part *left = a, *right = b;

	if (left->recent_ns != right->recent_ns)
		return left->recent_ns > right->recent_ns ? -1 : 1;
	return left->group < right->group ? -1 : left->group > right->group;
}

/* The heaviest of the last minute or so are listed; half of a weight goes in 35 turns. */
static void turn_process(struct census_process *process, uint64_t now_ns)
{
	size_t kept = 0;

	qsort(process->parts, process->part_count, sizeof(*process->parts), compare_parts);
	for (size_t i = 0; i < process->part_count; i++) {
		struct census_part *part = &process->parts[i];

		if (i < CENSUS_TARGETS && part->recent_ns != 0)
			part->listed_ns = now_ns;
		part->recent_ns -= part->recent_ns / 50;
		if (census_is_there(part->last_ns, now_ns))
			process->parts[kept++] = *part;
	}
	process->part_count = kept;
}

void census_turn(struct census *census, uint64_t now_ns)
{
	for (size_t i = 0; i < census->group_count; i++) {
		struct census_group *group = &census->groups[i];

		if (group->is_shown && !census_is_there(group->last_ns, now_ns)) {
			group->is_shown = false;
			census->own->shown--;
		}
	}
	for (size_t i = 0; i < census->process_count; i++) {
		if (census->processes[i].part_count != 0)
			turn_process(&census->processes[i], now_ns);
	}
}
