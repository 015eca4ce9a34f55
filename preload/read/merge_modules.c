/* SPDX-License-Identifier: MIT */
/* merge_modules.c - which modules and groups of several recordings are one. Threads: one at a time.
 */
#include "preload/read/merge_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what identifies a module ---------------------------------------------------------------- */

/* FNV-1a, of a layout: equal layouts are those of one wasm binary. */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/* One loading of MAPPING's module has its layout. */
static const struct recording_mapping *with_layout(const struct recording *in,
						   const struct recording_mapping *mapping)
{
	for (size_t i = 0; mapping->layout == NULL && i < in->mapping_count; i++) {
		const struct recording_mapping *other = &in->mappings[i];

		if (other->layout != NULL && strcmp(other->identity, mapping->identity) == 0)
			return other;
	}
	return mapping;
}

/* Text that is equal for mappings of one module, beside the name. Caller frees. */
static char *identify(const struct recording *in, const struct recording_mapping *mapping)
{
	char *text;
	int length;

	if (mapping->identity_is_wasm) {
		length = asprintf(&text, "w%s", mapping->identity);
	} else if (mapping->function_count != 0) {
		const struct recording_mapping *with = with_layout(in, mapping);

		length = asprintf(&text, "f%u %llx", mapping->function_count,
				  (unsigned long long)hash_of(with->layout, with->layout_size));
	} else {
		/* Not a guest's: its functions may have no other names than addresses. */
		length = asprintf(&text, "o%s %llx %llx", mapping->identity,
				  (unsigned long long)mapping->start,
				  (unsigned long long)mapping->limit);
	}
	return length < 0 ? NULL : text;
}

/* The first IDENTITY that was seen of the same module; FIRST: what it is, if it is new. */
static const char *canonical_identity(struct merge *merge, const char *identity, const char *first)
{
	uint32_t text = names_id(&merge->texts, identity), known = merge->identities.count, id;

	if (text == NAMES_NONE)
		return NULL;
	id = pairs_id(&merge->identities, text, 0);
	if (id == PAIRS_NONE || rows_reserve(&merge->canonical, &merge->canonical_room, id,
					     sizeof(*merge->canonical)) != 0)
		return NULL;
	if (id == known)
		merge->canonical[id] = merge_text(merge, *identity != '\0' ? first : "");
	return merge->canonical[id];
}

/* ---- mappings -------------------------------------------------------------------------------- */

static const uint8_t *copy_bytes(struct merge *merge, const uint8_t *bytes, size_t size)
{
	uint8_t *copy = arena_alloc(&merge->arena, size, 1);

	return copy != NULL ? memcpy(copy, bytes, size) : NULL;
}

/* What one loading lacks, another may have. */
static int fill_mapping(struct merge *merge, struct recording_mapping *to,
			const struct recording_mapping *from)
{
	if (to->layout == NULL && from->layout != NULL) {
		to->layout = copy_bytes(merge, from->layout, from->layout_size);
		to->layout_size = from->layout_size;
	}
	if (to->debug == NULL && from->debug != NULL) {
		to->debug = copy_bytes(merge, from->debug, from->debug_size);
		to->debug_size = from->debug_size;
		to->debug_inflated_size = from->debug_inflated_size;
	}
	if (to->path[0] == '\0')
		to->path = merge_text(merge, from->path);
	return merge->arena.failed || to->path == NULL ? -ENOMEM : 0;
}

static struct recording_mapping *new_mapping(struct merge *merge, const struct merge_named *module,
					     const struct recording_mapping *from)
{
	struct recording *out = merge->out;
	struct recording_mapping *to = &out->mappings[out->mapping_count++];

	*to = *from;
	to->layout = to->debug = NULL;
	to->layout_size = to->debug_size = 0;
	to->debug_inflated_size = 0;
	to->id = out->mapping_count;
	to->name = module->shown;
	to->identity = module->identity;
	to->engine = merge_text(merge, from->engine);
	to->code = merge_text(merge, from->code);
	to->image = merge_text(merge, from->image);
	to->build_id_section = merge_text(merge, from->build_id_section);
	to->path = "";
	if (to->engine == NULL || to->code == NULL || to->image == NULL ||
	    to->build_id_section == NULL)
		return NULL;
	return to;
}

static int add_mapping(struct merge *merge, size_t index)
{
	const struct recording_mapping *from = &merge->in->mappings[index];
	char *key = identify(merge->in, from);
	struct merge_named *module;
	uint32_t id;

	if (key == NULL)
		return -ENOMEM;
	id = merge_naming_find(merge, &merge->modules, from->name, from->identity, "", key);
	free(key);
	if (id == MERGE_NONE)
		return -ENOMEM;
	module = &merge->modules.list[id];
	if (canonical_identity(merge, from->identity, module->identity) == NULL)
		return -ENOMEM;
	if (module->mapping == NULL)
		module->mapping = new_mapping(merge, module, from);
	merge->mapping_of[index] = module->mapping;
	return module->mapping != NULL ? fill_mapping(merge, module->mapping, from) : -ENOMEM;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* `tenant=acme,tier=free`, as in a recording's names. Caller frees. */
static char *text_of_labels(const struct recording_label *labels, size_t count)
{
	size_t size = 1, used = 0;
	char *text;

	for (size_t i = 0; i < count; i++)
		size += strlen(labels[i].key) + strlen(labels[i].value) + 2;
	text = malloc(size);
	if (text == NULL)
		return NULL;
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i > 0 ? "," : "",
					 labels[i].key, labels[i].value);
	return text;
}

/* Number of the group, with NAME leading to it from here on. */
static uint32_t learn_group(struct merge *merge, const char *name, const char *identity,
			    const struct recording_label *labels, size_t label_count)
{
	const char *canonical = canonical_identity(merge, identity, identity);
	char *text = text_of_labels(labels, label_count), *key = NULL;
	uint32_t name_id = names_id(&merge->texts, name), id = MERGE_NONE, at = PAIRS_NONE;

	if (canonical != NULL && text != NULL && asprintf(&key, "%s %s", canonical, text) < 0)
		key = NULL;
	if (key != NULL)
		id = merge_naming_find(merge, &merge->groups, name, canonical, text, key);
	if (id != MERGE_NONE && name_id != NAMES_NONE)
		at = pairs_id(&merge->names, name_id, 0);
	if (at == PAIRS_NONE || rows_reserve(&merge->group_of, &merge->group_of_room, at,
					     sizeof(*merge->group_of)) != 0)
		id = MERGE_NONE;
	else
		merge->group_of[at] = id;
	free(text);
	free(key);
	return id;
}

int merge_modules(struct merge *merge)
{
	const struct recording *in = merge->in;
	int error = 0;

	pairs_free(&merge->names);
	for (size_t i = 0; error == 0 && i < in->mapping_count; i++)
		error = add_mapping(merge, i);
	for (size_t i = 0; error == 0 && i < in->group_count; i++) {
		const struct recording_group *group = &in->groups[i];

		if (learn_group(merge, group->module, group->identity, group->labels,
				group->label_count) == MERGE_NONE)
			error = -ENOMEM;
	}
	return error;
}

/* A profile of another origin has no rows of groups: the mapping of the name tells the identity. */
static const char *identity_of(const struct recording *in, const char *name)
{
	for (size_t i = 0; i < in->mapping_count; i++) {
		if (strcmp(in->mappings[i].name, name) == 0)
			return in->mappings[i].identity;
	}
	return "";
}

const struct merge_named *merge_group(struct merge *merge, const char *name)
{
	uint32_t name_id = names_id(&merge->texts, name);
	uint32_t at = name_id == NAMES_NONE ? PAIRS_NONE : pairs_find(&merge->names, name_id, 0);
	uint32_t id = at != PAIRS_NONE
			      ? merge->group_of[at]
			      : learn_group(merge, name, identity_of(merge->in, name), NULL, 0);

	return id == MERGE_NONE ? NULL : &merge->groups.list[id];
}

const char *merge_instance(struct merge *merge, const char *name, const char *instance)
{
	const struct merge_named *group = merge_group(merge, name);
	size_t length = strlen(name);
	const char *kept;
	char *shown;

	if (group == NULL)
		return NULL;
	if (strcmp(group->shown, name) == 0 || strncmp(instance, name, length) != 0 ||
	    instance[length] != '#')
		return merge_text(merge, instance);
	if (asprintf(&shown, "%s%s", group->shown, instance + length) < 0)
		return NULL;
	kept = merge_text(merge, shown);
	free(shown);
	return kept;
}
