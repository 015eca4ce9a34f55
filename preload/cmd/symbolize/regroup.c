/* SPDX-License-Identifier: MIT */
/* regroup.c - renames and labels in place, group by group. Threads: one at a time. */
#include "preload/cmd/symbolize/regroup.h"

#include "preload/read/arena.h"
#include "preload/read/names.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 1024 };

struct regrouping {
	struct recording *recording;
	const struct regroup *list;
	struct names names; /* of groups as they were */
	uint32_t *group_of; /* number in names -> index of the group */
	size_t room;
};

const char *regroup_keep(struct recording *recording, const char *text)
{
	return arena_text(recording->memory, (const uint8_t *)text, strlen(text));
}

static int learn_names(struct regrouping *regrouping)
{
	const struct recording *recording = regrouping->recording;

	for (size_t i = 0; i < recording->group_count; i++) {
		uint32_t number = names_id(&regrouping->names, recording->groups[i].module);

		if (number == NAMES_NONE || rows_reserve(&regrouping->group_of, &regrouping->room,
							 number, sizeof(uint32_t)) != 0)
			return -ENOMEM;
		regrouping->group_of[number] = (uint32_t)i;
	}
	return 0;
}

/* What changes of the group that was called MODULE; NULL. */
static const struct regroup *change_of(const struct regrouping *regrouping, const char *module)
{
	uint32_t number = names_find(&regrouping->names, module);

	if (number == NAMES_NONE)
		return NULL;
	return &regrouping->list[regrouping->group_of[number]];
}

/* `resize.wasm#3` of MODULE resize.wasm, whose name is NEW_NAME now. */
static const char *instance_name(struct regrouping *regrouping, const char *instance,
				 const char *module, const char *new_name)
{
	size_t length = strlen(module);
	char name[NAME_SIZE];

	if (strncmp(instance, module, length) != 0 || instance[length] != '#')
		return instance;
	snprintf(name, sizeof(name), "%.900s%.60s", new_name, instance + length);
	return regroup_keep(regrouping->recording, name);
}

static void rename_instance(struct regrouping *regrouping, const struct regroup *change,
			    const char **module, const char **instance)
{
	if (change->name == NULL)
		return;
	*instance = instance_name(regrouping, *instance, *module, change->name);
	*module = change->name;
}

static void change_all(struct regrouping *regrouping)
{
	struct recording *recording = regrouping->recording;

	for (size_t i = 0; i < recording->sample_count; i++) {
		struct recording_sample *sample = &recording->samples[i];
		const struct regroup *change = change_of(regrouping, sample->module);

		if (change != NULL && change->has_labels) {
			sample->labels = change->labels;
			sample->label_count = change->label_count;
		}
		if (change != NULL)
			rename_instance(regrouping, change, &sample->module, &sample->instance);
	}
	for (size_t i = 0; i < recording->life_count; i++) {
		struct recording_life *life = &recording->lives[i];
		const struct regroup *change = change_of(regrouping, life->module);

		if (change != NULL)
			rename_instance(regrouping, change, &life->module, &life->instance);
	}
	for (size_t i = 0; i < recording->hostcall_count; i++) {
		const struct regroup *change =
			change_of(regrouping, recording->hostcalls[i].module);

		if (change != NULL && change->name != NULL)
			recording->hostcalls[i].module = change->name;
	}
}

static void change_groups(struct recording *recording, const struct regroup *list)
{
	for (size_t i = 0; i < recording->group_count; i++) {
		if (list[i].name != NULL)
			recording->groups[i].module = list[i].name;
		if (list[i].has_labels) {
			recording->groups[i].labels = list[i].labels;
			recording->groups[i].label_count = list[i].label_count;
		}
	}
}

int regroup(struct recording *recording, const struct regroup *list)
{
	struct regrouping regrouping = { .recording = recording, .list = list };
	const struct arena *arena = recording->memory;
	int error = learn_names(&regrouping);

	if (error == 0) {
		change_all(&regrouping);
		/* last: until here they are found by their old names */
		change_groups(recording, list);
		error = arena->failed ? -ENOMEM : 0;
	}
	names_free(&regrouping.names);
	free(regrouping.group_of);
	return error;
}
