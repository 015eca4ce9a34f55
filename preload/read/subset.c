/* SPDX-License-Identifier: MIT */
/* subset.c - chooses samples by names. Threads: any. */
#include "preload/read/subset.h"

#include "preload/read/called.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* WISH is KEY or KEY=VALUE. */
static bool has_label(const struct recording_sample *sample, const char *wish)
{
	const char *equals = strchrnul(wish, '=');

	for (size_t i = 0; i < sample->label_count; i++) {
		const struct recording_label *label = &sample->labels[i];

		if (strlen(label->key) == (size_t)(equals - wish) &&
		    memcmp(label->key, wish, (size_t)(equals - wish)) == 0 &&
		    (*equals == '\0' || called_name(label->value, equals + 1)))
			return true;
	}
	return false;
}

static bool is_wished(const struct recording *recording, const struct recording_sample *sample,
		      const struct subset_wish *wish)
{
	const struct recording_process *process = recording_process(recording, sample);

	if ((wish->process != NULL && !called_name(process->path, wish->process)) ||
	    (wish->group != NULL && !called_name(sample->module, wish->group)) ||
	    (wish->module != NULL && !called_module(sample->module, wish->module)) ||
	    (wish->instance != NULL &&
	     !called_instance(sample->instance, process->pid, wish->instance)))
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
