/* SPDX-License-Identifier: MIT */
/* profile_chunk.c - what was counted since the last chunk, and what it refers to. Threads: ours. */
#include "preload/profile/profile_private.h"

#include "preload/base/stats.h"
#include "preload/profile/array.h"

static int reserve_samples(struct profile *self)
{
	size_t count = 0;
	void *items;

	for (size_t i = 0; i < self->rows.count; i++)
		count += stacks_get(&self->stacks, self->rows.rows[i].key.stack, NULL);
	items = array_fit(self->samples, &self->sample_capacity, self->rows.count,
			  sizeof(*self->samples));
	if (items == NULL)
		return -ENOMEM;
	self->samples = items;
	items = array_fit(self->sample_locations, &self->location_capacity, count,
			  sizeof(*self->sample_locations));
	if (items == NULL)
		return -ENOMEM;
	self->sample_locations = items;
	return 0;
}

static void fill_samples(struct profile *self)
{
	uint64_t *locations;

	if (reserve_samples(self) != 0) {
		for (size_t i = 0; i < self->rows.count; i++)
			profile_count(self, STAT_LOST_MEMORY, self->rows.rows[i].weight.count);
		return;
	}
	locations = self->sample_locations;
	for (size_t i = 0; i < self->rows.count; i++) {
		const struct row *row = &self->rows.rows[i];
		size_t count = stacks_get(&self->stacks, row->key.stack, locations);

		self->samples[i] = (struct chunk_sample){
			.locations = locations,
			.location_count = count,
			.count = row->weight.count,
			.cpu_ns = row->weight.cpu_ns,
			.wall_ns = row->weight.wall_ns,
			.module = row->key.module,
			.instance = row->key.instance,
			.thread_name = row->key.thread_name,
			.state = chunk_state_string(row->key.state),
			.thread_id = row->key.thread_id,
			.time_ns = row->first_ns,
			.is_truncated = row->key.is_truncated,
			.labels = self->groups.rows[row->key.group].labels,
			.label_count = self->groups.rows[row->key.group].label_count,
			.has_descriptor = row->key.descriptor != 0,
			.descriptor = row->key.descriptor - (row->key.descriptor != 0),
		};
		locations += count;
	}
	self->chunk.samples = self->samples;
	self->chunk.sample_count = self->rows.count;
}

static struct chunk_group describe_group(const struct group *group)
{
	struct chunk_group row = {
		.module = group->name,
		.identity = group->identity,
		.instances_created = group->instances_created,
		.instances_sampled = group->instances_sampled,
		.samples = group->samples,
		.cpu_ns = group->cpu_ns,
		.wall_ns = group->wall_ns,
		.labels = group->labels,
		.label_count = group->label_count,
		.merged = group->merged,
	};

	for (size_t i = 0; i < STATE_COUNT; i++)
		row.samples_by_state[i] = group->samples_by_state[i];
	return row;
}

/* A group is told once the chunk, or one before it, has its names. */
static bool is_due(const struct profile *self, const struct group *group)
{
	size_t known = self->reported.strings;

	for (size_t i = 0; i < group->label_count; i++)
		if (group->labels[i].key >= known || group->labels[i].value >= known)
			return false;
	/* its module's samples are in groups of labels, all of them */
	if (group->has_labelled && group->samples == 0 && group->wall_ns == 0)
		return false;
	return group->has_changed && group->name < known && group->identity < known;
}

static void fill_groups(struct profile *self)
{
	size_t count;
	void *items;

	groups_update(&self->groups);
	items = array_fit(self->chunk_groups, &self->group_capacity,
			  self->groups.count + self->groups.gone.count,
			  sizeof(*self->chunk_groups));
	if (items == NULL)
		return; /* they stay changed, and come with the next chunk */
	self->chunk_groups = items;
	/* before the groups: one of them may be there again */
	count = gone_fill(&self->groups.gone, self->reported.strings, self->chunk_groups);
	for (size_t i = 0; i < self->groups.count; i++) {
		struct group *group = &self->groups.rows[i];

		if (!is_due(self, group))
			continue;
		self->chunk_groups[count++] = describe_group(group);
		group->has_changed = false;
	}
	self->chunk.groups = self->chunk_groups;
	self->chunk.group_count = count;
}

static void fill_tables(struct profile *self)
{
	const struct tables *tables = &self->tables;
	struct reported *reported = &self->reported;
	struct chunk *chunk = &self->chunk;

	chunk->strings = tables->texts.rows + reported->strings;
	chunk->string_count = tables->texts.count - reported->strings;
	chunk->first_string = reported->strings;
	if (tables->mappings != NULL)
		chunk->mappings = tables->mappings + reported->mappings;
	chunk->mapping_count = tables->mapping_count - reported->mappings;
	chunk->functions = tables->functions + reported->functions;
	chunk->function_count = tables->function_count - reported->functions;
	chunk->locations = tables->locations + reported->locations;
	chunk->location_count = tables->location_count - reported->locations;
	*reported = (struct reported){
		.strings = tables->texts.count,
		.mappings = tables->mapping_count,
		.functions = tables->function_count,
		.locations = tables->location_count,
	};
}

/* Rows that no sample refers to can wait; so a chunk without samples may be thrown away. */
static bool needs_tables(const struct profile *self)
{
	if (self->chunk.sample_count != 0 || self->options.is_written_once)
		return true;
	/* Not thrown away once there is a file. */
	return self->reported.strings != 0 &&
	       calls_need_texts(&self->calls, &self->groups, self->reported.strings);
}

/* Beside the history's rows. */
static void remember(struct profile *self, uint64_t now_ns)
{
	bygone_add(&self->bygone, &self->chunk, self->options.start_ns);
	bygone_add_calls(&self->bygone, &self->calls, now_ns);
	self->history.now.calls = self->calls.ever_called;
	self->history.now.timed_calls = self->calls.ever_timed;
}

const struct chunk *profile_chunk(struct profile *self, uint64_t now_ns)
{
	self->chunk = (struct chunk){ .has_wall = self->options.config->wall };
	if (now_ns > self->options.start_ns)
		self->chunk.duration_ns = now_ns - self->options.start_ns;
	fill_samples(self);
	if (self->options.takes_hostcalls)
		calls_collect(&self->calls, &self->groups, self->options.symtab);
	if (needs_tables(self))
		fill_tables(self);
	fill_groups(self);
	if (self->options.takes_hostcalls)
		calls_fill(&self->calls, &self->groups, &self->chunk, self->reported.strings,
			   self->options.start_ns);
	lives_fill(&self->members.lives, &self->chunk, self->reported.strings,
		   self->options.start_ns, now_ns);
	history_add(&self->history, &self->rows, self->options.start_ns, now_ns);
	if (self->history.limit != 0)
		remember(self, now_ns);
	rows_clear(&self->rows);
	return &self->chunk;
}
