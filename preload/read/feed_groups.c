/* SPDX-License-Identifier: MIT */
/* feed_groups.c - the counters of groups, and of the process, in a recording that grows. Threads:
 * one at a time. */
#include "preload/encode/recording.h"
#include "preload/read/feed_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <string.h>

/* What a Group says, by table index. */
struct raw_group {
	uint64_t module, identity, instances_created, cpu_ns, wall_ns;
	uint64_t states[STATE_COUNT];
	size_t state_count, label_count;
	struct {
		uint64_t key, value;
	} labels[RECORDING_LABELS_MAX];
};

static struct pb_reader inside(const struct pb_field *field)
{
	return field->bytes == NULL ? (struct pb_reader){ 0 }
				    : (struct pb_reader){ .at = field->bytes,
							  .end = field->bytes + field->size };
}

static void add_state(void *context, uint64_t value)
{
	struct raw_group *raw = context;

	if (raw->state_count < STATE_COUNT)
		raw->states[raw->state_count++] = value;
}

static void read_label(const struct pb_field *field, struct raw_group *raw)
{
	struct pb_reader message = inside(field);
	struct pb_field part;
	uint64_t key = 0, value = 0;

	while (pb_next(&message, &part)) {
		if (part.number == GROUP_LABEL_KEY)
			key = part.value;
		else if (part.number == GROUP_LABEL_VALUE)
			value = part.value;
	}
	if (raw->label_count < RECORDING_LABELS_MAX) {
		raw->labels[raw->label_count].key = key;
		raw->labels[raw->label_count++].value = value;
	}
}

static bool read_group(const struct pb_field *field, struct raw_group *raw)
{
	struct pb_reader message = inside(field);
	struct pb_field part;

	while (pb_next(&message, &part)) {
		switch (part.number) {
		case GROUP_MODULE:
			raw->module = part.value;
			break;
		case GROUP_IDENTITY:
			raw->identity = part.value;
			break;
		case GROUP_INSTANCES_CREATED:
			raw->instances_created = part.value;
			break;
		case GROUP_CPU_NS:
			raw->cpu_ns = part.value;
			break;
		case GROUP_WALL_NS:
			raw->wall_ns = part.value;
			break;
		case GROUP_SAMPLES_BY_STATE:
			pb_each_varint(&part, add_state, raw);
			break;
		case GROUP_LABEL:
			read_label(&part, raw);
			break;
		default:
			break;
		}
	}
	return message.error == 0;
}

/* String INDEX, a copy in the feed's texts; "" when there is none, or no memory. */
static const char *text_of(struct feed *feed, uint64_t index)
{
	const char *text = NULL;

	if (index < feed->string_count)
		text = arena_text(&feed->texts, feed->tables.bytes + feed->strings[index].at,
				  feed->strings[index].size);
	return text != NULL ? text : "";
}

static void name_group(struct feed *feed, struct feed_group *group, const struct raw_group *raw)
{
	struct recording_label *labels =
		arena_alloc(&feed->texts, raw->label_count, sizeof(*labels));

	group->module = text_of(feed, raw->module);
	group->labels = labels;
	for (size_t i = 0; labels != NULL && i < raw->label_count; i++) {
		labels[i].key = text_of(feed, raw->labels[i].key);
		labels[i].value = text_of(feed, raw->labels[i].value);
		group->label_count++;
	}
}

int feed_take_group(struct feed *feed, const struct pb_field *field)
{
	struct raw_group raw = { 0 };
	struct feed_counters *counters;
	uint32_t before = feed->group_ids.count, id;

	if (!read_group(field, &raw))
		return 0;
	id = pairs_find(&feed->group_ids, raw.module, raw.identity);
	if (id == PAIRS_NONE && before == FEED_GROUPS_MAX)
		return 0;
	if (id == PAIRS_NONE)
		id = pairs_id(&feed->group_ids, raw.module, raw.identity);
	if (id == PAIRS_NONE ||
	    rows_reserve(&feed->groups, &feed->group_room, id, sizeof(*feed->groups)) != 0)
		return -ENOMEM;
	if (id == before)
		name_group(feed, &feed->groups[id], &raw);
	counters = &feed->groups[id].counters;
	memcpy(counters->samples_by_state, raw.states, sizeof(raw.states));
	counters->cpu_ns = raw.cpu_ns;
	counters->wall_ns = raw.wall_ns;
	counters->instances_created = raw.instances_created;
	return feed->texts.failed ? -ENOMEM : 0;
}

size_t feed_group_count(const struct feed *feed)
{
	return feed->group_ids.count;
}

struct feed_group *feed_group(struct feed *feed, size_t index)
{
	return &feed->groups[index];
}

static void visit_entry(const struct pb_field *field,
			void (*visit)(void *context, const char *name, size_t name_size,
				      uint64_t value),
			void *context)
{
	struct pb_reader message = inside(field);
	struct pb_field part, name = { 0 };
	uint64_t value = 0;

	while (pb_next(&message, &part)) {
		if (part.number == STATS_ENTRY_NAME)
			name = part;
		else if (part.number == STATS_ENTRY_VALUE)
			value = part.value;
	}
	if (name.bytes != NULL)
		visit(context, (const char *)name.bytes, name.size, value);
}

void feed_each_stat(const struct feed *feed,
		    void (*visit)(void *context, const char *name, size_t name_size,
				  uint64_t value),
		    void *context)
{
	struct pb_reader top = { 0 }, message;
	struct pb_field field, part;

	if (feed->stats.size == 0)
		return;
	top.at = feed->stats.bytes;
	top.end = feed->stats.bytes + feed->stats.size;
	if (!pb_next(&top, &field))
		return;
	message = inside(&field);
	while (pb_next(&message, &part)) {
		if (part.number == STATS_ENTRY)
			visit_entry(&part, visit, context);
	}
}
