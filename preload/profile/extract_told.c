/* SPDX-License-Identifier: MIT */
/* extract_told.c - lives, host calls and their intervals of a window. Threads: ours. */
#include "preload/profile/extract_told.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/profile/profile_private.h"

/* Calls VISIT for each life that is not all outside of the window; times: CLOCK_MONOTONIC. */
static void each_life(const struct profile *profile, struct extract *extract,
		      void (*visit)(struct extract *, const struct chunk_life *))
{
	const struct bygone *bygone = &profile->bygone;
	const struct lives *lives = &profile->members.lives;

	for (uint64_t i = bygone_first(bygone->life_count, BYGONE_LIVES); i < bygone->life_count;
	     i++) {
		const struct chunk_life *life = &bygone->lives[i % BYGONE_LIVES];

		if (life->end_ns > extract->start_ns && life->start_ns < extract->end_ns)
			visit(extract, life);
	}
	for (size_t i = 0; i < lives->count; i++) {
		const struct life *life = &lives->rows[i];
		const struct chunk_life row = { life->module, life->name, life->created_ns,
						life->ended_ns };

		if ((row.end_ns == 0 || row.end_ns > extract->start_ns) &&
		    row.start_ns < extract->end_ns)
			visit(extract, &row);
	}
}

/* The oldest one of the window's chunks that is there. */
static uint64_t first_call(const struct bygone *bygone, const struct extract *extract)
{
	uint64_t first = bygone_first(bygone->call_count, BYGONE_CALLS);

	while (first < bygone->call_count &&
	       bygone->calls[first % BYGONE_CALLS].end_ns <= extract->start_ns)
		first++;
	return first;
}

static void mark_life(struct extract *extract, const struct chunk_life *life)
{
	extract->memory->texts[life->module] = EXTRACT_NEEDED;
	extract->memory->texts[life->instance] = EXTRACT_NEEDED;
}

/* What ends behind the window lives in it to the end. */
static void copy_life(struct extract *extract, const struct chunk_life *life)
{
	struct extract_memory *memory = extract->memory;
	uint64_t start_ns = extract->start_ns;

	memory->lives[extract->chunk.life_count++] = (struct chunk_life){
		.module = memory->texts[life->module],
		.instance = memory->texts[life->instance],
		.start_ns = life->start_ns > start_ns ? life->start_ns - start_ns : 0,
		.end_ns = life->end_ns != 0 && life->end_ns <= extract->end_ns
				  ? life->end_ns - start_ns
				  : 0,
	};
}

void extract_told_mark(const struct profile *profile, struct extract *extract)
{
	uint32_t *texts = extract->memory->texts;

	each_life(profile, extract, mark_life);
	for (uint64_t i = first_call(&profile->bygone, extract); i < profile->bygone.call_count;
	     i++) {
		const struct bygone_call *call = &profile->bygone.calls[i % BYGONE_CALLS];
		const struct group *group = &profile->groups.rows[call->group];

		texts[call->text] = texts[group->name] = texts[group->identity] = EXTRACT_NEEDED;
	}
}

static int by_function(const void *one, const void *other)
{
	const struct bygone_call *a = one, *b = other;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->text < b->text ? -1 : a->text > b->text;
}

/* Of each function and group one row, in ROWS; their number. */
static size_t sum_up(struct bygone_call *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), by_function);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && by_function(&rows[kept - 1], &rows[i]) == 0)
			calls_add(&rows[kept - 1].sum, &rows[i].sum);
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

/* What the window's chunks counted, and what is not kept of it any more: untold. */
static int copy_calls(const struct profile *profile, struct extract *extract)
{
	const struct bygone *bygone = &profile->bygone;
	struct extract_memory *memory = extract->memory;
	uint64_t first = first_call(bygone, extract), told = 0,
		 all = profile->history.now.calls - extract->before.calls;
	size_t count = (size_t)(bygone->call_count - first);
	struct bygone_call *rows = calloc(count + 1, sizeof(*rows));

	memory->hostcalls = calloc(count + 1, sizeof(*memory->hostcalls));
	if (rows == NULL || memory->hostcalls == NULL) {
		free(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		rows[i] = bygone->calls[(first + i) % BYGONE_CALLS];
	count = sum_up(rows, count);
	for (size_t i = 0; i < count; i++) {
		const struct group *group = &profile->groups.rows[rows[i].group];

		memory->hostcalls[i] = (struct chunk_hostcall){
			.name = memory->texts[rows[i].text],
			.module = memory->texts[group->name],
			.identity = memory->texts[group->identity],
			.count = rows[i].sum.count,
			.total_ns = rows[i].sum.total_ns,
			.longest_ns = rows[i].sum.longest_ns,
		};
		told += rows[i].sum.count;
	}
	free(rows);
	extract->chunk.hostcalls = memory->hostcalls;
	extract->chunk.hostcall_count = count;
	extract->before.stats[STAT_HOSTCALLS_UNTOLD] -= all > told ? all - told : 0;
	return 0;
}

/* What began before the window is shown from its start on. */
static void copy_intervals(const struct profile *profile, struct extract *extract)
{
	const struct bygone *bygone = &profile->bygone;
	uint64_t all = profile->history.now.timed_calls - extract->before.timed_calls;
	struct chunk_interval *rows = extract->memory->intervals;
	uint64_t start_ns = extract->start_ns;
	size_t count = 0;

	for (uint64_t i = bygone_first(bygone->interval_count, BYGONE_INTERVALS);
	     i < bygone->interval_count; i++) {
		struct chunk_interval row = bygone->intervals[i % BYGONE_INTERVALS];
		uint64_t early = row.start_ns < start_ns ? start_ns - row.start_ns : 0;

		if (early >= row.duration_ns + (early == 0) || row.start_ns >= extract->end_ns)
			continue;
		row.start_ns = row.start_ns + early - start_ns;
		row.duration_ns -= early;
		rows[count++] = row;
	}
	extract->chunk.intervals = rows;
	extract->chunk.interval_count = count;
	extract->intervals_dropped = all > count ? all - count : 0;
}

int extract_told_copy(const struct profile *profile, struct extract *extract)
{
	const struct bygone *bygone = &profile->bygone;
	struct extract_memory *memory = extract->memory;
	size_t intervals = bygone->interval_count < BYGONE_INTERVALS ? bygone->interval_count
								     : BYGONE_INTERVALS;

	memory->lives = calloc(BYGONE_LIVES + profile->members.lives.count, sizeof(*memory->lives));
	memory->intervals = calloc(intervals + 1, sizeof(*memory->intervals));
	if (memory->lives == NULL || memory->intervals == NULL)
		return -ENOMEM;
	each_life(profile, extract, copy_life);
	extract->chunk.lives = memory->lives;
	copy_intervals(profile, extract);
	return copy_calls(profile, extract);
}
