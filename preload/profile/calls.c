/* SPDX-License-Identifier: MIT */
/* calls.c - host calls become rows of groups, and the longest ones intervals. Threads: ours. */
#include "preload/profile/calls.h"

#include <stdlib.h>
#include <string.h>

#include "preload/base/stats.h"
#include "preload/load/hostcalls.h"
#include "preload/load/spans.h"
#include "preload/profile/array.h"

struct call_key {
	uint32_t name, group;
};

/* What hostcalls_collect() is at. */
struct collecting {
	struct calls *calls;
	struct groups *groups;
	const struct symtab *symtab;
};

static bool is_row(const void *table, uint32_t number, const void *key)
{
	const struct call_row *row = (const struct call_row *)table + number;
	const struct call_key *wanted = key;

	return row->name == wanted->name && row->group == wanted->group;
}

/* NULL: memory is short, or the table full. */
static struct call_row *row_of(struct calls *calls, struct texts *texts, struct call_key key)
{
	uint64_t hash = lookup_hash(&key, sizeof(key));
	uint32_t number = lookup_find(&calls->lookup, hash, is_row, calls->rows, &key);
	struct call_row *rows;

	if (number != LOOKUP_NONE)
		return &calls->rows[number];
	if (calls->count == CALLS_MAX)
		return NULL;
	rows = array_room(calls->rows, &calls->capacity, calls->count, sizeof(*rows));
	if (rows == NULL)
		return NULL;
	calls->rows = rows;
	if (lookup_add(&calls->lookup, hash, (uint32_t)calls->count) != 0)
		return NULL;
	rows[calls->count] = (struct call_row){
		.name = key.name,
		.group = key.group,
		.text = texts_add(texts, hostcalls_text(key.name)),
	};
	return &rows[calls->count++];
}

/* The group of the module that called; GROUP_NONE: it is not listed. */
static uint32_t group_of(const struct collecting *collecting, uint32_t loading)
{
	const struct symtab_entry *entry =
		loading != 0 ? symtab_by_id(collecting->symtab, loading) : NULL;
	const struct group_loading *known;

	if (loading == 0)
		return GROUP_OTHER;
	known = entry != NULL ? groups_loading(collecting->groups, entry)
			      : groups_find(collecting->groups, loading);
	if (known == NULL)
		return GROUP_OTHER;
	return known->is_listed ? known->group : GROUP_NONE;
}

static void collect(void *context, const struct hostcalls_sum *sum)
{
	const struct collecting *collecting = context;
	const struct call_sum more = { sum->count, sum->total_ns, sum->longest_ns };
	uint32_t group = group_of(collecting, sum->loading);
	struct call_row *row;

	if (group == GROUP_NONE)
		return;
	collecting->calls->ever_called += sum->count;
	row = row_of(collecting->calls, collecting->groups->texts,
		     (struct call_key){ sum->name, group });
	if (row == NULL) {
		stat_add(STAT_HOSTCALLS_UNTOLD, sum->count);
		return;
	}
	collecting->groups->rows[group].has_calls = true;
	calls_add(&row->all, &more);
	calls_add(&row->more, &more);
	row->has_changed = true;
}

void calls_collect(struct calls *calls, struct groups *groups, const struct symtab *symtab)
{
	struct collecting collecting = { calls, groups, symtab };

	hostcalls_collect(collect, &collecting);
}

static bool has_texts(const struct call_row *row, const struct groups *groups, size_t known)
{
	const struct group *group = &groups->rows[row->group];

	return row->text < known && group->name < known && group->identity < known;
}

bool calls_need_texts(const struct calls *calls, const struct groups *groups, size_t known)
{
	for (size_t i = 0; i < calls->count; i++)
		if (calls->rows[i].has_changed && !has_texts(&calls->rows[i], groups, known))
			return true;
	return false;
}

static void fill_rows(struct calls *calls, const struct groups *groups, struct chunk *chunk,
		      size_t known)
{
	struct chunk_hostcall *told =
		array_fit(calls->told, &calls->told_capacity, calls->count, sizeof(*told));
	size_t count = 0;

	if (told == NULL)
		return; /* they stay changed, and come with the next chunk */
	calls->told = told;
	for (size_t i = 0; i < calls->count; i++) {
		struct call_row *row = &calls->rows[i];
		const struct group *group = &groups->rows[row->group];

		if (!row->has_changed || !has_texts(row, groups, known))
			continue;
		row->has_changed = false;
		told[count++] = (struct chunk_hostcall){
			.name = row->text,
			.module = group->name,
			.identity = group->identity,
			.count = row->all.count,
			.total_ns = row->all.total_ns,
			.longest_ns = row->all.longest_ns,
		};
	}
	chunk->hostcalls = told;
	chunk->hostcall_count = count;
}

/* What started before the recording is shown from its start on. */
static bool add_span(void *context, const struct span *span)
{
	struct calls *calls = context;

	if (calls->span_count == CALLS_SPANS)
		return false;
	calls->spans[calls->span_count++] = (struct chunk_interval){
		.name = (char *)hostcalls_text(span->name), /* nobody writes there */
		.start_ns = span->start_ns,
		.duration_ns = span->duration_ns,
		.thread_id = span->thread_id,
	};
	return true;
}

static void fill_spans(struct calls *calls, struct chunk *chunk, uint64_t start_ns)
{
	uint64_t dropped;

	calls->span_count = 0;
	dropped = spans_collect(add_span, calls);
	calls->dropped += dropped;
	calls->ever_timed += calls->span_count + dropped;
	for (size_t i = 0; i < calls->span_count; i++) {
		struct chunk_interval *span = &calls->spans[i];
		uint64_t early = span->start_ns < start_ns ? start_ns - span->start_ns : 0;

		span->start_ns = span->start_ns + early - start_ns;
		span->duration_ns -= early < span->duration_ns ? early : span->duration_ns;
	}
	chunk->intervals = calls->spans;
	chunk->interval_count = calls->span_count;
}

void calls_fill(struct calls *calls, const struct groups *groups, struct chunk *chunk, size_t known,
		uint64_t start_ns)
{
	fill_rows(calls, groups, chunk, known);
	fill_spans(calls, chunk, start_ns);
}

void calls_restart(struct calls *calls)
{
	lookup_clear(&calls->lookup);
	calls->count = 0;
	calls->dropped = 0;
}

void calls_fini(struct calls *calls)
{
	free(calls->rows);
	free(calls->told);
	lookup_free(&calls->lookup);
	*calls = (struct calls){ 0 };
}
