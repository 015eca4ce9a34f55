/* SPDX-License-Identifier: MIT */
/* totals.c - sums recordings up by group and instance. Threads: one at a time. */
#include "preload/read/totals.h"

#include "preload/read/rows.h"
#include "preload/read/totals_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void totals_add_weight(struct totals_weight *to, const struct totals_weight *more)
{
	to->samples += more->samples;
	to->cpu_ns += more->cpu_ns;
	to->wall_ns += more->wall_ns;
}

uint64_t totals_measure(const struct totals *totals, const struct totals_weight *weight)
{
	return totals->weight.cpu_ns != 0 ? weight->cpu_ns : weight->samples;
}

struct totals *totals_new(void)
{
	struct totals *totals = calloc(1, sizeof(*totals));

	if (totals == NULL)
		return NULL;
	totals->own = calloc(1, sizeof(*totals->own));
	if (totals->own == NULL) {
		free(totals);
		return NULL;
	}
	return totals;
}

static void free_private(struct totals_private *own)
{
	names_free(&own->names);
	pairs_free(&own->groups);
	pairs_free(&own->instances);
	pairs_free(&own->function_places);
	pairs_free(&own->functions);
	pairs_free(&own->self_ids);
	pairs_free(&own->stats);
	pairs_free(&own->waits);
	pairs_free(&own->modules);
	pairs_free(&own->frame_ids);
	pairs_free(&own->nodes);
	pairs_free(&own->parts);
	pairs_free(&own->part_instances);
	free(own->identity_of_module);
	free(own->function_of_frame);
	free(own->self);
	free(own->spans);
	frames_free(&own->frames);
	free(own);
}

void totals_free(struct totals *totals)
{
	if (totals == NULL)
		return;
	free_private(totals->own);
	free(totals->groups);
	free(totals->instances);
	free(totals->parts);
	free(totals->nodes);
	free(totals->functions);
	free(totals->waits);
	free(totals->stats);
	free(totals->wait_order);
	free(totals->group_order);
	free(totals->instance_order);
	free(totals->part_order);
	free(totals->node_order);
	free(totals->function_order);
	free(totals);
}

/* ---- where a sample belongs -------------------------------------------------------------------
 */

/* Number of the group (MODULE, IDENTITY), made if need be; TOTALS_NONE without memory. */
static uint32_t find_group(struct totals *totals, const char *module, const char *identity)
{
	struct totals_private *own = totals->own;
	uint32_t module_name = names_id(&own->names, module);
	uint32_t identity_name = names_id(&own->names, identity);
	uint32_t id;

	if (module_name == NAMES_NONE || identity_name == NAMES_NONE)
		return TOTALS_NONE;
	id = pairs_id(&own->groups, module_name, identity_name);
	if (id == PAIRS_NONE || id < totals->group_count)
		return id;
	if (rows_reserve(&totals->groups, &own->group_room, id, sizeof(*totals->groups)) != 0)
		return TOTALS_NONE;
	totals->groups[id] = (struct totals_row){
		.module = own->names.texts[module_name],
		.identity = own->names.texts[identity_name],
		.group = id,
		.hottest = TOTALS_NONE,
	};
	totals->group_count = id + 1;
	return id;
}

static uint32_t find_instance(struct totals *totals, uint32_t group,
			      const struct recording *recording,
			      const struct recording_sample *sample)
{
	struct totals_private *own = totals->own;
	uint32_t name = names_id(&own->names, sample->instance), id;

	if (name == NAMES_NONE)
		return TOTALS_NONE;
	id = pairs_id(&own->instances, (uint64_t)totals->recording_count << 32 | group,
		      (uint64_t)sample->process << 32 | name);
	if (id == PAIRS_NONE || id < totals->instance_count)
		return id;
	if (rows_reserve(&totals->instances, &own->instance_room, id, sizeof(*totals->instances)) !=
	    0)
		return TOTALS_NONE;
	totals->instances[id] = (struct totals_row){
		.module = totals->groups[group].module,
		.identity = totals->groups[group].identity,
		.instance = own->names.texts[name],
		.group = group,
		.pid = recording_process(recording, sample)->pid,
		.instances_created = 1,
		.instances_sampled = 1,
		.hottest = TOTALS_NONE,
	};
	totals->instance_count = id + 1;
	return id;
}

/* Length of TEXT, without SUFFIX if it ends in that. */
static size_t without(const char *text, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);

	if (length < size || strncmp(text + length - size, suffix, size) != 0)
		return length;
	return length - size;
}

enum totals_certainty totals_certainty(const char *instance)
{
	size_t length = strlen(instance);

	if (without(instance, length, CHUNK_MODULE_ONLY) < length)
		return TOTALS_MODULE_ONLY;
	return without(instance, length, CHUNK_LIKELY) < length ? TOTALS_LIKELY : TOTALS_EXACT;
}

bool totals_is_named(const char *instance)
{
	size_t length = without(instance, strlen(instance), CHUNK_LIKELY);

	return length != 0 && without(instance, length, "#*") == length &&
	       totals_certainty(instance) != TOTALS_MODULE_ONLY;
}

const char *totals_module(const struct recording *recording, const struct recording_sample *sample)
{
	if (sample->module[0] != '\0')
		return sample->module;
	return recording->mapping_count != 0 && recording->mappings[0].name[0] != '\0'
		       ? recording->mappings[0].name
		       : "(no module)";
}

int totals_place(struct totals *totals, const struct recording *recording,
		 const struct recording_sample *sample, struct totals_place *place)
{
	struct totals_private *own = totals->own;
	const char *module = totals_module(recording, sample);
	uint32_t name = names_id(&own->names, module);
	uint32_t known = name == NAMES_NONE ? PAIRS_NONE : pairs_find(&own->modules, name, 0);

	place->instance = TOTALS_NONE;
	place->group = find_group(totals, module,
				  known != PAIRS_NONE ? own->identity_of_module[known] : "");
	if (place->group == TOTALS_NONE)
		return -ENOMEM;
	if (!totals_is_named(sample->instance))
		return 0;
	place->instance = find_instance(totals, place->group, recording, sample);
	return place->instance == TOTALS_NONE ? -ENOMEM : 0;
}

/* ---- adding -----------------------------------------------------------------------------------
 */

/* The labels of a recording name its groups uniquely, so the name leads to the identity. */
static int learn_identities(struct totals *totals, const struct recording *recording)
{
	struct totals_private *own = totals->own;

	pairs_free(&own->modules);
	pairs_free(&own->frame_ids);
	for (size_t i = 0; i < recording->group_count; i++) {
		const struct recording_group *group = &recording->groups[i];
		uint32_t name = names_id(&own->names, group->module);
		uint32_t id = name == NAMES_NONE ? PAIRS_NONE : pairs_id(&own->modules, name, 0);

		if (id == PAIRS_NONE || rows_reserve(&own->identity_of_module, &own->module_room,
						     id, sizeof(char *)) != 0)
			return -ENOMEM;
		own->identity_of_module[id] = group->identity;
	}
	return 0;
}

void totals_see(struct totals_row *row, const struct recording_sample *sample)
{
	struct totals_weight weight = { sample->count, sample->cpu_ns, sample->wall_ns };

	totals_add_weight(&row->seen, &weight);
	row->seen_by_state[sample->state] += sample->count;
}

static int add_samples(struct totals *totals, const struct recording *recording)
{
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		struct totals_place place;
		int error = totals_place(totals, recording, sample, &place);
		uint32_t part;

		if (error == 0)
			error = totals_count_part(totals, recording, sample, &place, &part);
		if (error == 0)
			error = totals_count_functions(totals, sample, &place, part);
		if (error != 0)
			return error;
		totals_see(&totals->groups[place.group], sample);
		if (sample->instance[0] != '\0')
			totals->groups[place.group]
				.samples_by_certainty[totals_certainty(sample->instance)] +=
				sample->count;
		if (place.instance != TOTALS_NONE)
			totals_see(&totals->instances[place.instance], sample);
		if (!recording->is_ours) {
			totals->truncated += sample->is_truncated ? sample->count : 0;
			totals->unnamed +=
				sample->location_count == 0 || sample->locations[0]->line_count == 0
					? sample->count
					: 0;
		}
	}
	return 0;
}

/* The labels of GROUP as one text, kept with the names; "" when there is none; NULL: no memory. */
static const char *keep_labels(struct totals *totals, const struct recording_group *group)
{
	struct names *names = &totals->own->names;
	size_t size = 1, used = 0;
	uint32_t id;
	char *text;

	for (size_t i = 0; i < group->label_count; i++)
		size += strlen(group->labels[i].key) + strlen(group->labels[i].value) + 2;
	text = malloc(size);
	if (text == NULL)
		return NULL;
	*text = '\0';
	for (size_t i = 0; i < group->label_count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s=%s%c", group->labels[i].key,
					 group->labels[i].value, TOTALS_LABEL_END);
	id = names_id(names, text);
	free(text);
	return id == NAMES_NONE ? NULL : names->texts[id];
}

static int add_groups(struct totals *totals, const struct recording *recording)
{
	for (size_t i = 0; i < recording->group_count; i++) {
		const struct recording_group *group = &recording->groups[i];
		uint32_t id = find_group(totals, group->module, group->identity);
		struct totals_weight weight;
		struct totals_row *row;

		if (id == TOTALS_NONE)
			return -ENOMEM;
		row = &totals->groups[id];
		row->labels = keep_labels(totals, group);
		if (row->labels == NULL)
			return -ENOMEM;
		weight = (struct totals_weight){ group->samples, group->cpu_ns, group->wall_ns };
		totals_add_weight(&row->weight, &weight);
		row->instances_created += group->instances_created;
		row->instances_sampled += group->instances_sampled;
		row->merged += group->merged;
		for (int state = 0; state < STATE_COUNT; state++)
			row->samples_by_state[state] += group->samples_by_state[state];
		row->seen = (struct totals_weight){ 0 };
		memset(row->seen_by_state, 0, sizeof(row->seen_by_state));
		if (totals_count_part_group(totals, recording, group, id) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* What no Group message spoke for counts as seen. */
static void settle(struct totals_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct totals_row *row = &rows[i];

		totals_add_weight(&row->weight, &row->seen);
		for (int state = 0; state < STATE_COUNT; state++)
			row->samples_by_state[state] += row->seen_by_state[state];
		row->seen = (struct totals_weight){ 0 };
		memset(row->seen_by_state, 0, sizeof(row->seen_by_state));
	}
}

static int add_stats(struct totals *totals, const struct recording *recording)
{
	struct totals_private *own = totals->own;

	for (size_t i = 0; i < recording->stat_count; i++) {
		uint32_t name = names_id(&own->names, recording->stats[i].name);
		uint32_t id = name == NAMES_NONE ? PAIRS_NONE : pairs_id(&own->stats, name, 0);

		if (id == PAIRS_NONE ||
		    rows_reserve(&totals->stats, &own->stat_room, id, sizeof(*totals->stats)) != 0)
			return -ENOMEM;
		totals->stats[id].name = own->names.texts[name];
		totals->stats[id].value += recording->stats[i].value;
		totals->stat_count = own->stats.count;
		if (strncmp(own->names.texts[name], "lost_", 5) == 0)
			totals->lost += recording->stats[i].value;
	}
	totals->unnamed += recording_stat(recording, "unnamed");
	totals->truncated += recording_stat(recording, "truncated");
	totals->signals += recording_stat(recording, "signals");
	totals->own_cpu_ns += recording->own_cpu_ns + recording_stat(recording, "handler_ns");
	totals->process_cpu_ns += recording->process_cpu_ns;
	return 0;
}

static int add_spans(struct totals *totals, const struct recording *recording)
{
	struct totals_private *own = totals->own;

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];

		if (rows_reserve(&own->spans, &own->span_room, own->span_count,
				 sizeof(*own->spans)) != 0)
			return -ENOMEM;
		own->spans[own->span_count++] = (struct span){
			process->time_unix_ns,
			process->time_unix_ns + process->duration_ns,
		};
	}
	return 0;
}

int totals_add(struct totals *totals, const struct recording *recording)
{
	int error = learn_identities(totals, recording);

	totals->recording_count++;
	if (error == 0)
		error = add_samples(totals, recording);
	if (error == 0)
		error = add_groups(totals, recording);
	if (error == 0)
		error = add_stats(totals, recording);
	if (error == 0)
		error = add_spans(totals, recording);
	if (error != 0)
		return error;
	settle(totals->groups, totals->group_count);
	settle(totals->instances, totals->instance_count);
	settle(totals->parts, totals->part_count);
	return 0;
}
