/* SPDX-License-Identifier: MIT */
/* audit_profile_samples.c - whose samples they are, and what labels tell. Threads: one at a time.
 */
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/names.h"
#include "preload/share/audit_profile.h"
#include "preload/share/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_SIZE = 64 };

struct samples {
	struct profile *profile;
	struct names modules, instances; /* that samples are of */
	uint64_t total, truncated, first_ns, last_ns;
	size_t timed, count;
	bool failed;
};

struct sample_labels {
	const char *module, *instance, *state, *owner; /* owner: the selector's value; NULL: none */
	bool has_time;
};

/* ---- labels ---------------------------------------------------------------------------------- */

static void check_time(struct samples *samples, const char *where, uint64_t time_ns)
{
	if (time_ns % SHARED_TICK_NS != 0)
		audit_found(samples->profile->audit, where, "a time that is not rounded: %llu ns",
			    (unsigned long long)time_ns);
	if (samples->timed == 0 || time_ns < samples->first_ns)
		samples->first_ns = time_ns;
	if (time_ns > samples->last_ns)
		samples->last_ns = time_ns;
	samples->timed++;
}

static void take_label(struct samples *samples, const char *where, const struct pb_field *label,
		       struct sample_labels *labels)
{
	const struct selection *selection = samples->profile->audit->selection;
	const char *key = profile_string(samples->profile, label, LABEL_KEY);
	const char *text = profile_string(samples->profile, label, LABEL_STRING);

	if (strcmp(key, "time") == 0) {
		labels->has_time = true;
		check_time(samples, where, profile_number(label, LABEL_NUMBER));
		return;
	}
	if (profile_number(label, LABEL_NUMBER) != 0)
		audit_found(samples->profile->audit, where, "a number in label \"%.60s\"", key);
	if (strcmp(key, "wasm_module") == 0)
		labels->module = text;
	else if (strcmp(key, "wasm_instance") == 0)
		labels->instance = text;
	else if (strcmp(key, "wasm_state") == 0)
		labels->state = text;
	else if (!selection_keeps(selection, key))
		audit_found(samples->profile->audit, where,
			    "the label \"%.60s\", which was not to be kept", key);
	else if (selection->by == SELECTION_LABEL && strcmp(key, selection->key) == 0)
		labels->owner = text;
}

static void check_owner(struct samples *samples, const char *where,
			const struct sample_labels *labels)
{
	const struct selection *selection = samples->profile->audit->selection;
	struct audit *audit = samples->profile->audit;

	if (labels->module == NULL || !audit_is_module(audit, labels->module))
		audit_found(audit, where, "another module: \"%.200s\"",
			    labels->module != NULL ? labels->module : "");
	if (selection->by == SELECTION_LABEL &&
	    (labels->owner == NULL || strcmp(labels->owner, selection->value) != 0))
		audit_found(audit, where, "not labelled %.60s=%.200s", selection->key,
			    selection->value);
	if (selection->by == SELECTION_INSTANCE && labels->instance == NULL)
		audit_found(audit, where, "of no instance");
}

/* Whether TEXT, behind an instance's number, is how certain it is, or nothing. */
static bool ends_well(const char *text)
{
	return text[0] == '\0' || strcmp(text, CHUNK_LIKELY) == 0;
}

/* `MODULE#3` or `MODULE#*`, how certain it is behind; or nothing but the module. */
static void check_instance(struct samples *samples, const char *where,
			   const struct sample_labels *labels)
{
	size_t length = labels->module != NULL ? strlen(labels->module) : 0;
	const char *number = labels->instance;
	size_t digits;

	if (number == NULL)
		return;
	if (strncmp(number, labels->module != NULL ? labels->module : "", length) == 0 &&
	    strcmp(number + length, CHUNK_MODULE_ONLY) == 0)
		return;
	if (strncmp(number, labels->module != NULL ? labels->module : "", length) != 0 ||
	    number[length] != '#') {
		audit_found(samples->profile->audit, where,
			    "an instance of another module: \"%.200s\"", number);
		return;
	}
	number += length + 1;
	digits = strspn(number, "0123456789");
	if (number[0] == '*' && ends_well(number + 1))
		return;
	if (digits == 0 || digits > 9 || !ends_well(number + digits) || number[0] == '0')
		audit_found(samples->profile->audit, where, "an instance's own number: \"%.200s\"",
			    labels->instance);
	else if (names_id(&samples->instances, labels->instance) == NAMES_NONE)
		samples->failed = true;
}

static void check_labels(struct samples *samples, const char *where, const struct pb_field *sample)
{
	struct pb_reader parts = profile_parts(sample);
	struct sample_labels labels = { 0 };
	bool is_known = false;
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		if (part.number == SAMPLE_LABEL && part.bytes != NULL)
			take_label(samples, where, &part, &labels);
	}
	for (int i = 0; labels.state != NULL && i < STATE_COUNT; i++)
		is_known |= strcmp(chunk_state_name((enum wasm_state)i), labels.state) == 0;
	if (!is_known && !samples->profile->is_export)
		audit_found(samples->profile->audit, where, "no state that there is");
	check_owner(samples, where, &labels);
	check_instance(samples, where, &labels);
	if (labels.module != NULL && names_id(&samples->modules, labels.module) == NAMES_NONE)
		samples->failed = true;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

struct stack {
	const struct profile *profile;
	size_t count;
	bool was_host, is_repeated; /* was_host: the frame before, so at the end the root */
};

static void visit_frame(void *context, uint64_t id)
{
	struct stack *stack = context;
	const struct pb_field *location = profile_row(stack->profile, TABLE_LOCATION, id);
	bool is_host = location != NULL && profile_number(location, LOCATION_KIND) == FRAME_HOST &&
		       profile_number(location, LOCATION_IMPORTER) == 0;

	stack->is_repeated |= is_host && stack->was_host;
	stack->was_host = is_host;
	stack->count++;
}

static void check_stack(struct samples *samples, const char *where, const struct pb_field *sample)
{
	struct stack stack = { .profile = samples->profile };
	struct pb_reader parts = profile_parts(sample);
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		if (part.number == SAMPLE_LOCATION_ID)
			pb_each_varint(&part, visit_frame, &stack);
	}
	if (stack.is_repeated)
		audit_found(samples->profile->audit, where, "how deep the host's stack was");
	if (stack.was_host && stack.count > 1)
		audit_found(samples->profile->audit, where, "who called the outermost frame");
}

/* ---- all ------------------------------------------------------------------------------------- */

static void visit_value(void *context, uint64_t value)
{
	uint64_t *first = context;

	if (*first == UINT64_MAX)
		*first = value;
}

static void add_up(struct samples *samples, const struct pb_field *sample)
{
	struct pb_reader parts = profile_parts(sample);
	uint64_t count = UINT64_MAX;
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		if (part.number == SAMPLE_VALUE)
			pb_each_varint(&part, visit_value, &count);
	}
	if (count == UINT64_MAX)
		return;
	samples->total += count;
	if (profile_number(sample, SAMPLE_IS_TRUNCATED) != 0)
		samples->truncated += count;
}

/* Numbers of instances begin at 1 and leave none out. */
static void check_numbers(struct samples *samples)
{
	uint32_t count = samples->instances.count;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = samples->instances.texts[i];
		const char *number = strrchr(name, '#') + 1;
		unsigned long n = strtoul(number, NULL, 10);
		char before[1024], likely[1024 + sizeof(CHUNK_LIKELY)];

		if (n == 1)
			continue;
		snprintf(before, sizeof(before), "%.*s%lu", (int)(number - name), name, n - 1);
		snprintf(likely, sizeof(likely), "%s%s", before, CHUNK_LIKELY);
		if (names_find(&samples->instances, before) == NAMES_NONE &&
		    names_find(&samples->instances, likely) == NAMES_NONE)
			audit_found(samples->profile->audit, "samples",
				    "instance \"%.200s\", but none of the number before it", name);
	}
}

/* What is said of modules must be said of those that there are samples of. */
static void check_modules(struct samples *samples)
{
	struct profile *profile = samples->profile;
	const struct profile_rows *rows = &profile->tables[TABLE_MAPPING];
	char where[WHERE_SIZE];

	for (size_t i = 0; i < rows->count; i++) {
		snprintf(where, sizeof(where), "mapping %zu", i + 1);
		if (names_find(&samples->modules, profile_string(profile, &rows->list[i],
								 MAPPING_FILENAME)) == NAMES_NONE)
			audit_found(profile->audit, where, "of no sample");
	}
	for (size_t i = 0; i < profile->group_count; i++) {
		snprintf(where, sizeof(where), "group %zu", i + 1);
		if (names_find(&samples->modules, profile_string(profile, &profile->groups[i],
								 GROUP_MODULE)) == NAMES_NONE)
			audit_found(profile->audit, where, "of no sample");
	}
}

static void check_sums(struct samples *samples)
{
	struct profile *profile = samples->profile;
	struct pb_reader parts = profile_parts(&profile->stats);
	uint64_t counted = 0;
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		struct pb_reader entry = profile_parts(&part);
		struct pb_field name;

		if (part.bytes == NULL || !pb_next(&entry, &name) || name.bytes == NULL)
			continue;
		counted = profile_number(&part, STATS_ENTRY_VALUE);
		if (name.size == 7 && memcmp(name.bytes, "samples", 7) == 0 &&
		    counted != samples->total)
			audit_found(profile->audit, "counters",
				    "%" PRIu64 " samples, but there are %" PRIu64, counted,
				    samples->total);
		if (name.size == 9 && memcmp(name.bytes, "truncated", 9) == 0 &&
		    counted != samples->truncated)
			audit_found(profile->audit, "counters",
				    "%" PRIu64 " truncated samples, but there are %" PRIu64,
				    counted, samples->truncated);
	}
	counted = 0;
	for (size_t i = 0; i < profile->group_count; i++)
		counted += profile_number(&profile->groups[i], GROUP_SAMPLES);
	if (counted != samples->total)
		audit_found(profile->audit, "groups", "%" PRIu64 " samples, but there are %" PRIu64,
			    counted, samples->total);
}

static void check_times(struct samples *samples)
{
	struct profile *profile = samples->profile;

	if (samples->timed != 0 && samples->timed != samples->count)
		audit_found(profile->audit, "samples", "%zu of %zu have a time", samples->timed,
			    samples->count);
	if (samples->first_ns != 0)
		audit_found(profile->audit, "samples",
			    "the first time is %" PRIu64 " ns: not relative to the first sample",
			    samples->first_ns);
	if (profile->duration_ns > samples->last_ns + 10 * SHARED_TICK_NS)
		audit_found(profile->audit, "field 10",
			    "more time than the samples take: %" PRIu64 " ns",
			    profile->duration_ns);
}

int audit_profile_samples(struct profile *profile)
{
	struct samples samples = { .profile = profile, .count = profile->sample_count };
	char where[WHERE_SIZE];
	int error;

	for (size_t i = 0; i < profile->sample_count; i++) {
		snprintf(where, sizeof(where), "sample %zu", i + 1);
		check_labels(&samples, where, &profile->samples[i]);
		check_stack(&samples, where, &profile->samples[i]);
		add_up(&samples, &profile->samples[i]);
	}
	check_numbers(&samples);
	check_modules(&samples);
	if (!profile->is_export) {
		check_sums(&samples);
		check_times(&samples);
	}
	error = samples.failed ? -ENOMEM : 0;
	names_free(&samples.modules);
	names_free(&samples.instances);
	return error;
}
