/* SPDX-License-Identifier: MIT */
/* groups.c - module identities under their names, and what was counted for them. Threads: ours. */
#include "preload/profile/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/load/instance.h"
#include "preload/profile/array.h"

enum { LABEL_TEXT_MAX = 2048 };

struct group_key {
	uint32_t given, identity, label_text;
};

/* ---- groups ---------------------------------------------------------------------------------- */

static bool group_is(const void *table, uint32_t number, const void *key)
{
	const struct groups *groups = table;
	const struct group_key *wanted = key;

	return groups->rows[number].given == wanted->given &&
	       groups->rows[number].identity == wanted->identity &&
	       groups->rows[number].label_text == wanted->label_text;
}

/* Is NAME shown for a group already? There are few groups, and this is asked once for each. */
static bool is_taken(const struct groups *groups, const struct group_key *key, uint32_t name)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->rows[i].name == name)
			return true;
	return gone_was_anothers(&groups->gone, name, key->identity, key->label_text) ||
	       (name == key->given && groups->gone.count >= GONE_MAX);
}

/* Is it the same module's, but somebody else's? */
static bool is_taken_by_itself(const struct groups *groups, const struct group_key *key,
			       uint32_t name)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->rows[i].name == name && groups->rows[i].identity == key->identity)
			return true;
	return false;
}

static uint32_t unique_name(struct groups *groups, const struct group_key *key)
{
	char suffix[1 + GROUP_HASH_DIGITS + 1], labels[256];
	uint32_t name = key->given;

	if (!is_taken(groups, key, name))
		return name;
	if (key->label_text == 0 || !is_taken_by_itself(groups, key, name)) {
		snprintf(suffix, sizeof(suffix), "@%.*s", GROUP_HASH_DIGITS,
			 groups->texts->rows[key->identity]);
		name = texts_add_suffixed(groups->texts, key->given, suffix);
	}
	if (!is_taken(groups, key, name) || key->label_text == 0)
		return name;
	snprintf(labels, sizeof(labels), "{%.200s}", groups->texts->rows[key->label_text]);
	return texts_add_suffixed(groups->texts, key->given, labels);
}

/* `tenant=acme,tier=free`; 0: no labels. */
static uint32_t text_of_labels(struct texts *texts, const struct labels *labels)
{
	char text[LABEL_TEXT_MAX];
	size_t used = 0;

	for (size_t i = 0; i < labels->count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%s",
					 i > 0 ? "," : "", labels->rows[i].key,
					 labels->rows[i].value);
	return labels->count > 0 ? texts_add_raw(texts, text) : 0;
}

static void set_labels(struct texts *texts, struct group *group, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		group->labels[i] = (struct chunk_label){
			.key = texts_add_raw(texts, labels->rows[i].key),
			.value = texts_add_raw(texts, labels->rows[i].value),
		};
	group->label_count = labels->count;
}

/* The number of a row for another group; GROUP_OTHER when there is none. */
static uint32_t new_row(struct groups *groups)
{
	struct group *rows;

	if (groups->count <= GROUPS_MAX) {
		rows = array_room(groups->rows, &groups->capacity, groups->count, sizeof(*rows));
		if (rows == NULL)
			return GROUP_OTHER;
		groups->rows = rows;
		return (uint32_t)groups->count;
	}
	for (size_t i = 1; groups->free_count > 0 && i < groups->count; i++)
		if (groups->rows[i].is_free)
			return (uint32_t)i;
	groups->refused++;
	return GROUP_OTHER;
}

static uint32_t add_group(struct groups *groups, const struct group_key *key, uint64_t hash)
{
	uint32_t number = new_row(groups);
	bool is_first = groups->count == 0;
	struct group *row;

	if (groups->rows == NULL || (number == GROUP_OTHER && !is_first) ||
	    lookup_add(&groups->lookup, hash, number) != 0)
		return GROUP_OTHER;
	row = &groups->rows[number];
	groups->free_count -= number < groups->count;
	*row = (struct group){
		.name = unique_name(groups, key),
		.given = key->given,
		.identity = key->identity,
		.label_text = key->label_text,
		.base = number,
	};
	row->unnamed = texts_add_suffixed(groups->texts, row->name, "#*");
	groups->count += number == groups->count;
	return number;
}

/* The row with KEY, made if new and TAKES_NEW; LABELS are those of its text. */
static uint32_t find_or_add(struct groups *groups, const struct group_key *key,
			    const struct labels *labels, bool takes_new)
{
	uint64_t hash = lookup_hash(key, sizeof(*key));
	uint32_t number = lookup_find(&groups->lookup, hash, group_is, groups, key);

	if (number != LOOKUP_NONE)
		return number;
	number = takes_new ? add_group(groups, key, hash) : GROUP_OTHER;
	if (number != GROUP_OTHER)
		set_labels(groups->texts, &groups->rows[number], labels);
	return number;
}

uint32_t groups_of(struct groups *groups, const struct module *module, const char *name,
		   const struct labels *labels)
{
	struct group_key key = {
		.given = name != NULL		? texts_add(groups->texts, name)
			 : labels->name != NULL ? texts_add_raw(groups->texts, labels->name)
						: texts_add(groups->texts, module_name(module)),
		.identity = texts_add(groups->texts, module_identity(module)),
		.label_text = text_of_labels(groups->texts, labels),
	};

	return find_or_add(groups, &key, labels, true);
}

static uint32_t make_labelled(struct groups *groups, uint32_t base,
			      const struct instance_labels *extra)
{
	const struct group *own = &groups->rows[base];
	const char **texts = groups->texts->rows;
	struct group_key key = { .given = own->given, .identity = own->identity };
	struct labels labels = { .count = 0 };
	bool has_room = groups->labelled_count < GROUPS_LABELLED_MAX;
	uint32_t number;

	for (size_t i = 0; i < extra->count; i++)
		labels_add(&labels, extra->rows[i].key, extra->rows[i].value);
	for (size_t i = 0; i < own->label_count; i++)
		labels_add(&labels, texts[own->labels[i].key], texts[own->labels[i].value]);
	key.label_text = text_of_labels(groups->texts, &labels);
	number = find_or_add(groups, &key, &labels, has_room);
	if (number == GROUP_OTHER) {
		groups->refused_labelled += !has_room;
		return base;
	}
	if (groups->rows[number].base == number && number != base) {
		groups->rows[number].base = base;
		groups->rows[base].has_labelled = true;
		groups->labelled_count++;
	}
	return number;
}

uint32_t groups_labelled(struct groups *groups, uint32_t base, const struct instance_labels *labels)
{
	struct group_labelled *known =
		&groups->labelled[labels->number % ARRAY_SIZE(groups->labelled)];

	if (labels->count == 0 || base == GROUP_OTHER)
		return base;
	if (known->number != labels->number || known->base != base)
		*known = (struct group_labelled){
			.number = labels->number,
			.base = base,
			.group = make_labelled(groups, base, labels),
		};
	return known->group;
}

/* ---- counters -------------------------------------------------------------------------------- */

void groups_count(struct groups *groups, uint32_t group, enum wasm_state state, uint64_t weight,
		  uint64_t cpu_ns)
{
	struct group *row = &groups->rows[group];

	row->samples += weight;
	row->cpu_ns += cpu_ns;
	row->samples_by_state[state] += weight;
	row->has_changed = true;
}

void groups_count_wait(struct groups *groups, uint32_t group, uint64_t wall_ns)
{
	struct group *row = &groups->rows[group];

	row->wall_ns += wall_ns;
	row->samples_by_state[STATE_WAITING]++;
	row->has_changed = true;
}

void groups_restart(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct group *row = &groups->rows[i];

		row->past_ns = row->past_ns / 2 + row->cpu_ns + row->wall_ns;
		row->instances_sampled = row->samples = row->cpu_ns = row->wall_ns = 0;
		row->merged = 0;
		row->instances_created = 0; /* so that the next chunk has it again */
		row->is_counted = false;
		memset(row->samples_by_state, 0, sizeof(row->samples_by_state));
	}
	gone_clear(&groups->gone);
}

/* ---- shedding -------------------------------------------------------------------------------- */

void groups_reindex(struct groups *groups)
{
	lookup_clear(&groups->lookup);
	memset(groups->labelled, 0, sizeof(groups->labelled));
	for (size_t i = 0; i < groups->count; i++) {
		const struct group *row = &groups->rows[i];
		struct group_key key = { row->given, row->identity, row->label_text };

		/* There was room for as many. */
		if (!row->is_free)
			lookup_add(&groups->lookup, lookup_hash(&key, sizeof(key)), (uint32_t)i);
	}
}

/* ---- what chunks need ------------------------------------------------------------------------ */

void groups_update(struct groups *groups)
{
	uint64_t created[GROUPS_MAX + 1] = { 0 };

	for (size_t i = 0; i < groups->loading_count; i++)
		if (groups->loadings[i].group != GROUP_NONE)
			created[groups->loadings[i].group] +=
				instance_count(groups->loadings[i].id);
	for (size_t i = 0; i < groups->count; i++) {
		struct group *row = &groups->rows[i];

		created[i] += row->instances_forgotten;
		if (row->base != i) /* how many were made is known of a module only */
			created[i] = row->instances_sampled;
		row->has_changed |= created[i] != row->instances_created;
		row->instances_created = created[i];
	}
}

int groups_init(struct groups *groups, struct texts *texts, const struct config *config)
{
	struct group_key other = { .given = TEXT_OTHER };

	*groups = (struct groups){ .texts = texts, .config = config };
	/* The first is `(other)`; add_group() answers its number also when it fails. */
	add_group(groups, &other, lookup_hash(&other, sizeof(other)));
	if (groups->count == 1)
		return 0;
	groups_fini(groups);
	return -ENOMEM;
}

void groups_fini(struct groups *groups)
{
	free(groups->rows);
	free(groups->loadings);
	gone_free(&groups->gone);
	lookup_free(&groups->lookup);
	lookup_free(&groups->loading_lookup);
	*groups = (struct groups){ 0 };
}
