/* SPDX-License-Identifier: MIT */
/* chunk.c - a chunk of rows becomes protobuf fields, page by page. Threads: one per writer. */
#include "preload/encode/chunk.h"

#include "preload/base/stats.h"
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"

#include <string.h>

/* Tag and length of the shortest pad: a smaller rest of a page cannot be filled. */
enum { SHORTEST_PAD = 3, HEADER_MAX = 16 };

/* Proto3 leaves zeros out. */
static void add_number(struct pb_writer *message, uint32_t field, uint64_t value)
{
	if (value != 0)
		pb_varint(message, field, value);
}

static void add_text(struct pb_writer *message, uint32_t field, const char *text)
{
	if (text != NULL && *text != '\0')
		pb_string(message, field, text);
}

/* A field of SIZE bytes at most is about to be added: it starts a new page rather than cross one.
 */
static void make_room(struct pb_writer *out, size_t size)
{
	size_t room = RECORDING_PAGE - out->size % RECORDING_PAGE;

	if (size + SHORTEST_PAD > room)
		pb_pad(out, RECORDING_PAD, RECORDING_PAGE);
}

/* Adds MESSAGE as one field, and empties it. */
static void add_message(struct pb_writer *out, uint32_t field, struct pb_writer *message)
{
	if (message->error != 0)
		out->error = message->error;
	make_room(out, message->size + HEADER_MAX);
	pb_bytes(out, field, message->bytes, message->size);
	message->size = 0;
}

static void add_top_number(struct pb_writer *out, uint32_t field, uint64_t value)
{
	make_room(out, 2 * HEADER_MAX);
	pb_varint(out, field, value);
}

static void add_value_type(struct pb_writer *out, struct pb_writer *message, uint32_t field,
			   uint64_t type, uint64_t unit)
{
	pb_varint(message, VALUE_TYPE_TYPE, type);
	pb_varint(message, VALUE_TYPE_UNIT, unit);
	add_message(out, field, message);
}

static void add_strings(struct pb_writer *out, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->string_count; i++) {
		size_t size = strlen(chunk->strings[i]);

		make_room(out, size + HEADER_MAX);
		pb_bytes(out, PROFILE_STRING_TABLE, chunk->strings[i], size);
	}
}

static void add_head(struct pb_writer *out, struct pb_writer *message,
		     const struct chunk_head *head, bool has_wall)
{
	add_value_type(out, message, PROFILE_SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
	add_value_type(out, message, PROFILE_SAMPLE_TYPE, STRING_CPU, STRING_NANOSECONDS);
	if (has_wall)
		add_value_type(out, message, PROFILE_SAMPLE_TYPE, STRING_WALL, STRING_NANOSECONDS);
	add_value_type(out, message, PROFILE_PERIOD_TYPE, STRING_CPU, STRING_NANOSECONDS);
	add_top_number(out, PROFILE_PERIOD, head->period_ns);
	add_top_number(out, PROFILE_DEFAULT_SAMPLE_TYPE, STRING_CPU);
	add_top_number(out, PROFILE_TIME_NANOS, head->start_unix_ns);
}

static void add_mapping(struct pb_writer *message, const struct chunk_mapping *mapping)
{
	pb_varint(message, MAPPING_ID, mapping->id);
	add_number(message, MAPPING_MEMORY_START, mapping->start);
	add_number(message, MAPPING_MEMORY_LIMIT, mapping->limit);
	add_number(message, MAPPING_FILENAME, mapping->filename);
	add_number(message, MAPPING_BUILD_ID, mapping->build_id);
	pb_varint(message, MAPPING_HAS_FUNCTIONS, 1);
	add_number(message, MAPPING_LOADING, mapping->loading);
	add_number(message, MAPPING_ENGINE, mapping->engine);
	add_number(message, MAPPING_NAME_ORIGIN, mapping->name_origin);
	add_number(message, MAPPING_IDENTITY_KIND, mapping->identity_is_wasm);
	add_number(message, MAPPING_FUNCTION_COUNT, mapping->function_count);
	add_number(message, MAPPING_CODE, mapping->code);
	add_number(message, MAPPING_IMAGE, mapping->image);
	add_number(message, MAPPING_BUILD_ID_SECTION, mapping->build_id_section);
	add_number(message, MAPPING_CODE_OFFSET, mapping->code_offset);
	add_number(message, MAPPING_PATH, mapping->path);
	if (mapping->layout != NULL)
		pb_bytes(message, MAPPING_LAYOUT, mapping->layout, mapping->layout_size);
	if (mapping->debug != NULL) {
		pb_varint(message, MAPPING_DEBUG_SIZE, mapping->debug_inflated_size);
		pb_bytes(message, MAPPING_DEBUG, mapping->debug, mapping->debug_size);
	}
}

static void add_function(struct pb_writer *message, const struct chunk_function *function)
{
	pb_varint(message, FUNCTION_ID, function->id);
	add_number(message, FUNCTION_NAME, function->name);
	add_number(message, FUNCTION_SYSTEM_NAME, function->system_name);
	add_number(message, FUNCTION_FILENAME, function->filename);
	if (function->wasm_index != UINT32_MAX)
		pb_varint(message, FUNCTION_WASM_INDEX, (uint64_t)function->wasm_index + 1);
	add_number(message, FUNCTION_CORE, function->core);
}

static void add_location(struct pb_writer *message, const struct chunk_location *location)
{
	size_t line;

	pb_varint(message, LOCATION_ID, location->id);
	add_number(message, LOCATION_MAPPING_ID, location->mapping);
	add_number(message, LOCATION_ADDRESS, location->address);
	if (location->function != 0) {
		line = pb_begin(message, LOCATION_LINE);
		pb_varint(message, LINE_FUNCTION_ID, location->function);
		pb_end(message, line);
	}
	add_number(message, LOCATION_KIND, location->kind);
	add_number(message, LOCATION_ADDRESS_IS_WASM, location->address_is_wasm);
	add_number(message, LOCATION_IMPORTER, location->importer);
	add_number(message, LOCATION_IS_GUESS, location->is_guess);
}

static void add_label(struct pb_writer *message, uint64_t key, uint64_t string)
{
	size_t label;

	if (string == 0)
		return;
	label = pb_begin(message, SAMPLE_LABEL);
	pb_varint(message, LABEL_KEY, key);
	pb_varint(message, LABEL_STRING, string);
	pb_end(message, label);
}

static void add_number_label(struct pb_writer *message, uint64_t key, uint64_t value, uint64_t unit)
{
	size_t label = pb_begin(message, SAMPLE_LABEL);

	pb_varint(message, LABEL_KEY, key);
	pb_varint(message, LABEL_NUMBER, value);
	add_number(message, LABEL_UNIT, unit);
	pb_end(message, label);
}

static void add_sample(struct pb_writer *message, const struct chunk_sample *sample, bool has_wall)
{
	uint64_t values[] = { sample->count, sample->cpu_ns, sample->wall_ns };

	pb_packed(message, SAMPLE_LOCATION_ID, sample->locations, sample->location_count);
	pb_packed(message, SAMPLE_VALUE, values, ARRAY_SIZE(values) - !has_wall);
	add_label(message, STRING_WASM_MODULE, sample->module);
	add_label(message, STRING_WASM_INSTANCE, sample->instance);
	add_label(message, STRING_WASM_STATE, sample->state);
	add_label(message, STRING_THREAD_NAME, sample->thread_name);
	if (sample->thread_id != 0)
		add_number_label(message, STRING_THREAD_ID, sample->thread_id, 0);
	for (size_t i = 0; i < sample->label_count; i++)
		add_label(message, sample->labels[i].key, sample->labels[i].value);
	if (sample->has_descriptor)
		add_number_label(message, STRING_DESCRIPTOR, sample->descriptor, 0);
	add_number_label(message, STRING_TIME, sample->time_ns, STRING_NANOSECONDS);
	add_number(message, SAMPLE_IS_TRUNCATED, sample->is_truncated);
}

static void add_group(struct pb_writer *message, const struct chunk_group *group)
{
	add_number(message, GROUP_MODULE, group->module);
	add_number(message, GROUP_IDENTITY, group->identity);
	add_number(message, GROUP_INSTANCES_CREATED, group->instances_created);
	add_number(message, GROUP_INSTANCES_SAMPLED, group->instances_sampled);
	add_number(message, GROUP_SAMPLES, group->samples);
	add_number(message, GROUP_CPU_NS, group->cpu_ns);
	pb_packed(message, GROUP_SAMPLES_BY_STATE, group->samples_by_state, STATE_COUNT);
	add_number(message, GROUP_WALL_NS, group->wall_ns);
	add_number(message, GROUP_INTO, group->into);
	add_number(message, GROUP_MERGED, group->merged);
	for (size_t i = 0; i < group->label_count; i++) {
		size_t label = pb_begin(message, GROUP_LABEL);

		pb_varint(message, GROUP_LABEL_KEY, group->labels[i].key);
		pb_varint(message, GROUP_LABEL_VALUE, group->labels[i].value);
		pb_end(message, label);
	}
}

static void add_tables(struct pb_writer *out, struct pb_writer *message, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->mapping_count; i++) {
		add_mapping(message, &chunk->mappings[i]);
		add_message(out, PROFILE_MAPPING, message);
	}
	for (size_t i = 0; i < chunk->function_count; i++) {
		add_function(message, &chunk->functions[i]);
		add_message(out, PROFILE_FUNCTION, message);
	}
	for (size_t i = 0; i < chunk->location_count; i++) {
		add_location(message, &chunk->locations[i]);
		add_message(out, PROFILE_LOCATION, message);
	}
}

static void add_numbers(struct pb_writer *out, struct pb_writer *message, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->sample_count; i++) {
		add_sample(message, &chunk->samples[i], chunk->has_wall);
		add_message(out, PROFILE_SAMPLE, message);
	}
	for (size_t i = 0; i < chunk->group_count; i++) {
		add_group(message, &chunk->groups[i]);
		add_message(out, RECORDING_GROUP, message);
	}
	add_top_number(out, PROFILE_DURATION_NANOS, chunk->duration_ns);
}

/* INFO is whole fields, so one more may follow them. */
static void add_info(struct pb_writer *out, struct pb_writer *info, bool has_ended)
{
	size_t size = info->size;

	add_number(info, INFO_ENDED, has_ended);
	add_message(out, RECORDING_INFO, info);
	info->size = size;
}

static uint64_t counter(enum stat_id which, const struct chunk_stats *counters)
{
	if (stat_is_of_process(which))
		return stat_get(which);
	if (counters != NULL && counters->own != NULL)
		return counters->own[which];
	return stat_get(which) -
	       (counters != NULL && counters->before != NULL ? counters->before[which] : 0);
}

static void add_stats(struct pb_writer *out, struct pb_writer *message,
		      const struct chunk_stats *counters)
{
	for (enum stat_id i = 0; i < STAT_COUNT; i++) {
		size_t entry = pb_begin(message, STATS_ENTRY);

		pb_string(message, STATS_ENTRY_NAME, stat_names[i]);
		pb_varint(message, STATS_ENTRY_VALUE, counter(i, counters));
		pb_end(message, entry);
	}
	add_message(out, RECORDING_STATS, message);
}

static void add_intervals(struct pb_writer *out, struct pb_writer *message,
			  const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->interval_count; i++) {
		const struct chunk_interval *interval = &chunk->intervals[i];

		pb_string(message, INTERVAL_NAME, interval->name);
		add_number(message, INTERVAL_START_NS, interval->start_ns);
		add_number(message, INTERVAL_DURATION_NS, interval->duration_ns);
		add_number(message, INTERVAL_THREAD_ID, interval->thread_id);
		add_message(out, RECORDING_INTERVAL, message);
	}
}

static void add_hostcalls(struct pb_writer *out, struct pb_writer *message,
			  const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->hostcall_count; i++) {
		const struct chunk_hostcall *call = &chunk->hostcalls[i];

		add_number(message, HOSTCALL_NAME, call->name);
		add_number(message, HOSTCALL_MODULE, call->module);
		add_number(message, HOSTCALL_IDENTITY, call->identity);
		add_number(message, HOSTCALL_COUNT, call->count);
		add_number(message, HOSTCALL_TOTAL_NS, call->total_ns);
		add_number(message, HOSTCALL_LONGEST_NS, call->longest_ns);
		add_message(out, RECORDING_HOSTCALL, message);
	}
}

static void add_lives(struct pb_writer *out, struct pb_writer *message, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->life_count; i++) {
		const struct chunk_life *life = &chunk->lives[i];

		add_number(message, LIFE_MODULE, life->module);
		add_number(message, LIFE_INSTANCE, life->instance);
		add_number(message, LIFE_START_NS, life->start_ns);
		add_number(message, LIFE_END_NS, life->end_ns);
		add_message(out, RECORDING_LIFE, message);
	}
}

static void add_rates(struct pb_writer *message, const struct writer_info *info)
{
	for (size_t i = 0; i < info->rate_count; i++) {
		const struct writer_rate *rate = &info->rates[i];
		size_t mark = pb_begin(message, INFO_RATE);

		add_number(message, RATE_TIME_NS, rate->time_ns);
		add_number(message, RATE_FROM, rate->from);
		add_number(message, RATE_TO, rate->to);
		add_number(message, RATE_COST_PPM, rate->cost_ppm);
		add_number(message, RATE_BUDGET_PPM, rate->budget_ppm);
		pb_end(message, mark);
	}
}

void chunk_encode_info(struct pb_writer *message, uint64_t pid, const char *program,
		       const struct writer_info *info)
{
	pb_varint(message, INFO_VERSION, 1);
	pb_varint(message, INFO_PID, pid);
	add_text(message, INFO_PROGRAM, program);
	add_text(message, INFO_CLOCK, info->clock_name);
	add_text(message, INFO_CLOCK_WHY, info->clock_why);
	add_number(message, INFO_REQUESTED_HZ, info->requested_hz);
	add_text(message, INFO_STACKS, info->stacks);
	add_text(message, INFO_NAME, info->name);
	add_number(message, INFO_INTERVALS_DROPPED, info->intervals_dropped);
	add_text(message, INFO_GUESTPROF, RECORDING_LIBRARY_VERSION);
	add_number(message, INFO_OWN_CPU_NS, info->own_cpu_ns);
	add_number(message, INFO_PROCESS_CPU_NS, info->process_cpu_ns);
	add_number(message, INFO_BEGAN, info->began_unix_ns);
	for (size_t i = 0; i < info->engine_count; i++)
		pb_string(message, INFO_ENGINES, info->engines[i]);
	add_number(message, INFO_DELIVERY_NS, info->delivery_ns);
	add_rates(message, info);
}

void chunk_encode(struct pb_writer *out, const struct chunk *chunk, struct pb_writer *info,
		  const struct chunk_head *head)
{
	const struct chunk_stats counters = { chunk->stats, chunk->stats_before };
	struct pb_writer message = { 0 };

	add_strings(out, chunk);
	if (head != NULL)
		add_head(out, &message, head, chunk->has_wall);
	add_info(out, info, false);
	add_tables(out, &message, chunk);
	add_numbers(out, &message, chunk);
	add_intervals(out, &message, chunk);
	add_hostcalls(out, &message, chunk);
	add_lives(out, &message, chunk);
	add_stats(out, &message, &counters);
	pb_pad(out, RECORDING_PAD, RECORDING_PAGE);
	pb_free(&message);
}

void chunk_encode_end(struct pb_writer *out, struct pb_writer *info,
		      const struct chunk_stats *counters)
{
	struct pb_writer message = { 0 };

	add_info(out, info, true);
	add_stats(out, &message, counters);
	pb_pad(out, RECORDING_PAD, RECORDING_PAGE);
	pb_free(&message);
}
