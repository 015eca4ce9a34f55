/* SPDX-License-Identifier: MIT */
/* subset.c - compares names. Threads: any. */
#include "preload/read/subset.h"

#include "preload/read/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Is WISH the NAME, or what is shown for it? */
static bool is_name(const char *name, const char *wish)
{
	char *shown;
	bool is_same = strcmp(name, wish) == 0;

	if (is_same || strchr(wish, '\\') == NULL)
		return is_same;
	shown = escape_new(name, ESCAPE_VISIBLE);
	is_same = shown != NULL && strcmp(shown, wish) == 0;
	free(shown);
	return is_same;
}

static bool is_module(const char *name, const char *wish)
{
	const char *at = strrchr(name, '@');
	size_t length = strlen(wish);

	return is_name(name, wish) ||
	       (at != NULL && (size_t)(at - name) == length && strncmp(name, wish, length) == 0);
}

static bool has_label(const struct recording_sample *sample, const char *wish)
{
	const char *equals = strchr(wish, '=');
	size_t length = equals != NULL ? (size_t)(equals - wish) : strlen(wish);

	for (size_t i = 0; i < sample->label_count; i++) {
		const struct recording_label *label = &sample->labels[i];

		if (strlen(label->key) == length && strncmp(label->key, wish, length) == 0 &&
		    (equals == NULL || is_name(label->value, equals + 1)))
			return true;
	}
	return false;
}

static bool is_wished(const struct recording *recording, const struct recording_sample *sample,
		      const struct subset_wish *wish)
{
	const struct recording_process *process = recording_process(recording, sample);

	if ((wish->process != NULL && !is_name(process->path, wish->process)) ||
	    (wish->group != NULL && !is_name(sample->module, wish->group)) ||
	    (wish->module != NULL && !is_module(sample->module, wish->module)) ||
	    (wish->instance != NULL && !is_name(sample->instance, wish->instance)))
		return false;
	for (size_t i = 0; i < SUBSET_LABELS_MAX && wish->labels[i] != NULL; i++) {
		if (!has_label(sample, wish->labels[i]))
			return false;
	}
	return true;
}

int subset_take(const struct recording *recording, const struct subset_wish *wish,
		struct recording *out, struct recording_sample **samples)
{
	*samples = malloc((recording->sample_count + 1) * sizeof(**samples));
	if (*samples == NULL)
		return -ENOMEM;
	*out = *recording;
	out->memory = NULL;
	out->samples = *samples;
	out->sample_count = 0;
	for (size_t i = 0; i < recording->sample_count; i++) {
		if (is_wished(recording, &recording->samples[i], wish))
			out->samples[out->sample_count++] = recording->samples[i];
	}
	return 0;
}
