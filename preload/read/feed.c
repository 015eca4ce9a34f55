/* SPDX-License-Identifier: MIT */
/* feed.c - parts a recording that grows into tables and samples, and puts windows together.
 * Threads: one at a time. */
#include "preload/read/feed.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/feed_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_BYTES = 2, TEXTS_MAX = 16 << 20 };

struct feed *feed_new(void)
{
	struct feed *feed = calloc(1, sizeof(*feed));

	if (feed != NULL)
		feed->texts.limit = TEXTS_MAX;
	return feed;
}

void feed_free(struct feed *feed)
{
	if (feed == NULL)
		return;
	pb_free(&feed->tables);
	pb_free(&feed->samples);
	pb_free(&feed->info);
	pb_free(&feed->stats);
	free(feed->strings);
	free(feed->rows);
	free(feed->program);
	arena_free(&feed->texts);
	pairs_free(&feed->group_ids);
	free(feed->groups);
	free(feed);
}

/* A top-level field as it stands in the bytes: from AT, SIZE long. */
struct raw {
	const uint8_t *at;
	size_t size;
	struct pb_field field;
};

static struct pb_reader inside(const struct pb_field *field)
{
	return (struct pb_reader){ .at = field->bytes, .end = field->bytes + field->size };
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int take_table(struct feed *feed, const struct raw *raw)
{
	if (feed->tables.size + raw->size > FEED_TABLES_MAX)
		return -EFBIG;
	pb_append(&feed->tables, raw->at, raw->size);
	return feed->tables.error;
}

static int take_type(struct feed *feed, const struct raw *raw)
{
	feed->has_types = true;
	return take_table(feed, raw);
}

static int take_string(struct feed *feed, const struct raw *raw)
{
	static const char time_key[] = "time";
	const struct pb_field *field = &raw->field;
	int error = feed->string_count < FEED_ROWS_MAX ? take_table(feed, raw) : -EFBIG;

	if (error == 0)
		error = rows_reserve(&feed->strings, &feed->string_room, feed->string_count,
				     sizeof(*feed->strings));
	if (error != 0)
		return error;
	if (field->size == strlen(time_key) && memcmp(field->bytes, time_key, field->size) == 0)
		feed->time_key = feed->string_count;
	feed->strings[feed->string_count++] = (struct feed_span){
		.at = feed->tables.size - field->size,
		.size = field->size,
	};
	return 0;
}

static int take_start(struct feed *feed, const struct raw *raw)
{
	feed->start_unix_ns = raw->field.value;
	return take_table(feed, raw);
}

static int take_duration(struct feed *feed, const struct raw *raw)
{
	feed->duration_ns = raw->field.value;
	return 0;
}

static int replace(struct pb_writer *last, const struct raw *raw)
{
	last->size = 0;
	pb_append(last, raw->at, raw->size);
	return last->error;
}

static int take_info(struct feed *feed, const struct raw *raw)
{
	struct pb_reader message = inside(&raw->field);
	struct pb_field part;
	char *program;

	feed->is_ours = true;
	while (pb_next(&message, &part)) {
		if (part.number == INFO_PID)
			feed->pid = part.value;
		if (part.number != INFO_PROGRAM || part.bytes == NULL)
			continue;
		program = strndup((const char *)part.bytes, part.size);
		if (program == NULL)
			return -ENOMEM;
		free(feed->program);
		feed->program = program;
	}
	return replace(&feed->info, raw);
}

static int take_stats(struct feed *feed, const struct raw *raw)
{
	return replace(&feed->stats, raw);
}

static int take_group(struct feed *feed, const struct raw *raw)
{
	return feed_take_group(feed, &raw->field);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Rows before FIRST, and their bytes, are given up once they are the larger part. */
static void compact(struct feed *feed)
{
	size_t gone;

	if (feed->first == feed->row_count) {
		feed->first = feed->row_count = feed->samples.size = 0;
		return;
	}
	if (feed->first < feed->row_count - feed->first)
		return;
	gone = feed->rows[feed->first].at;
	memmove(feed->samples.bytes, feed->samples.bytes + gone, feed->samples.size - gone);
	feed->samples.size -= gone;
	feed->row_count -= feed->first;
	memmove(feed->rows, feed->rows + feed->first, feed->row_count * sizeof(*feed->rows));
	feed->first = 0;
	for (size_t i = 0; i < feed->row_count; i++)
		feed->rows[i].at -= gone;
}

/* Makes room for SIZE bytes more, and lets go what is too old at TIME_NS. */
static void forget(struct feed *feed, uint64_t time_ns, size_t size)
{
	while (feed->first < feed->row_count) {
		const struct feed_span *row = &feed->rows[feed->first];
		bool is_old = time_ns > FEED_KEPT_NS && row->time_ns < time_ns - FEED_KEPT_NS;

		if (!is_old && feed->samples.size - row->at + size <= FEED_SAMPLES_MAX &&
		    feed->row_count - feed->first < FEED_ROWS_MAX)
			break;
		feed->dropped += !is_old;
		feed->first++;
	}
	compact(feed);
}

/* The number of the label "time"; 0. */
static uint64_t time_of_label(const struct feed *feed, const struct pb_field *field)
{
	struct pb_reader message = inside(field);
	struct pb_field part;
	uint64_t key = 0, number = 0;

	while (pb_next(&message, &part)) {
		if (part.number == LABEL_KEY)
			key = part.value;
		else if (part.number == LABEL_NUMBER)
			number = part.value;
	}
	return key != 0 && key == feed->time_key ? number : 0;
}

static int take_sample(struct feed *feed, const struct raw *raw)
{
	struct pb_reader message = inside(&raw->field);
	struct feed_span row = { .size = raw->size };
	struct pb_field part;

	if (raw->size > FEED_SAMPLES_MAX)
		return -EFBIG;
	while (pb_next(&message, &part)) {
		if (part.number == SAMPLE_LABEL && part.bytes != NULL && row.time_ns == 0)
			row.time_ns = time_of_label(feed, &part);
	}
	forget(feed, feed->duration_ns, raw->size);
	if (rows_reserve(&feed->rows, &feed->row_room, feed->row_count, sizeof(row)) != 0)
		return -ENOMEM;
	row.at = feed->samples.size;
	pb_append(&feed->samples, raw->at, raw->size);
	feed->rows[feed->row_count++] = row;
	return feed->samples.error;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* What is none of these is not needed: padding, intervals, lives, host calls. */
static const struct {
	uint32_t number, wire;
	int (*take)(struct feed *feed, const struct raw *raw);
} takers[] = {
	{ PROFILE_SAMPLE, WIRE_BYTES, take_sample },
	{ PROFILE_STRING_TABLE, WIRE_BYTES, take_string },
	{ PROFILE_LOCATION, WIRE_BYTES, take_table },
	{ PROFILE_FUNCTION, WIRE_BYTES, take_table },
	{ PROFILE_MAPPING, WIRE_BYTES, take_table },
	{ PROFILE_SAMPLE_TYPE, WIRE_BYTES, take_type },
	{ PROFILE_PERIOD_TYPE, WIRE_BYTES, take_table },
	{ PROFILE_PERIOD, 0, take_table },
	{ PROFILE_TIME_NANOS, 0, take_start },
	{ PROFILE_DURATION_NANOS, 0, take_duration },
	{ RECORDING_INFO, WIRE_BYTES, take_info },
	{ RECORDING_STATS, WIRE_BYTES, take_stats },
	{ RECORDING_GROUP, WIRE_BYTES, take_group },
};

static int take_field(struct feed *feed, const struct raw *raw)
{
	for (size_t i = 0; i < ARRAY_SIZE(takers); i++) {
		if (takers[i].number == raw->field.number && takers[i].wire == raw->field.wire)
			return takers[i].take(feed, raw);
	}
	return 0;
}

int feed_take(struct feed *feed, const uint8_t *bytes, size_t size, size_t *taken)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	struct raw raw = { .at = bytes };
	int error = 0;

	while (error == 0 && pb_next(&top, &raw.field)) {
		raw.size = (size_t)(top.at - raw.at);
		error = take_field(feed, &raw);
		raw.at = top.at;
	}
	*taken = (size_t)(raw.at - bytes);
	/* Ours begin with types, and say what they are in the first chunk, before any sample. */
	if (error == 0 && feed->row_count != 0 && (!feed->is_ours || !feed->has_types))
		error = -EINVAL;
	return error;
}

uint64_t feed_start_unix_ns(const struct feed *feed)
{
	return feed->start_unix_ns;
}

uint64_t feed_duration_ns(const struct feed *feed)
{
	return feed->duration_ns;
}

uint64_t feed_pid(const struct feed *feed)
{
	return feed->pid;
}

const char *feed_program(const struct feed *feed)
{
	return feed->program != NULL ? feed->program : "";
}

uint64_t feed_dropped(const struct feed *feed)
{
	return feed->dropped;
}

/* ---- windows --------------------------------------------------------------------------------- */

bool feed_window(const struct feed *feed, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct pb_writer *out)
{
	bool has_any = false;

	for (size_t i = feed->first; i < feed->row_count; i++) {
		const struct feed_span *row = &feed->rows[i];
		uint64_t time_ns = feed->start_unix_ns + row->time_ns;

		if (time_ns < from_unix_ns || time_ns >= to_unix_ns)
			continue;
		if (!has_any) {
			pb_append(out, feed->tables.bytes, feed->tables.size);
			pb_append(out, feed->info.bytes, feed->info.size);
		}
		has_any = true;
		pb_append(out, feed->samples.bytes + row->at, row->size);
	}
	return has_any;
}
