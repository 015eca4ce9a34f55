/* SPDX-License-Identifier: MIT */
/* members.c - which instances of a group have rows of their own. Threads: ours. */
#include "preload/profile/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/array.h"

enum { MEMBER_COST = 64 };

static bool member_is(const void *table, uint32_t number, const void *key)
{
	const struct members *members = table;

	return members->rows[number].id == *(const uint32_t *)key;
}

static struct member *find(const struct members *members, uint32_t id)
{
	uint32_t number = lookup_find(&members->lookup, lookup_hash(&id, sizeof(id)), member_is,
				      members, &id);

	return number == LOOKUP_NONE ? NULL : &members->rows[number];
}

static bool is_alive(uint32_t id)
{
	struct instance_info info;

	return instance_get(id, &info);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Takes the name from instance ID, which is in GROUP's list at PLACE. */
static void unname(struct members *members, struct group *group, uint32_t place)
{
	struct member *member = find(members, group->named[place]);

	if (member != NULL)
		member->name = 0;
	group->named[place] = group->named[--group->named_count];
	members->named_count--;
}

static void unname_dead(struct members *members, struct group *group)
{
	for (uint32_t i = group->named_count; i > 0; i--)
		if (!is_alive(group->named[i - 1]))
			unname(members, group, i - 1);
}

/* The named instance of GROUP with the fewest samples: its place, and the number of its samples. */
static uint32_t lightest(const struct members *members, const struct group *group,
			 uint64_t *samples)
{
	uint32_t place = 0;

	*samples = UINT64_MAX;
	for (uint32_t i = 0; i < group->named_count; i++) {
		const struct member *member = find(members, group->named[i]);

		if (member == NULL || member->samples < *samples) {
			*samples = member == NULL ? 0 : member->samples;
			place = i;
		}
	}
	return place;
}

/*
 * Takes a name away for an instance with SAMPLES: from one with less than half as many, so that two
 * that are alike do not take turns. Within GROUP when that is full, else from the lightest of all.
 */
static bool take_name(struct members *members, struct group *group, uint64_t samples)
{
	struct group *victim = NULL;
	uint64_t fewest = UINT64_MAX, found;
	uint32_t place = 0, candidate;

	for (size_t i = 0; i < members->groups->count; i++) {
		struct group *other = &members->groups->rows[i];

		if (other->named_count == 0 ||
		    (group->named_count == GROUP_NAMED_MAX && other != group))
			continue;
		candidate = lightest(members, other, &found);
		if (found < fewest) {
			fewest = found;
			place = candidate;
			victim = other;
		}
	}
	if (victim == NULL || fewest * 2 > samples)
		return false;
	unname(members, victim, place);
	return true;
}

/* The host labelled the instance: what it is called in its old group is not so in the new one. */
static void change_group(struct members *members, struct member *member, uint32_t group)
{
	struct group *old = &members->groups->rows[member->group];

	for (uint32_t i = 0; i < old->named_count; i++) {
		if (old->named[i] == member->id) {
			unname(members, old, i);
			break;
		}
	}
	*member = (struct member){ .id = member->id, .group = group };
}

static bool is_full(const struct members *members, const struct group *group)
{
	return group->named_count >= GROUP_NAMED_MAX || members->named_count >= MEMBERS_NAMED_MAX;
}

/* Makes room for one more name; the dead go first. */
static bool make_room(struct members *members, struct group *group, uint64_t samples)
{
	if (is_full(members, group))
		unname_dead(members, group);
	for (size_t i = 0; is_full(members, group) && i < members->groups->count; i++)
		unname_dead(members, &members->groups->rows[i]);
	return !is_full(members, group) || take_name(members, group, samples);
}

static uint32_t make_name(struct members *members, const struct instance_info *info,
			  const struct group_loading *loading)
{
	struct texts *texts = members->groups->texts;
	char suffix[32];
	uint32_t text;

	if (loading->ordinal == 1)
		snprintf(suffix, sizeof(suffix), "#%u", info->serial);
	else
		snprintf(suffix, sizeof(suffix), "#%u.%u", loading->ordinal, info->serial);
	text = texts_add_suffixed(texts, members->groups->rows[loading->group].name, suffix);
	return text == TEXT_OTHER ? 0 : text;
}

/* Asked at the 10th sample, then each time there are twice as many. */
static bool is_due(uint64_t samples)
{
	uint64_t tens = samples / MEMBER_NAMED_AT;

	return samples != 0 && samples % MEMBER_NAMED_AT == 0 && (tens & (tens - 1)) == 0;
}

static void give_name(struct members *members, struct member *member,
		      const struct instance_info *info, const struct group_loading *loading)
{
	struct group *group = &members->groups->rows[loading->group];

	if (members->mode == INSTANCES_ALL) {
		member->name = make_name(members, info, loading);
		return;
	}
	if (!is_due(member->samples) || !make_room(members, group, member->samples))
		return;
	member->name = make_name(members, info, loading);
	if (member->name == 0)
		return;
	group->named[group->named_count++] = member->id;
	members->named_count++;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void keep_row(struct members *members, const struct member *member)
{
	uint64_t hash = lookup_hash(&member->id, sizeof(member->id));

	members->rows[members->count] = *member;
	/* There was room for as many. */
	if (lookup_add(&members->lookup, hash, (uint32_t)members->count) == 0)
		members->count++;
}

/* Drops the dead, and of the others without a name those before row FIRST_KEPT. */
static void sweep(struct members *members, size_t first_kept)
{
	size_t count = members->count;

	for (size_t i = 0; i < members->groups->count; i++)
		unname_dead(members, &members->groups->rows[i]);
	members->count = 0;
	lookup_clear(&members->lookup);
	for (size_t i = 0; i < count; i++) {
		struct member member = members->rows[i];

		if (is_alive(member.id) && (i >= first_kept || member.name != 0))
			keep_row(members, &member);
	}
}

static struct member *add(struct members *members, uint32_t id, uint32_t group)
{
	struct member *rows;

	if (members->count >= members->limit) {
		sweep(members, 0);
		if (members->count >= members->limit / 4 * 3)
			sweep(members, members->count / 2);
	}
	if (members->count >= members->limit)
		return NULL;
	rows = array_room(members->rows, &members->capacity, members->count, sizeof(*rows));
	if (rows == NULL)
		return NULL;
	members->rows = rows;
	if (lookup_add(&members->lookup, lookup_hash(&id, sizeof(id)), (uint32_t)members->count) !=
	    0)
		return NULL;
	rows[members->count] = (struct member){ .id = id, .group = group };
	return &rows[members->count++];
}

uint32_t members_count(struct members *members, const struct instance_info *info,
		       const struct group_loading *loading)
{
	struct group *group = &members->groups->rows[loading->group];
	struct member *member = find(members, info->id);

	if (member == NULL)
		member = add(members, info->id, loading->group);
	if (member == NULL)
		return members->mode == INSTANCES_NONE ? 0 : group->unnamed;
	if (member->group != loading->group)
		change_group(members, member, loading->group);
	if (member->recording != members->recording)
		group->instances_sampled++;
	member->recording = members->recording;
	member->samples++;
	if (members->mode == INSTANCES_NONE || loading->group == GROUP_OTHER)
		return 0;
	if (member->name == 0) {
		give_name(members, member, info, loading);
		if (member->name != 0)
			lives_begin(&members->lives, info, group->name, member->name);
	}
	return member->name != 0 ? member->name : group->unnamed;
}

void members_unname(struct members *members, struct group *group)
{
	while (group->named_count > 0)
		unname(members, group, group->named_count - 1);
}

void members_restart(struct members *members)
{
	members->recording++;
	lives_restart(&members->lives);
}

void members_init(struct members *members, struct groups *groups, enum instances mode,
		  uint64_t memory)
{
	*members = (struct members){
		.groups = groups,
		.mode = mode,
		.limit = memory / MEMBER_COST + MEMBER_NAMED_AT,
		.recording = 1,
	};
}

void members_fini(struct members *members)
{
	free(members->rows);
	lookup_free(&members->lookup);
	lives_fini(&members->lives);
	*members = (struct members){ 0 };
}
