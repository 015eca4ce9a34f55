/* SPDX-License-Identifier: MIT */
/* shared_encode.c - a shared file's rows as protobuf fields, in one order. Threads: any. */
#include "preload/share/shared.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/names.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct encoding {
	const struct shared *shared;
	struct names strings;	     /* numbered at their first use */
	struct pb_writer body, text; /* text: scratch */
};

static uint64_t string_of(struct encoding *encoding, const char *text)
{
	uint32_t id = names_id(&encoding->strings, text);

	if (id == NAMES_NONE)
		encoding->body.error = -ENOMEM;
	return id;
}

/* Proto3 leaves zeros out. */
static void add_number(struct encoding *encoding, uint32_t field, uint64_t value)
{
	if (value != 0)
		pb_varint(&encoding->body, field, value);
}

static void add_string(struct encoding *encoding, uint32_t field, const char *text)
{
	add_number(encoding, field, string_of(encoding, text));
}

static void add_value_type(struct encoding *encoding, uint32_t field, const char *type,
			   const char *unit)
{
	size_t mark = pb_begin(&encoding->body, field);

	add_string(encoding, VALUE_TYPE_TYPE, type);
	add_string(encoding, VALUE_TYPE_UNIT, unit);
	pb_end(&encoding->body, mark);
}

static void add_head(struct encoding *encoding)
{
	const struct shared *shared = encoding->shared;
	size_t mark;

	add_value_type(encoding, PROFILE_SAMPLE_TYPE, "samples", "count");
	add_value_type(encoding, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	if (shared->has_wall)
		add_value_type(encoding, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
	add_number(encoding, PROFILE_DURATION_NANOS, shared->duration_ns);
	add_value_type(encoding, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	add_number(encoding, PROFILE_PERIOD, shared->period_ns);
	add_number(encoding, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(encoding, "cpu"));
	mark = pb_begin(&encoding->body, RECORDING_INFO);
	pb_varint(&encoding->body, INFO_VERSION, 1);
	add_number(encoding, INFO_REQUESTED_HZ, shared->requested_hz);
	pb_string(&encoding->body, INFO_STACKS, shared->stacks);
	pb_varint(&encoding->body, INFO_ENDED, 1);
	pb_end(&encoding->body, mark);
}

/* What tells which module it is, and what is needed to name its functions later. */
static void add_identity(struct encoding *encoding, const struct shared_module *module)
{
	const struct recording_mapping *mapping = module->mapping;
	struct pb_writer *body = &encoding->body;

	add_number(encoding, MAPPING_IDENTITY_KIND, mapping->identity_is_wasm);
	add_number(encoding, MAPPING_FUNCTION_COUNT, mapping->function_count);
	add_string(encoding, MAPPING_CODE, mapping->code);
	add_string(encoding, MAPPING_BUILD_ID_SECTION, mapping->build_id_section);
	add_number(encoding, MAPPING_CODE_OFFSET, mapping->code_offset);
	if (module->layout != NULL)
		pb_bytes(body, MAPPING_LAYOUT, module->layout->layout, module->layout->layout_size);
	if (module->debug != NULL && encoding->shared->has_debug) {
		pb_varint(body, MAPPING_DEBUG_SIZE, module->debug->debug_inflated_size);
		pb_bytes(body, MAPPING_DEBUG, module->debug->debug, module->debug->debug_size);
	}
}

static void add_mapping(struct encoding *encoding, uint32_t index)
{
	const struct shared_module *module = &encoding->shared->modules[index];
	size_t mark = pb_begin(&encoding->body, PROFILE_MAPPING);

	pb_varint(&encoding->body, MAPPING_ID, index + 1);
	add_string(encoding, MAPPING_FILENAME, module->name);
	add_string(encoding, MAPPING_BUILD_ID, module->identity);
	pb_varint(&encoding->body, MAPPING_HAS_FUNCTIONS, 1);
	if (module->mapping != NULL)
		add_identity(encoding, module);
	pb_end(&encoding->body, mark);
}

static void add_function(struct encoding *encoding, const struct shared_function *function)
{
	size_t mark = pb_begin(&encoding->body, PROFILE_FUNCTION);

	pb_varint(&encoding->body, FUNCTION_ID, function->id);
	add_string(encoding, FUNCTION_NAME, function->name);
	add_string(encoding, FUNCTION_SYSTEM_NAME, function->system_name);
	add_string(encoding, FUNCTION_FILENAME, function->filename);
	add_number(encoding, FUNCTION_START_LINE, (uint64_t)function->start_line);
	if (function->wasm_index != UINT32_MAX)
		pb_varint(&encoding->body, FUNCTION_WASM_INDEX, (uint64_t)function->wasm_index + 1);
	if (function->core != UINT32_MAX)
		add_number(encoding, FUNCTION_CORE, function->core);
	pb_end(&encoding->body, mark);
}

static void add_location(struct encoding *encoding, const struct shared_location *location)
{
	size_t mark = pb_begin(&encoding->body, PROFILE_LOCATION), line_mark;

	pb_varint(&encoding->body, LOCATION_ID, location->id);
	if (location->module != SHARED_NONE)
		pb_varint(&encoding->body, LOCATION_MAPPING_ID, location->module + 1);
	add_number(encoding, LOCATION_ADDRESS, location->address);
	for (size_t i = 0; i < location->line_count; i++) {
		line_mark = pb_begin(&encoding->body, LOCATION_LINE);
		pb_varint(&encoding->body, LINE_FUNCTION_ID, location->lines[i].function->id);
		add_number(encoding, LINE_LINE, (uint64_t)location->lines[i].line);
		add_number(encoding, LINE_COLUMN, (uint64_t)location->lines[i].column);
		pb_end(&encoding->body, line_mark);
	}
	add_number(encoding, LOCATION_KIND, location->kind);
	add_number(encoding, LOCATION_ADDRESS_IS_WASM, location->address_is_wasm);
	if (location->importer != SHARED_NONE)
		pb_varint(&encoding->body, LOCATION_IMPORTER, location->importer + 1);
	pb_end(&encoding->body, mark);
}

static void add_label(struct encoding *encoding, const char *key, const char *value)
{
	size_t mark = pb_begin(&encoding->body, SAMPLE_LABEL);

	add_string(encoding, LABEL_KEY, key);
	add_string(encoding, LABEL_STRING, value);
	pb_end(&encoding->body, mark);
}

/* The first sample's is 0, and there all the same: so a file says whether it has times. */
static void add_time(struct encoding *encoding, uint64_t tick)
{
	size_t mark = pb_begin(&encoding->body, SAMPLE_LABEL);

	add_string(encoding, LABEL_KEY, "time");
	pb_varint(&encoding->body, LABEL_NUMBER, tick * SHARED_TICK_NS);
	add_string(encoding, LABEL_UNIT, "nanoseconds");
	pb_end(&encoding->body, mark);
}

static void add_instance(struct encoding *encoding, const struct shared_sample *sample)
{
	const char *module = encoding->shared->modules[sample->module].name;
	struct pb_writer *text = &encoding->text;
	const char *certainty = sample->certainty == TOTALS_LIKELY ? CHUNK_LIKELY : "";
	char number[32];

	if (sample->instance == 0)
		return;
	if (sample->certainty == TOTALS_MODULE_ONLY)
		snprintf(number, sizeof(number), "%s", CHUNK_MODULE_ONLY);
	else if (sample->instance == SHARED_UNNAMED)
		snprintf(number, sizeof(number), "#*%s", certainty);
	else
		snprintf(number, sizeof(number), "#%" PRIu32 "%s", sample->instance, certainty);
	text->size = 0;
	pb_append(text, module, strlen(module));
	pb_append(text, number, strlen(number) + 1);
	if (text->error != 0)
		encoding->body.error = text->error;
	else
		add_label(encoding, "wasm_instance", (const char *)text->bytes);
}

static void add_sample(struct encoding *encoding, const struct shared_sample *sample)
{
	const struct shared *shared = encoding->shared;
	uint64_t values[] = { sample->count, sample->cpu_ns, sample->wall_ns };
	size_t mark = pb_begin(&encoding->body, PROFILE_SAMPLE);

	pb_packed(&encoding->body, SAMPLE_LOCATION_ID, sample->locations, sample->location_count);
	pb_packed(&encoding->body, SAMPLE_VALUE, values, ARRAY_SIZE(values) - !shared->has_wall);
	add_label(encoding, "wasm_module", shared->modules[sample->module].name);
	add_instance(encoding, sample);
	add_label(encoding, "wasm_state", chunk_state_name(sample->state));
	for (size_t i = 0; i < sample->label_count; i++)
		add_label(encoding, sample->labels[i].key, sample->labels[i].value);
	if (shared->has_time)
		add_time(encoding, sample->tick);
	add_number(encoding, SAMPLE_IS_TRUNCATED, sample->is_truncated);
	pb_end(&encoding->body, mark);
}

static void add_group(struct encoding *encoding, const struct shared_module *module)
{
	size_t mark = pb_begin(&encoding->body, RECORDING_GROUP), label;

	add_string(encoding, GROUP_MODULE, module->name);
	add_string(encoding, GROUP_IDENTITY, module->identity);
	add_number(encoding, GROUP_INSTANCES_CREATED, module->instances_created);
	add_number(encoding, GROUP_INSTANCES_SAMPLED, module->instances_sampled);
	add_number(encoding, GROUP_SAMPLES, module->samples);
	add_number(encoding, GROUP_CPU_NS, module->cpu_ns);
	pb_packed(&encoding->body, GROUP_SAMPLES_BY_STATE, module->samples_by_state, STATE_COUNT);
	add_number(encoding, GROUP_WALL_NS, module->wall_ns);
	for (size_t i = 0; i < module->label_count; i++) {
		label = pb_begin(&encoding->body, GROUP_LABEL);
		add_string(encoding, GROUP_LABEL_KEY, module->labels[i].key);
		add_string(encoding, GROUP_LABEL_VALUE, module->labels[i].value);
		pb_end(&encoding->body, label);
	}
	pb_end(&encoding->body, mark);
}

static void add_entry(struct encoding *encoding, const char *name, uint64_t value)
{
	size_t mark = pb_begin(&encoding->body, STATS_ENTRY);

	pb_string(&encoding->body, STATS_ENTRY_NAME, name);
	pb_varint(&encoding->body, STATS_ENTRY_VALUE, value);
	pb_end(&encoding->body, mark);
}

static void add_stats(struct encoding *encoding)
{
	const struct shared *shared = encoding->shared;
	size_t mark = pb_begin(&encoding->body, RECORDING_STATS);

	add_entry(encoding, "samples", shared->samples);
	add_entry(encoding, "lost_memory", shared->lost);
	add_entry(encoding, "truncated", shared->truncated);
	add_entry(encoding, "unnamed", shared->unnamed);
	pb_end(&encoding->body, mark);
}

static void add_body(struct encoding *encoding)
{
	const struct shared *shared = encoding->shared;

	string_of(encoding, "");
	add_head(encoding);
	for (size_t i = 0; i < shared->module_count; i++)
		add_mapping(encoding, (uint32_t)i);
	for (size_t i = 0; i < shared->function_count; i++)
		add_function(encoding, shared->functions[i]);
	for (size_t i = 0; i < shared->location_count; i++)
		add_location(encoding, shared->locations[i]);
	for (size_t i = 0; i < shared->sample_count; i++)
		add_sample(encoding, &shared->samples_list[i]);
	for (size_t i = 0; i < shared->module_count; i++)
		add_group(encoding, &shared->modules[i]);
	add_stats(encoding);
}

void shared_encode(const struct shared *shared, struct pb_writer *out)
{
	struct encoding encoding = { .shared = shared };

	add_body(&encoding);
	for (uint32_t i = 0; i < encoding.strings.count; i++)
		pb_string(out, PROFILE_STRING_TABLE, encoding.strings.texts[i]);
	pb_append(out, encoding.body.bytes, encoding.body.size);
	if (encoding.body.error != 0)
		out->error = encoding.body.error;
	names_free(&encoding.strings);
	pb_free(&encoding.body);
	pb_free(&encoding.text);
}
