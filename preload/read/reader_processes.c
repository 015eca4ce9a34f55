/* SPDX-License-Identifier: MIT */
/* reader_processes.c - what was recorded, where and how: Info and Process. Threads: any. */
#include "preload/encode/recording.h"
#include "preload/read/reading.h"

#include <errno.h>

static void read_rate(const struct pb_field *field, struct recording_rate *rate)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	*rate = (struct recording_rate){ .from = 1, .to = 1 };
	while (pb_next(&message, &part)) {
		if (part.number == RATE_TIME_NS)
			rate->time_unix_ns = part.value; /* settled when the start is known */
		else if (part.number == RATE_FROM && part.value != 0)
			rate->from = part.value;
		else if (part.number == RATE_TO && part.value != 0)
			rate->to = part.value;
		else if (part.number == RATE_COST_PPM)
			rate->cost_ppm = part.value;
		else if (part.number == RATE_BUDGET_PPM)
			rate->budget_ppm = part.value;
	}
}

/* What Info and Process have in common. There is room for engines and rates of the message. */
static void read_process_part(struct reading *reading, const struct pb_field *part,
			      struct recording_process *process)
{
	switch (part->number) {
	case INFO_PID:
		process->pid = part->value;
		break;
	case INFO_PROGRAM:
		process->program = reading_text(reading, part);
		break;
	case INFO_CLOCK:
		process->clock = reading_text(reading, part);
		break;
	case INFO_CLOCK_WHY:
		process->clock_why = reading_text(reading, part);
		break;
	case INFO_REQUESTED_HZ:
		process->requested_hz = part->value;
		break;
	case INFO_STACKS:
		process->stacks = reading_text(reading, part);
		break;
	case INFO_ENDED:
		process->has_ended = part->value != 0;
		break;
	case INFO_GUESTPROF:
		process->guestprof_version = reading_text(reading, part);
		break;
	case INFO_OWN_CPU_NS:
		process->own_cpu_ns = part->value;
		break;
	case INFO_PROCESS_CPU_NS:
		process->process_cpu_ns = part->value;
		break;
	case INFO_BEGAN:
		process->began_unix_ns = part->value;
		break;
	case INFO_ENGINES:
		process->engines[process->engine_count++] = reading_text(reading, part);
		break;
	case INFO_DELIVERY_NS:
		process->delivery_ns = part->value;
		break;
	case INFO_RATE:
		read_rate(part, &process->rates[process->rate_count++]);
		break;
	case PROCESS_TIME_NANOS:
		process->time_unix_ns = part->value;
		break;
	case PROCESS_DURATION_NANOS:
		process->duration_ns = part->value;
		break;
	case PROCESS_PERIOD:
		process->period_ns = part->value;
		break;
	}
}

static size_t count_parts(const struct pb_field *field, uint32_t number)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	size_t count = 0;

	while (pb_next(&message, &part))
		count += part.number == number;
	return count;
}

/* FIELD as a process, zeroed before but for its texts. 0, -ENOMEM, or -EINVAL. */
static int read_process(struct reading *reading, const struct pb_field *field,
			struct recording_process *process)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	*process = (struct recording_process){ .is_ours = reading->out->is_ours };
	process->program = process->clock = process->clock_why = process->stacks = "";
	process->guestprof_version = "";
	process->path = reading->out->path;
	process->engines = arena_alloc(&reading->arena, count_parts(field, INFO_ENGINES),
				       sizeof(*process->engines));
	process->rates = arena_alloc(&reading->arena, count_parts(field, INFO_RATE),
				     sizeof(*process->rates));
	if (process->engines == NULL || process->rates == NULL)
		return -ENOMEM;
	while (pb_next(&message, &part))
		read_process_part(reading, &part, process);
	return message.error;
}

/* What only Info has. */
static void read_info_rest(struct reading *reading)
{
	struct pb_reader message = reading_inside(&reading->info);
	struct pb_field part;

	reading->out->filter = "";
	while (pb_next(&message, &part)) {
		if (part.number == INFO_FILTER)
			reading->out->filter = reading_text(reading, &part);
		else if (part.number == INFO_INTERVALS_DROPPED)
			reading->out->intervals_dropped = part.value;
	}
}

int reading_info(struct reading *reading)
{
	struct recording *out = reading->out;
	struct recording_process *process = &reading->process;
	int error = read_process(reading, &reading->info, process);

	if (error == -EINVAL) {
		reading->at = (uint64_t)(reading->info.bytes - reading->bytes);
		return reading_fail(reading, "a damaged info message");
	}
	if (error != 0)
		return error;
	read_info_rest(reading);
	out->pid = process->pid;
	out->program = process->program;
	out->clock = process->clock;
	out->clock_why = process->clock_why;
	out->requested_hz = process->requested_hz;
	out->stacks = process->stacks;
	out->has_ended = process->has_ended;
	out->guestprof_version = process->guestprof_version;
	out->own_cpu_ns = process->own_cpu_ns;
	out->process_cpu_ns = process->process_cpu_ns;
	out->engines = process->engines;
	out->engine_count = process->engine_count;
	return 0;
}

int reading_process(struct reading *reading, const struct pb_field *field)
{
	struct recording *out = reading->out;
	int error = read_process(reading, field, &out->processes[out->process_count++]);

	return error == -EINVAL ? reading_fail(reading, "a damaged process") : error;
}

/* Their times were since the start. */
static void settle_rates(struct recording_process *process)
{
	for (size_t i = 0; i < process->rate_count; i++) {
		uint64_t *time_ns = &process->rates[i].time_unix_ns;

		if (__builtin_add_overflow(*time_ns, process->time_unix_ns, time_ns))
			*time_ns = process->time_unix_ns;
	}
}

void reading_settle_processes(struct reading *reading)
{
	struct recording *out = reading->out;

	if (out->process_count == 0) {
		out->processes[out->process_count++] = reading->process;
		out->processes[0].time_unix_ns = out->time_unix_ns;
		out->processes[0].duration_ns = out->duration_ns;
		out->processes[0].period_ns = out->period_ns;
	}
	for (size_t i = 0; i < out->process_count; i++) {
		out->processes[i].is_torn = out->is_torn;
		out->processes[i].torn_at = out->torn_at;
		settle_rates(&out->processes[i]);
	}
	for (size_t i = 0; i < out->sample_count; i++) {
		if (out->samples[i].process >= out->process_count)
			out->samples[i].process = 0;
	}
	for (size_t i = 0; i < out->interval_count; i++) {
		if (out->intervals[i].process >= out->process_count)
			out->intervals[i].process = 0;
	}
	for (size_t i = 0; i < out->life_count; i++) {
		if (out->lives[i].process >= out->process_count)
			out->lives[i].process = 0;
	}
}
