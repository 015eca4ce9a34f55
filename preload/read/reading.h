/* SPDX-License-Identifier: MIT */
/*
 * reading.h - the state of one recording_read(), and the readers of pprof's messages.
 *
 * The file is walked once per pass, because a foreign file may define things after their use:
 *
 *   pass 0  strings, the last Info and Stats     pass 2  locations, processes
 *   pass 1  sample types, mappings, functions    pass 3  samples, groups, intervals, lives,
 *                                                  host calls
 *
 * Every reader returns 0, or a negative errno with reading->why set by reading_fail().
 */
#ifndef PRELOAD_READ_READING_H
#define PRELOAD_READ_READING_H

#include "preload/encode/pb.h"
#include "preload/read/arena.h"
#include "preload/read/pairs.h"
#include "preload/read/reader.h"

/* Rows that begin with a uint64_t id, found by it. */
struct reading_ids {
	uint8_t *rows;
	size_t row_size, count;
	uint8_t **sorted; /* by id; NULL while ids are 1..n in order, as ours are */
};

/* Which of a sample's values is what, and its unit in nanoseconds. */
struct reading_value {
	size_t index; /* SIZE_MAX: there is none */
	uint64_t scale;
};

struct reading_numbers {
	uint64_t *values; /* owned */
	size_t count, capacity;
	bool failed;
};

struct reading {
	const char *path;
	const uint8_t *bytes;
	size_t size; /* of the whole fields */
	uint64_t at; /* where the top-level field begins that is being read */
	char *why;
	struct arena arena;
	struct recording *out; /* in the arena */
	const char **strings;
	size_t string_count;
	size_t sample_type_count;
	size_t group_room;
	bool has_wasm_labels; /* some string is the key of our label */
	struct reading_ids mappings, functions, locations;
	struct reading_value count, cpu, wall;
	struct reading_value period;			     /* index 0 if it is CPU time */
	struct reading_numbers ids, numbers;		     /* scratch of a sample */
	struct recording_label labels[RECORDING_LABELS_MAX]; /* of a sample or group */
	size_t label_count;
	struct pairs groups, lives, hostcalls;
	struct pb_field info, stats;	  /* the last ones */
	struct recording_process process; /* that info speaks of */
};

/* Sets WHY to "PATH: byte N: TEXT", the first time. Returns -EINVAL. */
int reading_fail(struct reading *reading, const char *format, ...) PRINTF_LIKE(2, 3);

/* String INDEX; "" when there is no such string. */
const char *reading_string(const struct reading *reading, uint64_t index);

/* The row with ID, or NULL. */
void *reading_row(const struct reading_ids *ids, uint64_t id);

/* The parts of message FIELD; none when it is no message. */
static inline struct pb_reader reading_inside(const struct pb_field *field)
{
	struct pb_reader parts = { 0 };

	if (field->bytes != NULL) {
		parts.at = field->bytes;
		parts.end = field->bytes + field->size;
	}
	return parts;
}

/* All varints of FIELD, appended. */
int reading_add_numbers(struct reading_numbers *numbers, const struct pb_field *field);

/* Adds a label to the scratch, and copies them all from there; *COUNT is set. NULL without memory.
 */
void reading_add_label(struct reading *reading, const char *key, const char *value);
const struct recording_label *reading_take_labels(struct reading *reading, size_t *count);

/* reader_tables.c */
int reading_mapping(struct reading *reading, const struct pb_field *field);
int reading_function(struct reading *reading, const struct pb_field *field);
int reading_location(struct reading *reading, const struct pb_field *field);

/* reader_samples.c */
int reading_sample_type(struct reading *reading, const struct pb_field *field);
int reading_period_type(struct reading *reading, const struct pb_field *field);
int reading_sample(struct reading *reading, const struct pb_field *field);

/* reader_extension.c */
int reading_group(struct reading *reading, const struct pb_field *field);
int reading_stats(struct reading *reading);

/* reader_processes.c */
int reading_info(struct reading *reading);
int reading_process(struct reading *reading, const struct pb_field *field);
/* Samples of groups that became part of others follow, and those groups go. 0 or -ENOMEM. */
int reading_settle_merged(struct reading *reading);

/* When all is read: at least one process, and no index beyond them. */
void reading_settle_processes(struct reading *reading);

/*
 * The recorder names the module where it knows no file, for viewers that group by it: such a name,
 * without a line, is no file. Behind the tables. 0 or -ENOMEM.
 */
int reading_forget_files(struct reading *reading);

/* The text of PART, which is in place; "" when it has none. */
const char *reading_text(struct reading *reading, const struct pb_field *part);

/* reader_marks.c */
int reading_interval(struct reading *reading, const struct pb_field *field);
int reading_life(struct reading *reading, const struct pb_field *field);
int reading_hostcall(struct reading *reading, const struct pb_field *field);

#endif /* PRELOAD_READ_READING_H */
