/* SPDX-License-Identifier: MIT */
/*
 * reader_merged.c - groups that became part of others while the recording was written: their
 * samples follow. Threads: any.
 */
#include "preload/read/reading.h"

#include <errno.h>
#include <stdlib.h>

enum { CHAIN_MAX = 8 };

/* By address: the same string of the table has one. */
static int by_module(const void *one, const void *other)
{
	uintptr_t a = (uintptr_t)((const struct recording_group *)one)->module;
	uintptr_t b = (uintptr_t)((const struct recording_group *)other)->module;

	return a < b ? -1 : a > b;
}

/* The module that samples of MODULE belong to. */
static const char *follow(const struct recording_group *gone, size_t count, const char *module)
{
	for (int i = 0; i < CHAIN_MAX; i++) {
		const struct recording_group key = { .module = module };
		const struct recording_group *found =
			bsearch(&key, gone, count, sizeof(*gone), by_module);

		if (found == NULL)
			break;
		module = found->into;
	}
	return module;
}

/* Moves the groups that are part of others to GONE. Returns their number. */
static size_t take_out(struct recording *out, struct recording_group *gone)
{
	size_t kept = 0, count = 0;

	for (size_t i = 0; i < out->group_count; i++) {
		if (out->groups[i].into != NULL)
			gone[count++] = out->groups[i];
		else
			out->groups[kept++] = out->groups[i];
	}
	out->group_count = kept;
	return count;
}

int reading_settle_merged(struct reading *reading)
{
	struct recording *out = reading->out;
	struct recording_group *gone;
	size_t count = 0;

	for (size_t i = 0; i < out->group_count; i++)
		count += out->groups[i].into != NULL;
	if (count == 0)
		return 0;
	gone = calloc(count, sizeof(*gone));
	if (gone == NULL)
		return -ENOMEM;
	take_out(out, gone);
	qsort(gone, count, sizeof(*gone), by_module);
	for (size_t i = 0; i < out->sample_count; i++) {
		struct recording_sample *sample = &out->samples[i];
		const char *module = follow(gone, count, sample->module);

		if (module == sample->module)
			continue;
		sample->module = module;
		sample->instance = "";
	}
	free(gone);
	return 0;
}
