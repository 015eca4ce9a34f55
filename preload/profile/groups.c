/* SPDX-License-Identifier: MIT */
/* groups.c - module identities under their names, and what was counted for them. Threads: ours. */
#include "preload/profile/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/load/instance.h"
#include "preload/profile/allow.h"
#include "preload/profile/array.h"

enum { SHORT_HASH = 6, LABEL_TEXT_MAX = 2048 };

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
	char suffix[1 + SHORT_HASH + 1], labels[256];
	uint32_t name = key->given;

	if (!is_taken(groups, key, name))
		return name;
	if (key->label_text == 0 || !is_taken_by_itself(groups, key, name)) {
		snprintf(suffix, sizeof(suffix), "@%.*s", SHORT_HASH,
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

/* NAME: of the prepared set; NULL: the user's, or the module's own. */
static uint32_t group_of(struct groups *groups, const struct module *module, const char *name,
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

/* ---- loadings -------------------------------------------------------------------------------- */

static bool loading_is(const void *table, uint32_t number, const void *key)
{
	const struct groups *groups = table;

	return groups->loadings[number].id == *(const uint32_t *)key;
}

static uint32_t find_loading(const struct groups *groups, uint32_t id)
{
	return lookup_find(&groups->loading_lookup, lookup_hash(&id, sizeof(id)), loading_is,
			   groups, &id);
}

const struct group_loading *groups_find(const struct groups *groups, uint32_t loading)
{
	uint32_t number = find_loading(groups, loading);

	return number == LOOKUP_NONE ? NULL : &groups->loadings[number];
}

/* A guest's own name carries a hash of ours (`name@3f9a2c`), which no list needs to know. */
static bool is_listed(const struct groups *groups, const struct module *module,
		      const struct labels *labels)
{
	const char *globs = groups->config->modules;
	char name[512];
	int size;

	if (allow_module(globs, module_name(module)) ||
	    (labels->name != NULL && allow_module(globs, labels->name)))
		return true;
	if (module_name_origin(module) != NAME_GUEST)
		return false;
	size = snprintf(name, sizeof(name), "%s", module_name(module));
	if (size < SHORT_HASH + 1 || (size_t)size >= sizeof(name))
		return false;
	name[size - SHORT_HASH - 1] = '\0';
	return allow_module(globs, name);
}

/* Has it to be seen more often before it takes room? Not when its group is there already. */
static bool must_wait(const struct groups *groups, const struct module *module, uint32_t seen)
{
	return seen < groups->admission &&
	       texts_find(groups->texts, module_identity(module)) == LOOKUP_NONE;
}

/* An unlisted module is no group: nothing of it is to be recorded, not even its name. */
static struct group_loading describe(struct groups *groups, const struct symtab_entry *entry,
				     uint32_t seen)
{
	struct group_loading loading = { .id = entry->id, .group = GROUP_NONE, .seen = seen };
	const char *name = NULL;
	struct labels labels;

	labels_of(groups->config, entry->module, &labels);
	loading.is_listed = groups->set != NULL ? set_has(groups->set, entry->id, &name)
						: is_listed(groups, entry->module, &labels);
	if (name == module_name(entry->module)) /* the set has none of its own for it */
		name = NULL;
	if (loading.is_listed && must_wait(groups, entry->module, seen)) {
		loading.group = GROUP_OTHER;
		loading.is_crowded = loading.is_waiting = true;
	} else if (loading.is_listed) {
		loading.group = group_of(groups, entry->module, name, &labels);
		loading.is_crowded = loading.group == GROUP_OTHER;
		loading.ordinal = ++groups->rows[loading.group].loading_count;
	}
	return loading;
}

/* A host that loads a module for every request: the older half goes, its instances stay counted. */
static void forget_oldest(struct groups *groups)
{
	size_t count = groups->loading_count / 2;

	for (size_t i = 0; i < count; i++) {
		const struct group_loading *loading = &groups->loadings[i];

		if (loading->group != GROUP_NONE)
			groups->rows[loading->group].instances_forgotten +=
				instance_count(loading->id);
	}
	groups->loading_count -= count;
	memmove(groups->loadings, groups->loadings + count,
		groups->loading_count * sizeof(*groups->loadings));
	lookup_clear(&groups->loading_lookup);
	for (size_t i = 0; i < groups->loading_count; i++) {
		uint32_t id = groups->loadings[i].id;

		/* There was room for twice as many. */
		lookup_add(&groups->loading_lookup, lookup_hash(&id, sizeof(id)), (uint32_t)i);
	}
}

/* LOADING, known, is seen again: is there room for its group by now? */
static void ask_again(struct groups *groups, struct group_loading *loading,
		      const struct symtab_entry *entry)
{
	if (!loading->is_crowded)
		return;
	loading->seen += loading->seen < UINT32_MAX;
	if (loading->is_waiting ? loading->seen >= groups->admission : groups->free_count > 0)
		*loading = describe(groups, entry, loading->seen);
}

const struct group_loading *groups_loading(struct groups *groups, const struct symtab_entry *entry)
{
	uint32_t known = find_loading(groups, entry->id);
	struct group_loading *loadings;

	if (known != LOOKUP_NONE) {
		ask_again(groups, &groups->loadings[known], entry);
		return &groups->loadings[known];
	}
	if (groups->loading_count >= GROUP_LOADINGS_MAX)
		forget_oldest(groups);
	loadings = array_room(groups->loadings, &groups->loading_capacity, groups->loading_count,
			      sizeof(*loadings));
	if (loadings == NULL)
		return NULL;
	groups->loadings = loadings;
	if (lookup_add(&groups->loading_lookup, lookup_hash(&entry->id, sizeof(entry->id)),
		       (uint32_t)groups->loading_count) != 0)
		return NULL;
	loadings[groups->loading_count] = describe(groups, entry, 0);
	return &loadings[groups->loading_count++];
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
