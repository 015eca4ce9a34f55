/* SPDX-License-Identifier: MIT */
/* merge_processes.c - where several recordings come from, and what they have in common. Threads:
 * one at a time. */
#include "preload/read/merge_private.h"

#include <errno.h>
#include <string.h>

static int copy_texts(struct merge *merge, struct recording_process *process)
{
	const char **texts[] = {
		&process->program,	     &process->clock, &process->clock_why, &process->stacks,
		&process->guestprof_version, &process->path,
	};
	const char **engines = arena_alloc(&merge->arena, process->engine_count, sizeof(*engines));

	if (engines == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		*texts[i] = merge_text(merge, *texts[i]);
		if (*texts[i] == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; i < process->engine_count; i++) {
		engines[i] = merge_text(merge, process->engines[i]);
		if (engines[i] == NULL)
			return -ENOMEM;
	}
	process->engines = engines;
	return 0;
}

/* The row of FROM, which is the same process only with a number, a start and a program. */
static uint32_t find_process(struct merge *merge, const struct recording_process *from)
{
	uint32_t program = names_id(&merge->texts, from->program), id;

	if (program == NAMES_NONE || from->pid > UINT32_MAX)
		return PAIRS_NONE;
	if (from->pid == 0)
		return pairs_id(&merge->processes, UINT64_MAX, merge->processes.count);
	id = pairs_id(&merge->processes, from->pid << 32 | program, from->time_unix_ns);
	return id;
}

static int add_process(struct merge *merge, size_t index)
{
	const struct recording_process *from = &merge->in->processes[index];
	struct recording *out = merge->out;
	uint32_t id = find_process(merge, from);
	struct recording_process *to;

	if (id == PAIRS_NONE)
		return -ENOMEM;
	merge->process_of[index] = id;
	to = &out->processes[id];
	if (id == out->process_count) {
		out->process_count++;
		*to = *from;
		return copy_texts(merge, to);
	}
	to->own_cpu_ns += from->own_cpu_ns;
	to->process_cpu_ns += from->process_cpu_ns;
	if (from->duration_ns > to->duration_ns)
		to->duration_ns = from->duration_ns;
	return 0;
}

int merge_processes(struct merge *merge)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < merge->in->process_count; i++)
		error = add_process(merge, i);
	return error;
}

/* ---- together -------------------------------------------------------------------------------- */

/* The text of all processes, "" when they differ. */
static const char *common_text(const struct recording *out, size_t offset)
{
	const char *first = NULL;

	for (size_t i = 0; i < out->process_count; i++) {
		const char *text;

		memcpy(&text, (const char *)&out->processes[i] + offset, sizeof(text));
		if (first != NULL && strcmp(first, text) != 0)
			return "";
		first = text;
	}
	return first != NULL ? first : "";
}

/* The narrowest stacks: a view of all can show no more. */
static const char *narrowest(const struct recording *out)
{
	static const char *const stacks[] = { "guest", "hostcalls", "full" };

	for (size_t s = 0; s < ARRAY_SIZE(stacks); s++) {
		for (size_t i = 0; i < out->process_count; i++) {
			if (strcmp(out->processes[i].stacks, stacks[s]) == 0)
				return stacks[s];
		}
	}
	return "";
}

static void set_rates(struct recording *out)
{
	long double hz = 0, period = 0, time = 0;

	for (size_t i = 0; i < out->process_count; i++) {
		const struct recording_process *process = &out->processes[i];
		/* a process that ended at once still counts */
		long double weight = (long double)process->duration_ns + 1;

		hz += (long double)process->requested_hz * weight;
		period += (long double)process->period_ns * weight;
		time += weight;
	}
	out->requested_hz = (uint64_t)(hz / time + 0.5L);
	out->period_ns = (uint64_t)(period / time + 0.5L);
}

static bool has_engine(const struct recording *out, const char *engine)
{
	for (size_t i = 0; i < out->engine_count; i++) {
		if (out->engines[i] == engine)
			return true;
	}
	return false;
}

static int set_engines(struct merge *merge)
{
	struct recording *out = merge->out;
	size_t count = 0;

	for (size_t i = 0; i < out->process_count; i++)
		count += out->processes[i].engine_count;
	out->engines = arena_alloc(&merge->arena, count, sizeof(*out->engines));
	if (out->engines == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < out->process_count; i++) {
		for (size_t e = 0; e < out->processes[i].engine_count; e++) {
			const char *engine = out->processes[i].engines[e];

			if (!has_engine(out, engine))
				out->engines[out->engine_count++] = engine;
		}
	}
	return 0;
}

int merge_summary(struct merge *merge)
{
	struct recording *out = merge->out;

	out->pid = out->process_count == 1 ? out->processes[0].pid : 0;
	out->program = common_text(out, offsetof(struct recording_process, program));
	out->clock = common_text(out, offsetof(struct recording_process, clock));
	out->clock_why = common_text(out, offsetof(struct recording_process, clock_why));
	out->guestprof_version =
		common_text(out, offsetof(struct recording_process, guestprof_version));
	out->stacks = narrowest(out);
	set_rates(out);
	return set_engines(merge);
}
