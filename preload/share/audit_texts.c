/* SPDX-License-Identifier: MIT */
/* audit_texts.c - collects texts and numbers from protobuf fields, and looks for them. Threads:
 * any, once finished. */
#include "preload/share/audit_texts.h"

#include "preload/encode/pb.h"
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/profile/chunk.h"
#include "preload/read/escape.h"
#include "preload/read/names.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	WHOLE_MIN = 3,	     /* shorter texts are everywhere */
	NUMBER_MIN = 100000, /* and so are smaller numbers */
	NUMBER_STEP = 1000,
	DEPTH_MAX = 4, /* of messages in a profile */
	BUCKETS = 1 << 14,
};

struct numbers {
	uint64_t *list; /* owned */
	size_t count, room;
};

struct audit_texts {
	struct names seen, told;
	struct numbers seen_numbers, told_numbers;
	const char **others, **told_sorted; /* ascending; owned arrays of borrowed texts */
	size_t other_count;
	const char **parts; /* of others: those to be looked for within texts */
	uint32_t *next;	    /* by part: the next in its bucket + 1 */
	size_t part_count;
	uint32_t buckets[BUCKETS]; /* part + 1 */
};

/* What exports say themselves; and fixed strings of recordings (chunk.h). */
static const char *const vocabulary[] = {
#define ROW(id, text) text,
	CHUNK_STRINGS(ROW)
#undef ROW
		"(host)",
	"(builtin)",
	"(interpreter)",
	"(other)",
	"(other)#*",
	"[host]",
	"hostcalls",
	"default",
	"guestprof",
	"guestprof: profile",
	RECORDING_LIBRARY_VERSION,
	"Linux x86_64",
	"Samples per CPU second asked for",
	"Lost samples: memory",
	"Samples without a name",
	"Samples with a cut stack",
	"Own CPU time in microseconds",
	"Why not a better clock",
	"tracing-ms",
	"Trampoline",
	"Interpreter",
	"trampoline",
	"milliseconds",
	"microseconds",
	"sampled",
	"function",
	"https://www.speedscope.app/file-format-schema.json",
};

/* ---- collecting ------------------------------------------------------------------------------ */

static int add_text(struct names *names, const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);
	uint32_t id;

	if (text == NULL)
		return -ENOMEM;
	memcpy(text, bytes, size);
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] == '\0' ? '?' : text[i];
	text[size] = '\0';
	id = names_id(names, text);
	free(text);
	return id == NAMES_NONE ? -ENOMEM : 0;
}

static int add_number(struct numbers *numbers, uint64_t number)
{
	/* Multiples are sums of sampling periods, which are equal by chance. */
	if (number < NUMBER_MIN || number > INT64_MAX || number % NUMBER_STEP == 0)
		return 0;
	if (rows_reserve(&numbers->list, &numbers->room, numbers->count, sizeof(*numbers->list)) !=
	    0)
		return -ENOMEM;
	numbers->list[numbers->count++] = number;
	return 0;
}

struct collecting {
	struct names *texts;
	struct numbers *numbers;
	int error;
};

static void visit_number(void *context, uint64_t value)
{
	struct collecting *collecting = context;

	if (collecting->error == 0)
		collecting->error = add_number(collecting->numbers, value);
}

/* All numbers of the message FIELD, and of messages in it. */
static void collect_numbers(struct collecting *collecting, const struct pb_field *field,
			    unsigned depth)
{
	struct pb_reader parts = { .at = field->bytes, .end = field->bytes + field->size };
	struct pb_field part;

	while (collecting->error == 0 && pb_next(&parts, &part)) {
		if (part.bytes == NULL) {
			visit_number(collecting, part.value);
			continue;
		}
		if (depth + 1 < DEPTH_MAX)
			collect_numbers(collecting, &part, depth + 1);
		/* A list of numbers is no message; some of it may look like one. */
		pb_each_varint(&part, visit_number, collecting);
	}
}

static void collect_texts(struct collecting *collecting, const struct pb_field *field)
{
	struct pb_reader parts = { .at = field->bytes, .end = field->bytes + field->size };
	struct pb_field part;

	while (collecting->error == 0 && pb_next(&parts, &part)) {
		if (part.bytes != NULL)
			collecting->error = add_text(collecting->texts, part.bytes, part.size);
	}
}

static void collect(struct collecting *collecting, const uint8_t *bytes, size_t size)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	struct pb_field field;

	while (collecting->error == 0 && pb_next(&top, &field)) {
		if (field.bytes == NULL)
			visit_number(collecting, field.value);
		else if (field.number == PROFILE_STRING_TABLE)
			collecting->error = add_text(collecting->texts, field.bytes, field.size);
		else if (field.number != RECORDING_PAD)
			collect_numbers(collecting, &field, 0);
		/* Names of counters are the format's; all other messages refer to the table. */
		if (field.bytes != NULL && field.number >= RECORDING_PAD &&
		    field.number != RECORDING_PAD && field.number != RECORDING_STATS &&
		    field.number != RECORDING_GROUP)
			collect_texts(collecting, &field);
	}
}

struct audit_texts *audit_texts_new(void)
{
	return calloc(1, sizeof(struct audit_texts));
}

int audit_texts_add(struct audit_texts *texts, const uint8_t *recording, size_t size,
		    const uint8_t *told, size_t told_size)
{
	struct collecting seen = { &texts->seen, &texts->seen_numbers, 0 };
	struct collecting allowed = { &texts->told, &texts->told_numbers, 0 };

	collect(&seen, recording, size);
	collect(&allowed, told, told_size);
	return seen.error != 0 ? seen.error : allowed.error;
}

int audit_texts_allow(struct audit_texts *texts, const char *text)
{
	return names_id(&texts->told, text) != NAMES_NONE ? 0 : -ENOMEM;
}

/* ---- making it searchable -------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static bool has_text(const char *const *sorted, size_t count, const char *text)
{
	return count != 0 && bsearch(&text, sorted, count, sizeof(*sorted), compare_texts) != NULL;
}

static bool has_number(const struct numbers *numbers, uint64_t number)
{
	return numbers->count != 0 && bsearch(&number, numbers->list, numbers->count,
					      sizeof(number), compare_numbers) != NULL;
}

static bool is_word(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(vocabulary); i++) {
		if (strcmp(vocabulary[i], text) == 0)
			return true;
	}
	return false;
}

static uint32_t bucket_of(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (int i = 0; i < AUDIT_PART_MIN; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return (hash ^ hash >> 15) % BUCKETS;
}

/* A part that is found in TEXT; calls itself nothing but a search. */
static const char *find_part(const struct audit_texts *texts, const char *text, size_t *index)
{
	size_t length = strlen(text);

	for (size_t i = 0; i + AUDIT_PART_MIN <= length; i++) {
		uint32_t part = texts->buckets[bucket_of(text + i)];

		for (; part != 0; part = texts->next[part - 1]) {
			const char *wanted = texts->parts[part - 1];

			if (wanted == NULL || strncmp(text + i, wanted, strlen(wanted)) != 0)
				continue;
			if (index != NULL)
				*index = part - 1;
			return wanted;
		}
	}
	return NULL;
}

/* What TEXT, which may be told, has in it is no sign of anybody else. */
static void excuse(struct audit_texts *texts, const char *text)
{
	size_t index;

	while (find_part(texts, text, &index) != NULL)
		texts->parts[index] = NULL;
}

static void add_part(struct audit_texts *texts, const char *text)
{
	uint32_t *bucket = &texts->buckets[bucket_of(text)];

	texts->parts[texts->part_count] = text;
	texts->next[texts->part_count] = *bucket;
	*bucket = (uint32_t)++texts->part_count;
}

/* Others, as they are and as exports show them (encode/escape.h). */
static int list_others(struct audit_texts *texts)
{
	uint32_t count = texts->seen.count;

	for (uint32_t i = 0; i < count; i++) {
		char *shown = escape_new(texts->seen.texts[i], ESCAPE_VISIBLE);
		uint32_t id = shown != NULL ? names_id(&texts->seen, shown) : NAMES_NONE;

		free(shown);
		if (id == NAMES_NONE)
			return -ENOMEM;
	}
	texts->others = calloc((size_t)texts->seen.count + 1, sizeof(*texts->others));
	texts->parts = calloc((size_t)texts->seen.count + 1, sizeof(*texts->parts));
	texts->next = calloc((size_t)texts->seen.count + 1, sizeof(*texts->next));
	if (texts->others == NULL || texts->parts == NULL || texts->next == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < texts->seen.count; i++) {
		const char *text = texts->seen.texts[i];

		if (strlen(text) < WHOLE_MIN || is_word(text) || audit_texts_is_told(texts, text))
			continue;
		texts->others[texts->other_count++] = text;
		if (strlen(text) >= AUDIT_PART_MIN)
			add_part(texts, text);
	}
	return 0;
}

int audit_texts_finish(struct audit_texts *texts)
{
	texts->told_sorted = calloc((size_t)texts->told.count + 1, sizeof(*texts->told_sorted));
	if (texts->told_sorted == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < texts->told.count; i++)
		texts->told_sorted[i] = texts->told.texts[i];
	if (texts->told.count != 0)
		qsort(texts->told_sorted, texts->told.count, sizeof(*texts->told_sorted),
		      compare_texts);
	if (texts->seen_numbers.count != 0)
		qsort(texts->seen_numbers.list, texts->seen_numbers.count, sizeof(uint64_t),
		      compare_numbers);
	if (texts->told_numbers.count != 0)
		qsort(texts->told_numbers.list, texts->told_numbers.count, sizeof(uint64_t),
		      compare_numbers);
	if (list_others(texts) != 0)
		return -ENOMEM;
	if (texts->other_count != 0)
		qsort(texts->others, texts->other_count, sizeof(*texts->others), compare_texts);
	for (uint32_t i = 0; i < texts->told.count; i++)
		excuse(texts, texts->told.texts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(vocabulary); i++)
		excuse(texts, vocabulary[i]);
	return 0;
}

void audit_texts_free(struct audit_texts *texts)
{
	if (texts == NULL)
		return;
	names_free(&texts->seen);
	names_free(&texts->told);
	free(texts->seen_numbers.list);
	free(texts->told_numbers.list);
	free(texts->others);
	free(texts->told_sorted);
	free(texts->parts);
	free(texts->next);
	free(texts);
}

/* ---- questions ------------------------------------------------------------------------------- */

bool audit_texts_is_told(const struct audit_texts *texts, const char *text)
{
	return has_text(texts->told_sorted, texts->told.count, text);
}

const char *audit_texts_find(const struct audit_texts *texts, const char *text)
{
	if (audit_texts_is_told(texts, text))
		return NULL;
	if (has_text(texts->others, texts->other_count, text))
		return text;
	return find_part(texts, text, NULL);
}

bool audit_texts_has_number(const struct audit_texts *texts, uint64_t number)
{
	return has_number(&texts->seen_numbers, number) &&
	       !has_number(&texts->told_numbers, number);
}
