/* SPDX-License-Identifier: MIT */
/* pprof_recording.c - a struct recording as a file that reads back the same. Threads: one at a
 * time. */
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/export/pprof.h"
#include "preload/export/pprof_tables.h"

#include <errno.h>
#include <stdlib.h>

struct recording_writer {
	struct pprof_tables tables;
	struct pb_writer head, body;
	uint64_t *ids; /* of the sample's locations; owned */
	size_t room;
	bool has_wall;
};

static void put_number_label(struct recording_writer *writer, const char *key, uint64_t value,
			     const char *unit)
{
	size_t mark = pb_begin(&writer->body, SAMPLE_LABEL);

	pprof_put_text(&writer->tables, &writer->body, LABEL_KEY, key);
	pb_varint(&writer->body, LABEL_NUMBER, value);
	pprof_put_text(&writer->tables, &writer->body, LABEL_UNIT, unit);
	pb_end(&writer->body, mark);
}

static void put_labels(struct recording_writer *writer, const struct recording_sample *sample)
{
	struct pprof_tables *tables = &writer->tables;
	struct pb_writer *body = &writer->body;

	pprof_put_label(tables, body, "wasm_module", sample->module);
	pprof_put_label(tables, body, "wasm_instance", sample->instance);
	/* That of another profiler's sample is made up by the reader. */
	if (tables->recording->is_ours)
		pprof_put_label(tables, body, "wasm_state", chunk_state_name(sample->state));
	pprof_put_label(tables, body, "thread_name", sample->thread_name);
	if (sample->thread_id != 0)
		put_number_label(writer, "thread_id", sample->thread_id, "");
	for (size_t i = 0; i < sample->label_count; i++)
		pprof_put_label(tables, body, sample->labels[i].key, sample->labels[i].value);
	if (sample->descriptor >= 0)
		put_number_label(writer, "descriptor", (uint64_t)sample->descriptor, "");
	put_number_label(writer, "time", sample->time_ns, "nanoseconds");
}

/* The ids of SAMPLE's locations, in writer->ids. 0 or -ENOMEM. */
static int find_ids(struct recording_writer *writer, const struct recording_sample *sample)
{
	if (sample->location_count > writer->room) {
		uint64_t *ids = realloc(writer->ids, sample->location_count * 2 * sizeof(*ids));

		if (ids == NULL)
			return -ENOMEM;
		writer->ids = ids;
		writer->room = sample->location_count * 2;
	}
	for (size_t i = 0; i < sample->location_count; i++)
		writer->ids[i] = pprof_location(&writer->tables, sample->locations[i]);
	return 0;
}

static int put_sample(struct recording_writer *writer, const struct recording_sample *sample)
{
	uint64_t values[] = { sample->count, sample->cpu_ns, sample->wall_ns };
	struct pb_writer *body = &writer->body;
	size_t mark;

	if (find_ids(writer, sample) != 0)
		return -ENOMEM;
	mark = pb_begin(body, PROFILE_SAMPLE);
	pb_packed(body, SAMPLE_LOCATION_ID, writer->ids, sample->location_count);
	pb_packed(body, SAMPLE_VALUE, values, ARRAY_SIZE(values) - !writer->has_wall);
	put_labels(writer, sample);
	pprof_put_number(body, SAMPLE_IS_TRUNCATED, sample->is_truncated);
	pprof_put_number(body, SAMPLE_PROCESS, sample->process);
	pb_end(body, mark);
	return 0;
}

/* ---- extensions ------------------------------------------------------------------------------ */

static void put_place_text(struct pb_writer *message, uint32_t field, const char *text)
{
	if (*text != '\0')
		pb_string(message, field, text);
}

static void put_rate(struct pb_writer *body, const struct recording_process *process,
		     const struct recording_rate *rate)
{
	uint64_t start_ns = process->time_unix_ns;
	size_t mark = pb_begin(body, INFO_RATE);

	if (rate->time_unix_ns > start_ns)
		pb_varint(body, RATE_TIME_NS, rate->time_unix_ns - start_ns);
	pprof_put_number(body, RATE_FROM, rate->from);
	pprof_put_number(body, RATE_TO, rate->to);
	pprof_put_number(body, RATE_COST_PPM, rate->cost_ppm);
	pprof_put_number(body, RATE_BUDGET_PPM, rate->budget_ppm);
	pb_end(body, mark);
}

/* What Info and Process have in common. */
static void put_process(struct pb_writer *body, const struct recording_process *process)
{
	pb_varint(body, INFO_VERSION, 1);
	pprof_put_number(body, INFO_PID, process->pid);
	put_place_text(body, INFO_PROGRAM, process->program);
	put_place_text(body, INFO_CLOCK, process->clock);
	put_place_text(body, INFO_CLOCK_WHY, process->clock_why);
	pprof_put_number(body, INFO_REQUESTED_HZ, process->requested_hz);
	put_place_text(body, INFO_STACKS, process->stacks);
	pprof_put_number(body, INFO_ENDED, process->has_ended);
	put_place_text(body, INFO_GUESTPROF, process->guestprof_version);
	pprof_put_number(body, INFO_OWN_CPU_NS, process->own_cpu_ns);
	pprof_put_number(body, INFO_PROCESS_CPU_NS, process->process_cpu_ns);
	pprof_put_number(body, INFO_BEGAN, process->began_unix_ns);
	for (size_t i = 0; i < process->engine_count; i++)
		pb_string(body, INFO_ENGINES, process->engines[i]);
	pprof_put_number(body, INFO_DELIVERY_NS, process->delivery_ns);
	for (size_t i = 0; i < process->rate_count; i++)
		put_rate(body, process, &process->rates[i]);
}

static void put_info(struct pb_writer *body, const struct recording *recording)
{
	const struct recording_process all = {
		.pid = recording->pid,
		.requested_hz = recording->requested_hz,
		.own_cpu_ns = recording->own_cpu_ns,
		.process_cpu_ns = recording->process_cpu_ns,
		.program = recording->program,
		.clock = recording->clock,
		.clock_why = recording->clock_why,
		.stacks = recording->stacks,
		.guestprof_version = recording->guestprof_version,
		.engines = recording->engines,
		.engine_count = recording->engine_count,
		.has_ended = recording->has_ended,
	};
	size_t mark = pb_begin(body, RECORDING_INFO);

	put_process(body, &all);
	pprof_put_number(body, INFO_INTERVALS_DROPPED, recording->intervals_dropped);
	put_place_text(body, INFO_FILTER, recording->filter);
	pb_end(body, mark);
}

static void put_processes(struct pb_writer *body, const struct recording *recording)
{
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];
		size_t mark = pb_begin(body, RECORDING_PROCESS);

		put_process(body, process);
		pprof_put_number(body, PROCESS_TIME_NANOS, process->time_unix_ns);
		pprof_put_number(body, PROCESS_DURATION_NANOS, process->duration_ns);
		pprof_put_number(body, PROCESS_PERIOD, process->period_ns);
		pb_end(body, mark);
	}
}

static void put_group(struct recording_writer *writer, const struct recording_group *group)
{
	struct pb_writer *body = &writer->body;
	size_t mark = pb_begin(body, RECORDING_GROUP);

	pprof_put_text(&writer->tables, body, GROUP_MODULE, group->module);
	pprof_put_text(&writer->tables, body, GROUP_IDENTITY, group->identity);
	pprof_put_number(body, GROUP_INSTANCES_CREATED, group->instances_created);
	pprof_put_number(body, GROUP_INSTANCES_SAMPLED, group->instances_sampled);
	pprof_put_number(body, GROUP_SAMPLES, group->samples);
	pprof_put_number(body, GROUP_CPU_NS, group->cpu_ns);
	pb_packed(body, GROUP_SAMPLES_BY_STATE, group->samples_by_state, STATE_COUNT);
	pprof_put_number(body, GROUP_WALL_NS, group->wall_ns);
	pprof_put_number(body, GROUP_MERGED, group->merged);
	for (size_t i = 0; i < group->label_count; i++) {
		size_t label = pb_begin(body, GROUP_LABEL);

		pprof_put_text(&writer->tables, body, GROUP_LABEL_KEY, group->labels[i].key);
		pprof_put_text(&writer->tables, body, GROUP_LABEL_VALUE, group->labels[i].value);
		pb_end(body, label);
	}
	pb_end(body, mark);
}

static void put_stats(struct pb_writer *body, const struct recording *recording)
{
	size_t mark = pb_begin(body, RECORDING_STATS);

	for (size_t i = 0; i < recording->stat_count; i++) {
		size_t entry = pb_begin(body, STATS_ENTRY);

		pb_string(body, STATS_ENTRY_NAME, recording->stats[i].name);
		pb_varint(body, STATS_ENTRY_VALUE, recording->stats[i].value);
		pb_end(body, entry);
	}
	pb_end(body, mark);
}

static void put_marks(struct recording_writer *writer, const struct recording *recording)
{
	struct pb_writer *body = &writer->body;

	for (size_t i = 0; i < recording->interval_count; i++) {
		const struct recording_interval *interval = &recording->intervals[i];
		size_t mark = pb_begin(body, RECORDING_INTERVAL);

		pb_string(body, INTERVAL_NAME, interval->name);
		pprof_put_number(body, INTERVAL_START_NS, interval->start_ns);
		pprof_put_number(body, INTERVAL_DURATION_NS, interval->duration_ns);
		pprof_put_number(body, INTERVAL_THREAD_ID, interval->thread_id);
		pprof_put_number(body, INTERVAL_PROCESS, interval->process);
		pb_end(body, mark);
	}
	for (size_t i = 0; i < recording->hostcall_count; i++) {
		const struct recording_hostcall *call = &recording->hostcalls[i];
		size_t mark = pb_begin(body, RECORDING_HOSTCALL);

		pprof_put_text(&writer->tables, body, HOSTCALL_NAME, call->name);
		pprof_put_text(&writer->tables, body, HOSTCALL_MODULE, call->module);
		pprof_put_text(&writer->tables, body, HOSTCALL_IDENTITY, call->identity);
		pprof_put_number(body, HOSTCALL_COUNT, call->count);
		pprof_put_number(body, HOSTCALL_TOTAL_NS, call->total_ns);
		pprof_put_number(body, HOSTCALL_LONGEST_NS, call->longest_ns);
		pb_end(body, mark);
	}
	for (size_t i = 0; i < recording->life_count; i++) {
		const struct recording_life *life = &recording->lives[i];
		size_t mark = pb_begin(body, RECORDING_LIFE);

		pprof_put_text(&writer->tables, body, LIFE_MODULE, life->module);
		pprof_put_text(&writer->tables, body, LIFE_INSTANCE, life->instance);
		pprof_put_number(body, LIFE_START_NS, life->start_ns);
		pprof_put_number(body, LIFE_END_NS, life->end_ns);
		pprof_put_number(body, LIFE_PROCESS, life->process);
		pb_end(body, mark);
	}
}

/* ---- the file -------------------------------------------------------------------------------- */

static int put_all(struct recording_writer *writer, const struct recording *recording)
{
	int error = 0;

	for (size_t i = 0; i < recording->sample_count; i++)
		writer->has_wall |= recording->samples[i].wall_ns != 0;
	pprof_put_head(&writer->tables, &writer->head, writer->has_wall);
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = put_sample(writer, &recording->samples[i]);
	for (size_t i = 0; i < recording->group_count; i++)
		put_group(writer, &recording->groups[i]);
	put_marks(writer, recording);
	if (recording->is_ours) {
		put_info(&writer->body, recording);
		put_stats(&writer->body, recording);
	}
	if (recording->is_ours || recording->process_count > 1)
		put_processes(&writer->body, recording);
	return error;
}

int pprof_write_recording(const struct recording *recording, struct output *output)
{
	struct recording_writer writer = { 0 };
	int error = pprof_tables_begin(&writer.tables, recording, true);

	if (error == 0)
		error = put_all(&writer, recording);
	if (error == 0)
		error = pprof_tables_write(&writer.tables, &writer.head, &writer.body, output);
	pprof_tables_free(&writer.tables);
	pb_free(&writer.head);
	pb_free(&writer.body);
	free(writer.ids);
	return error;
}
