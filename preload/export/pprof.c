/* SPDX-License-Identifier: MIT */
/* pprof.c - a profile for other tools: equal stacks are one sample, and labels are few. Threads:
 * one at a time. */
#include "preload/export/pprof.h"

#include "preload/encode/profile_fields.h"
#include "preload/export/pprof_tables.h"
#include "preload/read/rows.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_DEFAULT = 50, INSTANCES_MAX = 4000, INSTANCE_SIZE = 640 };

/* What becomes one series: samples with the same labels. */
struct series {
	const char *module;
	const char *instance; /* of names; "" none */
	const struct recording_label *labels;
	size_t label_count;
	uint64_t weight;
	uint32_t written; /* as which series: OTHER, or itself */
};

struct merged_sample {
	uint32_t series, stack;
	uint64_t values[3];
};

struct pprof {
	struct pprof_tables tables;
	const struct pprof_options *options;
	struct pb_writer head, body;
	struct names names;
	struct pairs series_ids, stacks, sample_ids;
	struct series *series;
	struct merged_sample *samples;
	size_t series_room, sample_room, path_room;
	uint32_t *series_of; /* by index of sample; owned */
	uint64_t *path;	     /* scratch: ids of a stack's locations */
	bool has_wall;
};

#define OTHER UINT32_MAX

/* ---- series ---------------------------------------------------------------------------------- */

/* The text of SAMPLE's instance in the result, in SCRATCH. */
static const char *instance_of(const struct pprof *pprof, const struct recording_sample *sample,
			       char scratch[INSTANCE_SIZE])
{
	const struct recording *recording = pprof->tables.recording;

	if (!pprof->options->by_instance || sample->instance[0] == '\0')
		return "";
	if (recording->process_count < 2)
		return sample->instance;
	/* Two processes may have instances of one name. */
	snprintf(scratch, INSTANCE_SIZE, "%.600s (%" PRIu64 ")", sample->instance,
		 recording_process(recording, sample)->pid);
	return scratch;
}

/* The number of TEXT after CHAIN in a chain of texts; PAIRS_NONE without memory. */
static uint32_t chain_text(struct pprof *pprof, uint32_t chain, const char *text)
{
	uint32_t name = chain == PAIRS_NONE ? NAMES_NONE : names_id(&pprof->names, text);
	uint32_t id = name == NAMES_NONE ? PAIRS_NONE : pairs_id(&pprof->series_ids, chain, name);

	return id == PAIRS_NONE ? PAIRS_NONE : id + 1;
}

/* Index of SAMPLE's series, made if need be; PAIRS_NONE without memory. */
static uint32_t find_series(struct pprof *pprof, const struct recording_sample *sample)
{
	const char *module = sample->module;
	char scratch[INSTANCE_SIZE];
	const char *instance = instance_of(pprof, sample, scratch);
	uint32_t id = chain_text(pprof, chain_text(pprof, 0, module), instance);

	for (size_t i = 0; i < sample->label_count; i++)
		id = chain_text(pprof, chain_text(pprof, id, sample->labels[i].key),
				sample->labels[i].value);
	if (id == PAIRS_NONE ||
	    rows_reserve(&pprof->series, &pprof->series_room, id, sizeof(*pprof->series)) != 0)
		return PAIRS_NONE;
	/* Rows of chains that are the beginning of longer ones only have no module. */
	if (pprof->series[id].module == NULL)
		pprof->series[id] = (struct series){
			.module = module,
			.instance = pprof->names.texts[names_find(&pprof->names, instance)],
			.labels = sample->labels,
			.label_count = sample->label_count,
			.written = id,
		};
	return id;
}

static int compare_weights(const void *a, const void *b)
{
	const struct series *left = *(struct series *const *)a, *right = *(struct series *const *)b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* The lightest beyond MAX become `(other)`. */
static int choose_series(struct pprof *pprof, size_t max)
{
	struct series **order = calloc(pprof->series_room + 1, sizeof(struct series *));
	size_t count = 0;

	if (order == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < pprof->series_room; i++) {
		if (pprof->series[i].module != NULL)
			order[count++] = &pprof->series[i];
	}
	qsort(order, count, sizeof(struct series *), compare_weights);
	for (size_t i = max; i < count; i++)
		order[i]->written = OTHER;
	free(order);
	return 0;
}

static int find_all_series(struct pprof *pprof)
{
	const struct recording *recording = pprof->tables.recording;
	size_t max = pprof->options->group_max != 0 ? pprof->options->group_max : GROUPS_DEFAULT;

	pprof->series_of = calloc(recording->sample_count + 1, sizeof(*pprof->series_of));
	if (pprof->series_of == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		uint32_t id = find_series(pprof, sample);

		if (id == PAIRS_NONE)
			return -ENOMEM;
		pprof->series_of[i] = id;
		pprof->series[id].weight += sample->cpu_ns + sample->wall_ns;
		pprof->series[id].weight += sample->cpu_ns == 0 ? sample->count : 0;
		pprof->has_wall |= sample->wall_ns != 0;
	}
	if (pprof->options->by_instance && max < INSTANCES_MAX)
		max = INSTANCES_MAX;
	return choose_series(pprof, max);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The number of SAMPLE's stack, as a path from its root. PAIRS_NONE without memory. */
static uint32_t find_stack(struct pprof *pprof, const struct recording_sample *sample)
{
	uint32_t stack = 0;

	for (size_t i = sample->location_count; i-- > 0;) {
		uint64_t location = pprof_location(&pprof->tables, sample->locations[i]);

		stack = pairs_id(&pprof->stacks, stack, location);
		if (stack == PAIRS_NONE)
			return PAIRS_NONE;
		stack++; /* 0: the root */
	}
	return stack;
}

static int add_sample(struct pprof *pprof, const struct recording_sample *sample, uint32_t series)
{
	uint32_t stack = find_stack(pprof, sample), id;

	if (stack == PAIRS_NONE)
		return -ENOMEM;
	series = pprof->series[series].written;
	id = pairs_id(&pprof->sample_ids, series, stack);
	if (id == PAIRS_NONE ||
	    rows_reserve(&pprof->samples, &pprof->sample_room, id, sizeof(*pprof->samples)) != 0)
		return -ENOMEM;
	pprof->samples[id].series = series;
	pprof->samples[id].stack = stack;
	pprof->samples[id].values[0] += sample->count;
	pprof->samples[id].values[1] += sample->cpu_ns;
	pprof->samples[id].values[2] += sample->wall_ns;
	return 0;
}

/* The ids of STACK's locations, leaf first, in pprof->path. 0 or -ENOMEM. */
static int find_path(struct pprof *pprof, uint32_t stack, size_t *count)
{
	*count = 0;
	while (stack != 0) {
		const struct pair *node = &pprof->stacks.list[stack - 1];

		if (rows_reserve(&pprof->path, &pprof->path_room, *count, sizeof(*pprof->path)) !=
		    0)
			return -ENOMEM;
		pprof->path[(*count)++] = node->second;
		stack = (uint32_t)node->first;
	}
	return 0;
}

static void put_labels(struct pprof *pprof, uint32_t series)
{
	struct pprof_tables *tables = &pprof->tables;
	const struct series *row;

	if (series == OTHER) {
		pprof_put_label(tables, &pprof->body, "wasm_module", "(other)");
		return;
	}
	row = &pprof->series[series];
	pprof_put_label(tables, &pprof->body, "wasm_module", row->module);
	pprof_put_label(tables, &pprof->body, "wasm_instance", row->instance);
	for (size_t i = 0; i < row->label_count; i++)
		pprof_put_label(tables, &pprof->body, row->labels[i].key, row->labels[i].value);
}

static int put_samples(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->sample_ids.count; i++) {
		const struct merged_sample *sample = &pprof->samples[i];
		size_t count, mark;

		if (find_path(pprof, sample->stack, &count) != 0)
			return -ENOMEM;
		mark = pb_begin(&pprof->body, PROFILE_SAMPLE);
		pb_packed(&pprof->body, SAMPLE_LOCATION_ID, pprof->path, count);
		pb_packed(&pprof->body, SAMPLE_VALUE, sample->values,
			  ARRAY_SIZE(sample->values) - !pprof->has_wall);
		put_labels(pprof, sample->series);
		pb_end(&pprof->body, mark);
	}
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int put_all(struct pprof *pprof)
{
	const struct recording *recording = pprof->tables.recording;
	int error = find_all_series(pprof);

	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = add_sample(pprof, &recording->samples[i], pprof->series_of[i]);
	if (error == 0)
		error = put_samples(pprof);
	pprof_put_head(&pprof->tables, &pprof->head, pprof->has_wall);
	return error;
}

int pprof_write(const struct recording *recording, const struct pprof_options *options,
		struct output *output)
{
	struct pprof pprof = { .options = options };
	int error = pprof_tables_begin(&pprof.tables, recording, false);

	if (error == 0)
		error = put_all(&pprof);
	if (error == 0)
		error = pprof_tables_write(&pprof.tables, &pprof.head, &pprof.body, output);
	pprof_tables_free(&pprof.tables);
	names_free(&pprof.names);
	pairs_free(&pprof.series_ids);
	pairs_free(&pprof.stacks);
	pairs_free(&pprof.sample_ids);
	pb_free(&pprof.head);
	pb_free(&pprof.body);
	free(pprof.series);
	free(pprof.samples);
	free(pprof.series_of);
	free(pprof.path);
	return error;
}
