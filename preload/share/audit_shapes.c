/* SPDX-License-Identifier: MIT */
/* audit_shapes.c - fields of google/pprof's proto/profile.proto and of recording.h. Threads: any.
 */
#include "preload/share/audit_shapes.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"

#define SHAPE(name, rules)                     \
	{                                      \
		name, rules, ARRAY_SIZE(rules) \
	}

static const struct shape_rule value_type_rules[] = {
	{ VALUE_TYPE_TYPE, ROLE_STRING, .repeats = false },
	{ VALUE_TYPE_UNIT, ROLE_STRING, .repeats = false },
};
static const struct shape value_type = SHAPE("sample type", value_type_rules);

static const struct shape_rule label_rules[] = {
	{ LABEL_KEY, ROLE_STRING, .repeats = false },
	{ LABEL_STRING, ROLE_STRING, .repeats = false },
	{ LABEL_NUMBER, ROLE_NUMBER, .repeats = false },
	{ LABEL_UNIT, ROLE_STRING, .repeats = false },
};
static const struct shape label = SHAPE("label", label_rules);

static const struct shape_rule sample_rules[] = {
	{ SAMPLE_LOCATION_ID, ROLE_REFERENCES, true, TABLE_LOCATION, NULL },
	{ SAMPLE_VALUE, ROLE_NUMBERS, .repeats = true },
	{ SAMPLE_LABEL, ROLE_MESSAGE, .repeats = true, .message = &label },
	{ SAMPLE_IS_TRUNCATED, ROLE_NUMBER, .repeats = false },
};
static const struct shape sample = SHAPE("sample", sample_rules);

static const struct shape_rule mapping_rules[] = {
	{ MAPPING_ID, ROLE_ID, .table = TABLE_MAPPING },
	{ MAPPING_FILENAME, ROLE_STRING, .repeats = false },
	{ MAPPING_BUILD_ID, ROLE_STRING, .repeats = false },
	{ MAPPING_HAS_FUNCTIONS, ROLE_NUMBER, .repeats = false },
	{ MAPPING_IDENTITY_KIND, ROLE_NUMBER, .repeats = false },
	{ MAPPING_FUNCTION_COUNT, ROLE_NUMBER, .repeats = false },
	{ MAPPING_CODE, ROLE_STRING, .repeats = false },
	{ MAPPING_BUILD_ID_SECTION, ROLE_STRING, .repeats = false },
	{ MAPPING_CODE_OFFSET, ROLE_NUMBER, .repeats = false },
	{ MAPPING_LAYOUT, ROLE_BYTES, .repeats = false },
	{ MAPPING_DEBUG_SIZE, ROLE_DEBUG, .repeats = false },
	{ MAPPING_DEBUG, ROLE_DEBUG, .repeats = false },
};
static const struct shape mapping = SHAPE("mapping", mapping_rules);

static const struct shape_rule line_rules[] = {
	{ LINE_FUNCTION_ID, ROLE_REFERENCE, .table = TABLE_FUNCTION },
	{ LINE_LINE, ROLE_NUMBER, .repeats = false },
	{ LINE_COLUMN, ROLE_NUMBER, .repeats = false },
};
static const struct shape line = SHAPE("line", line_rules);

static const struct shape_rule location_rules[] = {
	{ LOCATION_ID, ROLE_ID, .table = TABLE_LOCATION },
	{ LOCATION_MAPPING_ID, ROLE_REFERENCE, .table = TABLE_MAPPING },
	{ LOCATION_ADDRESS, ROLE_NUMBER, .repeats = false },
	{ LOCATION_LINE, ROLE_MESSAGE, .repeats = true, .message = &line },
	{ LOCATION_KIND, ROLE_NUMBER, .repeats = false },
	{ LOCATION_ADDRESS_IS_WASM, ROLE_NUMBER, .repeats = false },
	{ LOCATION_IMPORTER, ROLE_REFERENCE, .table = TABLE_MAPPING },
};
static const struct shape location = SHAPE("location", location_rules);

static const struct shape_rule function_rules[] = {
	{ FUNCTION_ID, ROLE_ID, .table = TABLE_FUNCTION },
	{ FUNCTION_NAME, ROLE_STRING, .repeats = false },
	{ FUNCTION_SYSTEM_NAME, ROLE_STRING, .repeats = false },
	{ FUNCTION_FILENAME, ROLE_STRING, .repeats = false },
	{ FUNCTION_START_LINE, ROLE_NUMBER, .repeats = false },
	{ FUNCTION_WASM_INDEX, ROLE_NUMBER, .repeats = false },
	{ FUNCTION_CORE, ROLE_NUMBER, .repeats = false },
};
static const struct shape function = SHAPE("function", function_rules);

static const struct shape_rule info_rules[] = {
	{ INFO_VERSION, ROLE_NUMBER, .repeats = false },
	{ INFO_REQUESTED_HZ, ROLE_NUMBER, .repeats = false },
	{ INFO_STACKS, ROLE_TEXT, .repeats = false },
	{ INFO_ENDED, ROLE_NUMBER, .repeats = false },
};
static const struct shape info = SHAPE("info", info_rules);

static const struct shape_rule entry_rules[] = {
	{ STATS_ENTRY_NAME, ROLE_TEXT, .repeats = false },
	{ STATS_ENTRY_VALUE, ROLE_NUMBER, .repeats = false },
};
static const struct shape entry = SHAPE("counter", entry_rules);

static const struct shape_rule stats_rules[] = {
	{ STATS_ENTRY, ROLE_MESSAGE, .repeats = true, .message = &entry },
};
static const struct shape stats = SHAPE("counters", stats_rules);

static const struct shape_rule group_label_rules[] = {
	{ GROUP_LABEL_KEY, ROLE_STRING, .repeats = false },
	{ GROUP_LABEL_VALUE, ROLE_STRING, .repeats = false },
};
static const struct shape group_label = SHAPE("label", group_label_rules);

static const struct shape_rule group_rules[] = {
	{ GROUP_MODULE, ROLE_STRING, .repeats = false },
	{ GROUP_IDENTITY, ROLE_STRING, .repeats = false },
	{ GROUP_INSTANCES_CREATED, ROLE_NUMBER, .repeats = false },
	{ GROUP_INSTANCES_SAMPLED, ROLE_NUMBER, .repeats = false },
	{ GROUP_SAMPLES, ROLE_NUMBER, .repeats = false },
	{ GROUP_CPU_NS, ROLE_NUMBER, .repeats = false },
	{ GROUP_SAMPLES_BY_STATE, ROLE_NUMBERS, .repeats = false },
	{ GROUP_WALL_NS, ROLE_NUMBER, .repeats = false },
	{ GROUP_LABEL, ROLE_MESSAGE, .repeats = true, .message = &group_label },
};
static const struct shape group = SHAPE("group", group_rules);

static const struct shape_rule profile_rules[] = {
	{ PROFILE_STRING_TABLE, ROLE_BYTES, .repeats = true },
	{ PROFILE_SAMPLE_TYPE, ROLE_MESSAGE, .repeats = true, .message = &value_type },
	{ PROFILE_DURATION_NANOS, ROLE_NUMBER, .repeats = false },
	{ PROFILE_PERIOD_TYPE, ROLE_MESSAGE, .repeats = false, .message = &value_type },
	{ PROFILE_PERIOD, ROLE_NUMBER, .repeats = false },
	{ PROFILE_DEFAULT_SAMPLE_TYPE, ROLE_STRING, .repeats = false },
	{ RECORDING_INFO, ROLE_MESSAGE, .repeats = false, .message = &info },
	{ PROFILE_MAPPING, ROLE_MESSAGE, .repeats = true, .message = &mapping },
	{ PROFILE_FUNCTION, ROLE_MESSAGE, .repeats = true, .message = &function },
	{ PROFILE_LOCATION, ROLE_MESSAGE, .repeats = true, .message = &location },
	{ PROFILE_SAMPLE, ROLE_MESSAGE, .repeats = true, .message = &sample },
	{ RECORDING_GROUP, ROLE_MESSAGE, .repeats = true, .message = &group },
	{ RECORDING_STATS, ROLE_MESSAGE, .repeats = false, .message = &stats },
};
const struct shape audit_shapes_profile = SHAPE("profile", profile_rules);

const struct shape_rule *audit_shapes_find(const struct shape *shape, uint32_t number)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (shape->rules[i].number == number)
			return &shape->rules[i];
	}
	return NULL;
}
