/* SPDX-License-Identifier: MIT */
/*
 * set.c - a prepared selection of loadings.
 *
 * What preparing costs was paid when the modules were built; a set only holds references, so any
 * number of profiles share tables and demangled names. Immutable but for its counter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/symtab.h"

struct member {
	uint32_t loading;
	struct module *module;
	char *name; /* NULL: the module's own */
};

struct module_set {
	atomic_uint refs;
	size_t count;
	struct member members[]; /* ascending by loading, each once */
};

static int by_loading(const void *a, const void *b)
{
	const struct member *first = a, *second = b;

	return (first->loading > second->loading) - (first->loading < second->loading);
}

/* The same module listed twice is one member, by its first name. */
static void drop_repeated(struct module_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (kept > 0 && set->members[kept - 1].loading == set->members[i].loading) {
			module_unref(set->members[i].module);
			free(set->members[i].name);
			continue;
		}
		set->members[kept++] = set->members[i];
	}
	set->count = kept;
}

struct module_set *set_new(const struct symtab *symtab, const uint32_t *loadings,
			   const char *const *names, size_t count)
{
	struct module_set *set;

	if (count > (SIZE_MAX - sizeof(*set)) / sizeof(set->members[0])) {
		errno = ENOMEM;
		return NULL;
	}
	set = calloc(1, sizeof(*set) + count * sizeof(set->members[0]));
	if (set == NULL)
		return NULL;
	atomic_init(&set->refs, 1);
	for (size_t i = 0; i < count; i++) {
		const struct symtab_entry *entry = symtab_by_id(symtab, loadings[i]);
		struct member *member = &set->members[set->count];

		if (entry == NULL) /* it defines no function */
			continue;
		member->loading = loadings[i];
		member->module = module_ref(entry->module);
		set->count++;
		if (names == NULL || names[i] == NULL)
			continue;
		member->name = strdup(names[i]);
		if (member->name == NULL) {
			set_unref(set);
			errno = ENOMEM;
			return NULL;
		}
	}
	qsort(set->members, set->count, sizeof(set->members[0]), by_loading);
	drop_repeated(set);
	return set;
}

struct module_set *set_ref(struct module_set *set)
{
	atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
	return set;
}

void set_unref(struct module_set *set)
{
	/* Release our uses; the last owner acquires everyone else's before freeing. */
	if (set == NULL || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < set->count; i++) {
		module_unref(set->members[i].module);
		free(set->members[i].name);
	}
	free(set);
}

size_t set_count(const struct module_set *set)
{
	return set->count;
}

bool set_has(const struct module_set *set, uint32_t loading, const char **name)
{
	const struct member key = { .loading = loading };
	const struct member *found =
		bsearch(&key, set->members, set->count, sizeof(set->members[0]), by_loading);

	if (found == NULL)
		return false;
	if (name != NULL)
		*name = found->name != NULL ? found->name : module_name(found->module);
	return true;
}
