/* SPDX-License-Identifier: MIT */
/* naming.c - finds modules in a names file. Threads: one at a time. */
#include "preload/cmd/symbolize/naming.h"

#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/regroup.h"
#include "preload/cmd/symbolize/subjects.h"
#include "preload/read/arena.h"
#include "preload/read/names.h"
#include "symtab/namelist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_HASH = 6, NAME_SIZE = 1024 };

struct naming {
	struct recording *recording;
	struct namelist list;
	struct names taken;	 /* names of groups */
	struct regroup *changes; /* by index of the group */
	size_t found;		 /* modules that are in the list */
};

static const char *keep(struct naming *naming, const char *text)
{
	return regroup_keep(naming->recording, text);
}

/* The row for the module with IDENTITY, which a mapping tells all of; NULL. */
static const struct namelist_row *row_of(const struct naming *naming, const char *identity)
{
	const struct recording *recording = naming->recording;
	struct identity whole;

	for (size_t i = 0; identity[0] != '\0' && i < recording->mapping_count; i++) {
		if (strcmp(recording->mappings[i].identity, identity) != 0)
			continue;
		subjects_identity(&recording->mappings[i], &whole);
		return namelist_find(&naming->list, &whole);
	}
	return NULL;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_free(const struct naming *naming, const char *name)
{
	for (uint32_t i = 0; i < naming->taken.count; i++) {
		if (strcmp(naming->taken.texts[i], name) == 0)
			return false;
	}
	return true;
}

/* As a host would name it: with a hash where the name alone is taken, then with what it was. */
static const char *free_name(struct naming *naming, const struct recording_group *group,
			     const char *given)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%.500s", given);
	if (!is_free(naming, name))
		snprintf(name, sizeof(name), "%.400s@%.*s", given, SHORT_HASH, group->identity);
	if (!is_free(naming, name))
		snprintf(name, sizeof(name), "%.400s{%.500s}", given, group->module);
	return names_id(&naming->taken, name) == NAMES_NONE ? NULL : keep(naming, name);
}

static bool has_key(const struct namelist_row *row, const char *key)
{
	for (size_t i = 0; i < row->label_count; i++) {
		if (strcmp(row->labels[i].key, key) == 0)
			return true;
	}
	return false;
}

static int set_labels(struct naming *naming, const struct recording_group *group,
		      const struct namelist_row *row, struct regroup *change)
{
	struct recording_label *labels = arena_alloc(
		naming->recording->memory, row->label_count + group->label_count, sizeof(*labels));
	size_t count = 0;

	if (labels == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < row->label_count; i++) {
		labels[count].key = keep(naming, row->labels[i].key);
		labels[count].value = keep(naming, row->labels[i].value);
		if (labels[count].key == NULL || labels[count++].value == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; i < group->label_count; i++) {
		if (!has_key(row, group->labels[i].key))
			labels[count++] = group->labels[i];
	}
	change->has_labels = true;
	change->labels = labels;
	change->label_count = count < RECORDING_LABELS_MAX ? count : RECORDING_LABELS_MAX;
	return 0;
}

static int name_group(struct naming *naming, size_t index)
{
	const struct recording_group *group = &naming->recording->groups[index];
	const struct namelist_row *row = row_of(naming, group->identity);
	struct regroup *change = &naming->changes[index];
	int error = 0;

	if (row == NULL)
		return 0;
	naming->found++;
	if (row->label_count != 0)
		error = set_labels(naming, group, row, change);
	if (row->name != NULL && error == 0) {
		change->name = free_name(naming, group, row->name);
		error = change->name == NULL ? -ENOMEM : 0;
	}
	return error;
}

/* Names that stay are taken before others are given. */
static int name_groups(struct naming *naming)
{
	struct recording *recording = naming->recording;
	int error = 0;

	for (size_t i = 0; i < recording->group_count; i++) {
		const struct namelist_row *row = row_of(naming, recording->groups[i].identity);

		if ((row == NULL || row->name == NULL) &&
		    names_id(&naming->taken, recording->groups[i].module) == NAMES_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; error == 0 && i < recording->group_count; i++)
		error = name_group(naming, i);
	return error;
}

static int name_mapping(struct naming *naming, struct recording_mapping *mapping)
{
	const struct namelist_row *row = row_of(naming, mapping->identity);

	if (row == NULL)
		return 0;
	naming->found++;
	if (row->name != NULL)
		mapping->name = keep(naming, row->name);
	return mapping->name != NULL ? 0 : -ENOMEM;
}

static int name_all(struct naming *naming)
{
	struct recording *recording = naming->recording;
	int error = name_groups(naming);

	if (error == 0)
		error = regroup(recording, naming->changes);
	for (size_t i = 0; error == 0 && i < recording->mapping_count; i++)
		error = name_mapping(naming, &recording->mappings[i]);
	return error;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_list(struct namelist *list, const char *path)
{
	int error = namelist_read(list, path);

	if (error != 0)
		say_line("%s: %s", path, strerror(-error));
	else if (list->bad != 0)
		say_line("%s:%u: not understood; left out%s", path, list->first_bad,
			 list->bad > 1 ? ", as are more" : "");
	return error;
}

int naming_apply(const char *path, struct recording *recording)
{
	struct naming naming = {
		.recording = recording,
		.changes = calloc(recording->group_count + 1, sizeof(*naming.changes)),
	};
	int error = read_list(&naming.list, path);

	if (error == 0) {
		error = naming.changes != NULL ? name_all(&naming) : -ENOMEM;
		if (error != 0)
			say_line("%s: %s", path, strerror(-error));
		else if (naming.found == 0)
			say_line("%s: names no module that ran", path);
	}
	namelist_free(&naming.list);
	names_free(&naming.taken);
	free(naming.changes);
	return error;
}
