/* SPDX-License-Identifier: MIT */
/* selection.c - matches samples by label, module or instance. Threads: any. */
#include "preload/read/selection.h"

#include "preload/read/called.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int selection_set_label(struct selection *selection, const char *text)
{
	const char *equals = strchr(text, '=');
	char *key;

	if (equals == NULL || equals == text || equals[1] == '\0')
		return -EINVAL;
	key = strndup(text, (size_t)(equals - text));
	if (key == NULL)
		return -ENOMEM;
	selection_free(selection);
	selection->by = SELECTION_LABEL;
	selection->key = key;
	selection->value = equals + 1;
	return 0;
}

void selection_free(struct selection *selection)
{
	free((char *)selection->key);
	selection->key = NULL;
}

bool selection_takes(const struct selection *selection, const struct recording_sample *sample)
{
	const char *value;

	switch (selection->by) {
	case SELECTION_ALL:
		return true;
	case SELECTION_LABEL:
		value = called_label(sample->labels, sample->label_count, selection->key);
		return value != NULL && called_name(value, selection->value);
	case SELECTION_MODULE:
		return called_name(sample->module, selection->value);
	case SELECTION_INSTANCE:
		return called_name(sample->instance, selection->value);
	default:
		return false;
	}
}

bool selection_keeps(const struct selection *selection, const char *key)
{
	if (selection->by == SELECTION_LABEL && strcmp(selection->key, key) == 0)
		return true;
	for (size_t i = 0; i < selection->kept_count; i++) {
		if (strcmp(selection->kept[i], key) == 0)
			return true;
	}
	return false;
}
