/* SPDX-License-Identifier: MIT */
/* shed.c - merges the lightest groups into others, and makes what refers to them follow. Threads:
 * ours. */
#include "preload/profile/shed.h"

#include <stdlib.h>

#include "preload/profile/profile_private.h"

enum { SHED_MAX = GROUPS_MAX / 4 };

struct candidate {
	uint64_t weight_ns;
	uint32_t number;
};

static int lighter_first(const void *one, const void *other)
{
	const struct candidate *a = one, *b = other;

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns < b->weight_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1; /* the older */
}

static bool is_labelled(const struct groups *groups, uint32_t number)
{
	return groups->rows[number].base != number;
}

/* Those that may go, lightest first. Returns their number. */
static size_t find_candidates(const struct groups *groups, bool labelled_only,
			      struct candidate *candidates)
{
	size_t count = 0;

	for (uint32_t i = 1; i < groups->count; i++) {
		const struct group *row = &groups->rows[i];

		if (row->is_free || row->has_calls || row->has_labelled ||
		    (labelled_only && !is_labelled(groups, i)))
			continue;
		candidates[count++] = (struct candidate){
			.weight_ns = row->cpu_ns + row->wall_ns + row->past_ns,
			.number = i,
		};
	}
	qsort(candidates, count, sizeof(*candidates), lighter_first);
	return count;
}

/* Group NUMBER becomes part of TO, and its row free. */
static void merge(struct groups *groups, uint32_t number, uint32_t to)
{
	struct group *row = &groups->rows[number], *target = &groups->rows[to];

	target->samples += row->samples;
	target->cpu_ns += row->cpu_ns;
	target->wall_ns += row->wall_ns;
	for (size_t i = 0; i < STATE_COUNT; i++)
		target->samples_by_state[i] += row->samples_by_state[i];
	target->instances_sampled += row->instances_sampled;
	target->instances_forgotten += row->instances_forgotten;
	target->merged += 1 + row->merged;
	target->has_changed = true;
	groups->labelled_count -= is_labelled(groups, number);
	gone_add(&groups->gone, &(struct gone_row){ row->name, row->identity, row->label_text,
						    target->name, false });
	*row = (struct group){ .name = UINT32_MAX, .base = number, .is_free = true };
	groups->free_count++;
}

/* Merges COUNT of the lightest; TO[N] becomes the group that N is part of. */
static void merge_lightest(struct profile *self, size_t count, bool labelled_only, uint32_t *to,
			   struct candidate *candidates)
{
	struct groups *groups = &self->groups;
	size_t found = find_candidates(groups, labelled_only, candidates);

	if (count > SHED_MAX)
		count = SHED_MAX;
	for (size_t i = 0; i < found && i < count; i++) {
		uint32_t number = candidates[i].number, base = groups->rows[number].base;

		to[number] = base != number ? base : GROUP_OTHER;
		members_unname(&self->members, &groups->rows[number]);
		merge(groups, number, to[number]);
	}
}

/* A module whose groups by label are all gone is a group like others again. */
static void count_bases(struct groups *groups)
{
	for (uint32_t i = 1; i < groups->count; i++)
		groups->rows[i].has_labelled = false;
	for (uint32_t i = 1; i < groups->count; i++)
		if (is_labelled(groups, i))
			groups->rows[groups->rows[i].base].has_labelled = true;
}

static void follow(struct row_key *key, const struct groups *groups, const uint32_t *to)
{
	uint32_t group = to[key->group];

	if (group == key->group)
		return;
	key->group = group;
	key->module = groups->rows[group].name;
	key->instance = 0;
}

static void follow_all(struct profile *self, const uint32_t *to)
{
	struct groups *groups = &self->groups;

	for (size_t i = 0; i < groups->loading_count; i++) {
		struct group_loading *loading = &groups->loadings[i];

		if (loading->group == GROUP_NONE || to[loading->group] == loading->group)
			continue;
		loading->group = to[loading->group];
		loading->is_crowded = true;
	}
	for (size_t i = 0; i < self->members.count; i++)
		self->members.rows[i].group = to[self->members.rows[i].group];
	for (size_t i = 0; i < self->waits.capacity; i++) {
		struct waits_place *place = &self->waits.places[i];

		follow(&place->key, groups, to);
		place->group = to[place->group];
	}
	for (uint64_t i = self->history.first_chunk; i < self->history.next_chunk; i++) {
		const struct history_chunk *chunk = history_chunk(&self->history, i);

		for (uint64_t k = 0; k < chunk->row_count; k++)
			follow(&self->history.rows[(chunk->first_row + k) % self->history.limit]
					.key,
			       groups, to);
	}
}

void shed_groups(struct profile *self)
{
	struct groups *groups = &self->groups;
	struct candidate *candidates = NULL;
	uint32_t *to;

	if (groups->refused == 0 && groups->refused_labelled == 0)
		return;
	to = calloc(groups->count, sizeof(*to));
	if (to != NULL)
		candidates = calloc(groups->count, sizeof(*candidates));
	if (candidates != NULL) {
		for (uint32_t i = 0; i < groups->count; i++)
			to[i] = i;
		merge_lightest(self, groups->refused_labelled, true, to, candidates);
		if (groups->refused > groups->free_count)
			merge_lightest(self, groups->refused - groups->free_count, false, to,
				       candidates);
		count_bases(groups);
		groups_reindex(groups);
		follow_all(self, to);
		groups->refused = groups->refused_labelled = 0;
	}
	free(candidates);
	free(to);
}
