/* SPDX-License-Identifier: MIT */
/* merge_processes.c - where several recordings come from, and what they have in common. Threads:
 * one at a time. */
#include "preload/read/merge_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what several have in common ------------------------------------------------------------- */

/* The first one's text when it is that of all, else "". */
static const char *common_text(const struct recording_process *list, size_t count, size_t offset)
{
	const char *first = "", *text;

	for (size_t i = 0; i < count; i++) {
		memcpy(&text, (const char *)&list[i] + offset, sizeof(text));
		if (i == 0)
			first = text;
		else if (strcmp(first, text) != 0)
			return "";
	}
	return first;
}

/* The narrowest stacks: a view of all can show no more. */
static const char *narrowest(const struct recording_process *list, size_t count)
{
	static const char *const stacks[] = { "guest", "hostcalls", "full" };

	for (size_t s = 0; s < ARRAY_SIZE(stacks); s++) {
		for (size_t i = 0; i < count; i++) {
			if (strcmp(list[i].stacks, stacks[s]) == 0)
				return stacks[s];
		}
	}
	return "";
}

/* Weighted by time. */
static void set_rates(const struct recording_process *list, size_t count, uint64_t *requested_hz,
		      uint64_t *period_ns)
{
	long double hz = 0, period = 0, time = 0;

	for (size_t i = 0; i < count; i++) {
		/* a process that ended at once still counts */
		long double weight = (long double)list[i].duration_ns + 1;

		hz += (long double)list[i].requested_hz * weight;
		period += (long double)list[i].period_ns * weight;
		time += weight;
	}
	*requested_hz = (uint64_t)(hz / time + 0.5L);
	*period_ns = (uint64_t)(period / time + 0.5L);
}

static bool has_engine(const char *const *engines, size_t count, const char *engine)
{
	for (size_t i = 0; i < count; i++) {
		if (engines[i] == engine)
			return true;
	}
	return false;
}

/* ---- processes ------------------------------------------------------------------------------- */

static int copy_texts(struct merge *merge, struct recording_process *process)
{
	const char **texts[] = {
		&process->program,	     &process->clock, &process->clock_why, &process->stacks,
		&process->guestprof_version, &process->path,
	};
	const char **engines = arena_alloc(&merge->arena, process->engine_count, sizeof(*engines));
	struct recording_rate *rates =
		arena_alloc(&merge->arena, process->rate_count, sizeof(*rates));

	if (engines == NULL || rates == NULL)
		return -ENOMEM;
	if (process->rate_count != 0)
		memcpy(rates, process->rates, process->rate_count * sizeof(*rates));
	process->rates = rates;
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

/* The row of FROM, which is the same process only with a number, a beginning and a program. */
static uint32_t find_process(struct merge *merge, const struct recording_process *from)
{
	uint64_t began = from->began_unix_ns != 0 ? from->began_unix_ns : from->time_unix_ns;
	uint32_t program = names_id(&merge->texts, from->program);

	if (program == NAMES_NONE || from->pid > UINT32_MAX)
		return PAIRS_NONE;
	if (from->pid == 0)
		return pairs_id(&merge->processes, UINT64_MAX, merge->processes.count);
	return pairs_id(&merge->processes, from->pid << 32 | program, began);
}

/* Engines of FROM that TO has not got. */
static int join_engines(struct merge *merge, struct recording_process *to,
			const struct recording_process *from)
{
	const char **engines =
		arena_alloc(&merge->arena, to->engine_count + from->engine_count, sizeof(*engines));
	size_t count = to->engine_count;

	if (engines == NULL)
		return -ENOMEM;
	memcpy(engines, to->engines, count * sizeof(*engines));
	for (size_t i = 0; i < from->engine_count; i++) {
		const char *engine = merge_text(merge, from->engines[i]);

		if (engine == NULL)
			return -ENOMEM;
		if (!has_engine(engines, count, engine))
			engines[count++] = engine;
	}
	to->engines = engines;
	to->engine_count = count;
	return 0;
}

static int compare_rates(const void *a, const void *b)
{
	const struct recording_rate *left = a, *right = b;

	return left->time_unix_ns < right->time_unix_ns ? -1
							: left->time_unix_ns > right->time_unix_ns;
}

static int join_rates(struct merge *merge, struct recording_process *to,
		      const struct recording_process *from)
{
	size_t count = to->rate_count + from->rate_count;
	struct recording_rate *rates = arena_alloc(&merge->arena, count, sizeof(*rates));

	if (rates == NULL)
		return -ENOMEM;
	if (from->rate_count == 0)
		return 0;
	if (to->rate_count != 0)
		memcpy(rates, to->rates, to->rate_count * sizeof(*rates));
	memcpy(rates + to->rate_count, from->rates, from->rate_count * sizeof(*rates));
	qsort(rates, count, sizeof(*rates), compare_rates);
	to->rates = rates;
	to->rate_count = count;
	return 0;
}

/* FROM is another recording of the process TO. Its times are in merge->pieces. */
static int join_process(struct merge *merge, struct recording_process *to,
			const struct recording_process *from)
{
	const struct recording_process both[] = { *to, *from };

	to->own_cpu_ns += from->own_cpu_ns;
	to->process_cpu_ns += from->process_cpu_ns;
	if (from->is_torn && !to->is_torn) {
		to->is_torn = true;
		to->torn_at = from->torn_at;
	}
	set_rates(both, ARRAY_SIZE(both), &to->requested_hz, &to->period_ns);
	to->duration_ns += from->duration_ns; /* its weight, when there is a third */
	to->clock = common_text(both, ARRAY_SIZE(both), offsetof(struct recording_process, clock));
	to->clock_why =
		common_text(both, ARRAY_SIZE(both), offsetof(struct recording_process, clock_why));
	to->stacks = narrowest(both, ARRAY_SIZE(both));
	if (join_rates(merge, to, from) != 0)
		return -ENOMEM;
	return join_engines(merge, to, from);
}

static int add_piece(struct merge *merge, uint32_t id, const struct recording_process *from)
{
	if (rows_reserve(&merge->pieces, &merge->piece_room, merge->piece_count,
			 sizeof(*merge->pieces)) != 0)
		return -ENOMEM;
	merge->pieces[merge->piece_count++] = (struct merge_piece){
		.process = id,
		.has_ended = from->has_ended,
		.span = { from->time_unix_ns, from->time_unix_ns + from->duration_ns },
	};
	return 0;
}

static int add_process(struct merge *merge, size_t index)
{
	const struct recording_process *from = &merge->in->processes[index];
	struct recording *out = merge->out;
	uint32_t id = find_process(merge, from);
	struct recording_process *to;

	if (id == PAIRS_NONE || add_piece(merge, id, from) != 0)
		return -ENOMEM;
	merge->process_of[index] = id;
	to = &out->processes[id];
	if (id == out->process_count) {
		out->process_count++;
		*to = *from;
		return copy_texts(merge, to);
	}
	return join_process(merge, to, from);
}

int merge_processes(struct merge *merge)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < merge->in->process_count; i++)
		error = add_process(merge, i);
	return error;
}

/* ---- together -------------------------------------------------------------------------------- */

static int compare_pieces(const void *a, const void *b)
{
	const struct merge_piece *left = a, *right = b;

	return left->process < right->process ? -1 : left->process > right->process;
}

/* When a process began, how long it was recorded, and whether the last recording is whole. */
static void set_time(struct recording_process *process, struct merge_piece *pieces, size_t count,
		     struct span *spans)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		spans[i] = pieces[i].span;
		if (pieces[i].span.end >= end) {
			end = pieces[i].span.end;
			process->has_ended = pieces[i].has_ended;
		}
	}
	process->duration_ns = spans_covered(spans, count);
	process->time_unix_ns = spans[0].start;
}

static int set_times(struct merge *merge)
{
	struct span *spans = calloc(merge->piece_count + 1, sizeof(*spans));
	size_t count;

	if (spans == NULL)
		return -ENOMEM;
	if (merge->piece_count != 0)
		qsort(merge->pieces, merge->piece_count, sizeof(*merge->pieces), compare_pieces);
	for (size_t i = 0; i < merge->piece_count; i += count) {
		struct merge_piece *first = &merge->pieces[i];

		for (count = 1;
		     i + count < merge->piece_count && first[count].process == first->process;)
			count++;
		set_time(&merge->out->processes[first->process], first, count, spans);
	}
	free(spans);
	return 0;
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

			if (!has_engine(out->engines, out->engine_count, engine))
				out->engines[out->engine_count++] = engine;
		}
	}
	return 0;
}

int merge_summary(struct merge *merge)
{
	struct recording *out = merge->out;
	const struct recording_process *list = out->processes;
	size_t count = out->process_count;
	int error = set_times(merge);

	out->pid = count == 1 ? list[0].pid : 0;
	out->program = common_text(list, count, offsetof(struct recording_process, program));
	out->clock = common_text(list, count, offsetof(struct recording_process, clock));
	out->clock_why = common_text(list, count, offsetof(struct recording_process, clock_why));
	out->guestprof_version =
		common_text(list, count, offsetof(struct recording_process, guestprof_version));
	out->stacks = narrowest(list, count);
	set_rates(list, count, &out->requested_hz, &out->period_ns);
	return error != 0 ? error : set_engines(merge);
}
