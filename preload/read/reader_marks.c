/* SPDX-License-Identifier: MIT */
/* reader_marks.c - what lies in time: host calls, and the lives of instances. Threads: any. */
#include "preload/encode/recording.h"
#include "preload/read/reading.h"

#include <errno.h>

int reading_interval(struct reading *reading, const struct pb_field *field)
{
	struct recording *out = reading->out;
	struct recording_interval *interval = &out->intervals[out->interval_count];
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	interval->name = "";
	while (pb_next(&message, &part)) {
		if (part.number == INTERVAL_NAME && part.bytes != NULL)
			interval->name = arena_text(&reading->arena, part.bytes, part.size);
		else if (part.number == INTERVAL_START_NS)
			interval->start_ns = part.value;
		else if (part.number == INTERVAL_DURATION_NS)
			interval->duration_ns = part.value;
		else if (part.number == INTERVAL_THREAD_ID)
			interval->thread_id = part.value;
		else if (part.number == INTERVAL_PROCESS)
			interval->process = (uint32_t)part.value;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged interval");
	if (interval->name == NULL)
		return -ENOMEM;
	out->interval_count++;
	return 0;
}

int reading_life(struct reading *reading, const struct pb_field *field)
{
	struct recording_life life = { 0 };
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t module = 0, instance = 0;
	uint32_t row;

	while (pb_next(&message, &part)) {
		if (part.number == LIFE_MODULE)
			module = part.value;
		else if (part.number == LIFE_INSTANCE)
			instance = part.value;
		else if (part.number == LIFE_START_NS)
			life.start_ns = part.value;
		else if (part.number == LIFE_END_NS)
			life.end_ns = part.value;
		else if (part.number == LIFE_PROCESS)
			life.process = (uint32_t)part.value;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged life");
	row = pairs_id(&reading->lives, (uint64_t)life.process << 32 | (uint32_t)module, instance);
	if (row == PAIRS_NONE)
		return -ENOMEM;
	life.has_ended = life.end_ns != 0;
	life.module = reading_string(reading, module);
	life.instance = reading_string(reading, instance);
	reading->out->lives[row] = life;
	reading->out->life_count = reading->lives.count;
	return 0;
}

/* As reading_life(): module and identity are told by the numbers of their strings. */
int reading_hostcall(struct reading *reading, const struct pb_field *field)
{
	struct recording_hostcall call = { 0 };
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t name = 0, module = 0, identity = 0;
	uint32_t row;

	while (pb_next(&message, &part)) {
		if (part.number == HOSTCALL_NAME)
			name = part.value;
		else if (part.number == HOSTCALL_MODULE)
			module = part.value;
		else if (part.number == HOSTCALL_IDENTITY)
			identity = part.value;
		else if (part.number == HOSTCALL_COUNT)
			call.count = part.value;
		else if (part.number == HOSTCALL_TOTAL_NS)
			call.total_ns = part.value;
		else if (part.number == HOSTCALL_LONGEST_NS)
			call.longest_ns = part.value;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged host call");
	row = pairs_id(&reading->hostcalls, module << 32 | (uint32_t)identity, name);
	if (row == PAIRS_NONE)
		return -ENOMEM;
	call.name = reading_string(reading, name);
	call.module = reading_string(reading, module);
	call.identity = reading_string(reading, identity);
	reading->out->hostcalls[row] = call;
	reading->out->hostcall_count = reading->hostcalls.count;
	return 0;
}
