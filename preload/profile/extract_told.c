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
	for (size_t i = 0; i < profile->calls.count; i++) {
		const struct call_row *row = &profile->calls.rows[i];
		const struct group *group = &profile->groups.rows[row->group];

		texts[row->text] = texts[group->name] = texts[group->identity] = EXTRACT_NEEDED;
	}
}

static void copy_calls(const struct profile *profile, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;

	for (size_t i = 0; i < profile->calls.count; i++) {
		const struct call_row *row = &profile->calls.rows[i];
		const struct group *group = &profile->groups.rows[row->group];

		memory->hostcalls[i] = (struct chunk_hostcall){
			.name = memory->texts[row->text],
			.module = memory->texts[group->name],
			.identity = memory->texts[group->identity],
			.count = row->count,
			.total_ns = row->total_ns,
			.longest_ns = row->longest_ns,
		};
	}
	extract->chunk.hostcalls = memory->hostcalls;
	extract->chunk.hostcall_count = profile->calls.count;
}

/* What began before the window is shown from its start on. */
static void copy_intervals(const struct bygone *bygone, struct extract *extract)
{
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
}

int extract_told_copy(const struct profile *profile, struct extract *extract)
{
	const struct bygone *bygone = &profile->bygone;
	struct extract_memory *memory = extract->memory;
	size_t intervals = bygone->interval_count < BYGONE_INTERVALS ? bygone->interval_count
								     : BYGONE_INTERVALS;

	memory->lives = calloc(BYGONE_LIVES + profile->members.lives.count, sizeof(*memory->lives));
	memory->hostcalls = calloc(profile->calls.count + 1, sizeof(*memory->hostcalls));
	memory->intervals = calloc(intervals + 1, sizeof(*memory->intervals));
	if (memory->lives == NULL || memory->hostcalls == NULL || memory->intervals == NULL)
		return -ENOMEM;
	each_life(profile, extract, copy_life);
	extract->chunk.lives = memory->lives;
	copy_calls(profile, extract);
	copy_intervals(bygone, extract);
	return 0;
}
