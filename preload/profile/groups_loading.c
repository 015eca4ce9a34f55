/* SPDX-License-Identifier: MIT */
/* groups_loading.c - which group a loading of a module is of, and whether it is listed. Threads:
 * ours. */
#include "preload/profile/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/load/instance.h"
#include "preload/profile/allow.h"
#include "preload/profile/array.h"

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
	if (size < GROUP_HASH_DIGITS + 1 || (size_t)size >= sizeof(name))
		return false;
	name[size - GROUP_HASH_DIGITS - 1] = '\0';
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
		loading.group = groups_of(groups, entry->module, name, &labels);
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
	uint32_t known = groups->recent;
	struct group_loading *loadings;

	if (known >= groups->loading_count || groups->loadings[known].id != entry->id)
		known = find_loading(groups, entry->id);
	if (known != LOOKUP_NONE) {
		groups->recent = known;
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
