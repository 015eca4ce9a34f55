/* SPDX-License-Identifier: MIT */
/* profile.c - samples become rows, rows become chunks. Threads: ours. */
#include "preload/profile/profile_private.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/load/instance.h"
#include "preload/profile/shed.h"

/* ---- one sample ------------------------------------------------------------------------------ */

/* The group of the instance that was entered, else of the code; *LABEL: the instance's text. */
static uint32_t choose_group(struct profile *self, const struct sample *sample,
			     const struct kept *kept, uint32_t *label)
{
	uint32_t group = kept->group == GROUP_NONE ? GROUP_OTHER : kept->group;
	const struct group_loading *loading;
	struct instance_labels labels;
	struct group_loading labelled;
	struct instance_info info;
	uint64_t sampled;

	*label = 0;
	if (sample->instance == 0 || !instance_get(sample->instance, &info) || info.loading == 0)
		return group;
	loading = groups_find(&self->groups, info.loading);
	if (loading == NULL || !loading->is_listed)
		return group;
	labelled = *loading;
	if (info.has_labels) {
		instance_labels_at(sample->instance, sample->time_ns, &labels);
		labelled.group = groups_labelled(&self->groups, loading->group, &labels);
	}
	sampled = self->groups.rows[labelled.group].instances_sampled;
	*label = members_count(&self->members, &info, &labelled);
	self->totals.instances += self->groups.rows[labelled.group].instances_sampled - sampled;
	return labelled.group;
}

/* LABEL of an instance, with how certain it is. */
static uint32_t with_certainty(struct profile *self, const struct sample *sample, uint32_t group,
			       uint32_t label)
{
	struct texts *texts = &self->tables.texts;

	if (self->options.config->instances == INSTANCES_NONE || group == GROUP_OTHER)
		return label;
	if ((sample->flags & SAMPLE_MODULE_ONLY) != 0)
		return texts_add_suffixed(texts, self->groups.rows[group].name, CHUNK_MODULE_ONLY);
	if ((sample->flags & SAMPLE_LIKELY) != 0 && label != 0)
		return texts_add_suffixed(texts, label, CHUNK_LIKELY);
	return label;
}

/* The row of the sample at hand; *GROUP: for which it counts. */
struct row_key profile_row_key(struct profile *self, const struct sample *sample, uint64_t tid,
			       const char *thread_name, uint32_t *group)
{
	const struct kept *kept = &self->kept;
	struct row_key key = {
		.thread_id = tid,
		.stack = stacks_add(&self->stacks, kept->locations, kept->count),
		.thread_name = texts_add_raw(&self->tables.texts, thread_name),
		.state = self->resolved.state,
		.is_truncated = self->resolved.is_truncated,
	};

	*group = choose_group(self, sample, kept, &key.instance);
	key.instance = with_certainty(self, sample, *group, key.instance);
	key.module = self->groups.rows[*group].name;
	key.group = *group;
	return key;
}

int profile_add_row(struct profile *self, const struct row_key *key, uint32_t group,
		    struct row_weight weight, uint64_t time_ns)
{
	struct group *module = &self->groups.rows[self->groups.rows[group].base];
	uint64_t start_ns = self->options.start_ns;

	if (rows_add(&self->rows, key, weight, time_ns > start_ns ? time_ns - start_ns : 0) != 0)
		return -ENOMEM;
	self->totals.modules += !module->is_counted;
	module->is_counted = true;
	return 0;
}

void profile_count(const struct profile *self, enum stat_id which, uint64_t n)
{
	if (self->options.stats != NULL)
		self->options.stats[which] += n;
	else
		stat_add(which, n);
}

static uint64_t weight_of(const struct sample *sample)
{
	return sample->weight == 0 ? 1 : sample->weight;
}

static int count_sample(struct profile *self, const struct sample *sample, uint64_t tid,
			const char *thread_name, uint64_t cpu_ns)
{
	struct row_weight weight = { .count = weight_of(sample), .cpu_ns = cpu_ns };
	uint32_t group;
	struct row_key key = profile_row_key(self, sample, tid, thread_name, &group);

	if (profile_add_row(self, &key, group, weight, sample->time_ns) != 0)
		return -ENOMEM;
	self->totals.samples += weight.count;
	groups_count(&self->groups, group, self->resolved.state, weight.count, cpu_ns);
	return 0;
}

bool profile_is_full(const struct profile *self)
{
	return self->stacks.count >= self->stacks.limit ||
	       self->tables.location_count >= self->tables.location_limit ||
	       texts_are_full(&self->tables.texts);
}

void profile_warn_of_bounds(const struct profile *self)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (profile_is_full(self))
		log_once(&once, "GUESTPROF_MEMORY is used up: new stacks are shown as (other)");
}

/* How full the fullest table is decides who still gets room in it. */
static uint32_t admission(const struct profile *self)
{
	static const uint32_t least[] = { 0, 0, 0, 0, 8, 8, 64, 512, 512 };
	const struct tables *tables = &self->tables;
	uint64_t texts = tables->texts.memory * 8 / tables->texts.limit;
	uint64_t locations = tables->location_count * 8 / tables->location_limit;
	uint64_t stacks = self->stacks.count * 8 / self->stacks.limit;
	uint64_t most = texts > locations ? texts : locations;

	most = stacks > most ? stacks : most;
	return least[most < ARRAY_SIZE(least) ? most : ARRAY_SIZE(least) - 1];
}

bool profile_understand(struct profile *self, const struct sample *sample)
{
	const struct config *config = self->options.config;

	self->groups.admission = admission(self);
	if (self->rows.count == 0) /* and nobody looks at the last chunk any more */
		shed_groups(self);
	if (!resolve_sample(self->options.symtab, config->stacks, sample, &self->resolved)) {
		profile_count(self, STAT_NO_GUEST_FOUND, 1);
		return false;
	}
	if (keep_frames(&self->tables, &self->groups, config, &self->resolved, &self->kept) != 0) {
		profile_count(self, STAT_LOST_MEMORY, 1);
		return false;
	}
	if (!self->kept.has_guest)
		profile_count(self, STAT_UNLISTED, 1);
	return self->kept.has_guest;
}

void profile_take(struct profile *self, const struct sample *sample, uint64_t tid,
		  const char *thread_name)
{
	profile_take_timed(self, sample, tid, thread_name,
			   weight_of(sample) * self->options.period_ns);
}

void profile_take_timed(struct profile *self, const struct sample *sample, uint64_t tid,
			const char *thread_name, uint64_t cpu_ns)
{
	if (!profile_understand(self, sample))
		return;
	if (count_sample(self, sample, tid, thread_name, cpu_ns) != 0) {
		profile_count(self, STAT_LOST_MEMORY, 1);
		return;
	}
	if (self->resolved.is_truncated)
		profile_count(self, STAT_TRUNCATED, 1);
	if (self->resolved.is_guessed)
		profile_count(self, STAT_GUESSED, 1);
	if (self->kept.is_unnamed)
		profile_count(self, STAT_UNNAMED, 1);
	profile_warn_of_bounds(self);
}

/* ---- sessions ---------------------------------------------------------------------------------
 */

void profile_restart(struct profile *self, uint64_t start_ns)
{
	self->options.start_ns = start_ns;
	self->reported = (struct reported){ 0 };
	self->totals = (struct profile_totals){ 0 };
	rows_clear(&self->rows);
	groups_restart(&self->groups);
	members_restart(&self->members);
	calls_restart(&self->calls);
}

void profile_set_period(struct profile *self, uint64_t period_ns)
{
	self->options.period_ns = period_ns;
}

void profile_forget_history(struct profile *self, uint64_t now_ns)
{
	history_clear(&self->history);
	bygone_clear(&self->bygone);
	history_begin(&self->history, now_ns);
}

uint64_t profile_next_chunk(const struct profile *self)
{
	return self->history.next_chunk;
}

uint64_t profile_kept_ns(const struct profile *self)
{
	return history_kept_ns(&self->history);
}

/* ---- life ------------------------------------------------------------------------------------ */

uint64_t profile_intervals_dropped(const struct profile *self)
{
	return self->calls.dropped;
}

uint64_t profile_modules_ns(const struct profile *self)
{
	return self->tables.modules_ns;
}

struct profile_totals profile_totals(const struct profile *self)
{
	static const enum stat_id lost[] = {
		STAT_LOST_RING_FULL, STAT_LOST_NO_RING, STAT_LOST_NESTED, STAT_LOST_NO_THREAD,
		STAT_LOST_STACK,     STAT_LOST_MEMORY,	STAT_LOST_WRITE,  STAT_LOST_FORK,
	};
	struct profile_totals totals = self->totals;

	for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
		totals.lost += stat_get(lost[i]);
	return totals;
}

static int init(struct profile *self)
{
	const struct config *config = self->options.config;
	uint64_t memory = config->memory / 2; /* the rings have the other half */

	if (history_init(&self->history, self->options.history_memory) != 0)
		return -ENOMEM;
	history_begin(&self->history, self->options.start_ns);
	memory -= self->options.history_memory;
	rows_init(&self->rows, memory / 8);
	if (tables_init(&self->tables, memory / 2) != 0)
		return -ENOMEM;
	if (stacks_init(&self->stacks, memory / 4) != 0)
		return -ENOMEM;
	if (groups_init(&self->groups, &self->tables.texts, config) != 0)
		return -ENOMEM;
	self->groups.set = self->options.set;
	members_init(&self->members, &self->groups, config->instances, memory / 8);
	return 0;
}

struct profile *profile_new(const struct profile_options *options)
{
	struct profile *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->options = *options;
	if (init(self) != 0) {
		profile_free(self);
		errno = ENOMEM;
		return NULL;
	}
	return self;
}

void profile_free(struct profile *self)
{
	if (self == NULL)
		return;
	members_fini(&self->members);
	groups_fini(&self->groups);
	stacks_fini(&self->stacks);
	tables_fini(&self->tables);
	rows_fini(&self->rows);
	waits_fini(&self->waits);
	calls_fini(&self->calls);
	history_fini(&self->history);
	bygone_fini(&self->bygone);
	free(self->samples);
	free(self->chunk_groups);
	free(self->sample_locations);
	free(self);
}
