/* SPDX-License-Identifier: MIT */
/* reader_samples.c - pprof's ValueType, Sample and Label into samples. Threads: any. */
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_number(void *context, uint64_t value)
{
	struct reading_numbers *numbers = context;

	if (numbers->count == numbers->capacity) {
		size_t capacity = numbers->capacity == 0 ? 256 : numbers->capacity * 2;
		uint64_t *values = realloc(numbers->values, capacity * sizeof(*values));

		if (values == NULL) {
			numbers->failed = true;
			return;
		}
		numbers->values = values;
		numbers->capacity = capacity;
	}
	numbers->values[numbers->count++] = value;
}

int reading_add_numbers(struct reading_numbers *numbers, const struct pb_field *field)
{
	int error = pb_each_varint(field, add_number, numbers);

	return numbers->failed ? -ENOMEM : error;
}

static int read_value_type(struct reading *reading, const struct pb_field *field, const char **type,
			   const char **unit)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	*type = *unit = "";
	while (pb_next(&message, &part)) {
		if (part.number == VALUE_TYPE_TYPE)
			*type = reading_string(reading, part.value);
		else if (part.number == VALUE_TYPE_UNIT)
			*unit = reading_string(reading, part.value);
	}
	return message.error == 0 ? 0 : reading_fail(reading, "a damaged value type");
}

/* Nanoseconds in one UNIT, 0 when it is no time. */
static uint64_t unit_scale(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "nanoseconds", 1 },
		{ "microseconds", 1000 },
		{ "milliseconds", 1000 * 1000 },
		{ "seconds", 1000 * 1000 * 1000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].name, unit) == 0)
			return units[i].scale;
	}
	return 0;
}

static void take_value(struct reading_value *value, size_t index, uint64_t scale)
{
	if (value->scale == 0)
		*value = (struct reading_value){ index, scale };
}

int reading_sample_type(struct reading *reading, const struct pb_field *field)
{
	size_t index = reading->sample_type_count++;
	const char *type, *unit;
	int error = read_value_type(reading, field, &type, &unit);

	if (error != 0)
		return error;
	if (strcmp(unit, "count") == 0)
		take_value(&reading->count, index, 1);
	else if (strcmp(type, "wall") == 0 && unit_scale(unit) != 0)
		take_value(&reading->wall, index, unit_scale(unit));
	else if (unit_scale(unit) != 0)
		take_value(&reading->cpu, index, unit_scale(unit));
	return 0;
}

int reading_period_type(struct reading *reading, const struct pb_field *field)
{
	const char *type, *unit;
	int error = read_value_type(reading, field, &type, &unit);

	reading->period.scale = error == 0 && strcmp(type, "cpu") == 0 ? unit_scale(unit) : 0;
	return error;
}

static uint64_t value_of(const struct reading *reading, const struct reading_value *value)
{
	uint64_t number = value->scale != 0 && value->index < reading->numbers.count
				  ? reading->numbers.values[value->index]
				  : 0;

	/* pprof's values are signed; negative ones come from its differences, and mean nothing
	 * here. */
	return number > INT64_MAX / (value->scale | 1) ? 0 : number * value->scale;
}

static void set_values(const struct reading *reading, struct recording_sample *sample)
{
	uint64_t period = reading->out->period_ns * reading->period.scale;

	sample->count = value_of(reading, &reading->count);
	sample->cpu_ns = value_of(reading, &reading->cpu);
	sample->wall_ns = value_of(reading, &reading->wall);
	if (reading->count.scale == 0)
		sample->count = 1;
	if (reading->cpu.scale == 0 && period != 0 && sample->count < INT64_MAX / period)
		sample->cpu_ns = sample->count * period;
}

static enum wasm_state state_of(const char *name)
{
	for (int i = 0; i < STATE_COUNT; i++) {
		if (strcmp(chunk_state_name((enum wasm_state)i), name) == 0)
			return (enum wasm_state)i;
	}
	return STATE_HOST;
}

void reading_add_label(struct reading *reading, const char *key, const char *value)
{
	if (reading->label_count < RECORDING_LABELS_MAX)
		reading->labels[reading->label_count++] = (struct recording_label){ key, value };
}

const struct recording_label *reading_take_labels(struct reading *reading, size_t *count)
{
	struct recording_label *labels =
		arena_alloc(&reading->arena, reading->label_count, sizeof(*labels));

	*count = labels != NULL ? reading->label_count : 0;
	if (*count > 0)
		memcpy(labels, reading->labels, *count * sizeof(*labels));
	return labels;
}

static void set_label(struct reading *reading, struct recording_sample *sample, const char *key,
		      const char *text, uint64_t number)
{
	if (strcmp(key, "wasm_module") == 0)
		sample->module = text;
	else if (strcmp(key, "wasm_instance") == 0)
		sample->instance = text;
	else if (strcmp(key, "wasm_state") == 0)
		sample->state = state_of(text);
	else if (strcmp(key, "thread_name") == 0)
		sample->thread_name = text;
	else if (strcmp(key, "thread_id") == 0)
		sample->thread_id = number;
	else if (strcmp(key, "descriptor") == 0)
		sample->descriptor = number <= INT32_MAX ? (int64_t)number : -1;
	else if (strcmp(key, "time") == 0)
		sample->time_ns = number;
	else if (*text != '\0')
		reading_add_label(reading, key, text);
}

static int read_label(struct reading *reading, const struct pb_field *field,
		      struct recording_sample *sample)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t key = 0, text = 0, number = 0;

	while (pb_next(&message, &part)) {
		if (part.number == LABEL_KEY)
			key = part.value;
		else if (part.number == LABEL_STRING)
			text = part.value;
		else if (part.number == LABEL_NUMBER)
			number = part.value;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged label");
	set_label(reading, sample, reading_string(reading, key), reading_string(reading, text),
		  number);
	return 0;
}

static int set_locations(struct reading *reading, struct recording_sample *sample)
{
	const struct reading_numbers *ids = &reading->ids;

	sample->locations = arena_alloc(&reading->arena, ids->count, sizeof(*sample->locations));
	if (sample->locations == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < ids->count; i++) {
		sample->locations[i] = reading_row(&reading->locations, ids->values[i]);
		if (sample->locations[i] == NULL)
			return reading_fail(reading,
					    "a sample of location %llu, which is not in the file",
					    (unsigned long long)ids->values[i]);
	}
	sample->location_count = ids->count;
	return 0;
}

static int read_sample_part(struct reading *reading, const struct pb_field *part,
			    struct recording_sample *sample)
{
	switch (part->number) {
	case SAMPLE_LOCATION_ID:
		return reading_add_numbers(&reading->ids, part);
	case SAMPLE_VALUE:
		return reading_add_numbers(&reading->numbers, part);
	case SAMPLE_LABEL:
		return read_label(reading, part, sample);
	case SAMPLE_PROCESS:
		sample->process = part->value <= UINT32_MAX ? (uint32_t)part->value : 0;
		return 0;
	case SAMPLE_IS_TRUNCATED:
		sample->is_truncated = part->value != 0;
		return 0;
	default:
		return 0;
	}
}

/* Foreign profiles have no state: the leaf tells it. */
static enum wasm_state state_of_leaf(const struct recording_sample *sample)
{
	static const enum wasm_state states[] = {
		[FRAME_GUEST] = STATE_GUEST,	 [FRAME_HOST] = STATE_HOST,
		[FRAME_BUILTIN] = STATE_BUILTIN, [FRAME_TRAMPOLINE] = STATE_GUEST,
		[FRAME_JIT] = STATE_GUEST,	 [FRAME_INTERPRETER] = STATE_INTERPRETER,
	};

	return sample->location_count == 0 ? STATE_HOST : states[sample->locations[0]->kind];
}

int reading_sample(struct reading *reading, const struct pb_field *field)
{
	struct recording_sample *sample = &reading->out->samples[reading->out->sample_count++];
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	int error = 0;

	*sample = (struct recording_sample){ .module = "",
					     .instance = "",
					     .thread_name = "",
					     .state = STATE_COUNT,
					     .descriptor = -1 };
	reading->ids.count = reading->numbers.count = reading->label_count = 0;
	while (error == 0 && pb_next(&message, &part))
		error = read_sample_part(reading, &part, sample);
	if (error == -EINVAL || message.error != 0)
		return reading_fail(reading, "a damaged sample");
	if (error == 0)
		error = set_locations(reading, sample);
	if (error == 0 && reading->label_count > 0) {
		sample->labels = reading_take_labels(reading, &sample->label_count);
		error = sample->labels != NULL ? 0 : -ENOMEM;
	}
	if (error != 0)
		return error;
	set_values(reading, sample);
	if (sample->state == STATE_COUNT)
		sample->state = state_of_leaf(sample);
	return 0;
}
