/* SPDX-License-Identifier: MIT */
/* lives.c - from when to when the named instances were there. Threads: ours. */
#include "preload/profile/lives.h"

#include <stdlib.h>

#include "preload/profile/array.h"

void lives_begin(struct lives *lives, const struct instance_info *info, uint32_t module,
		 uint32_t name)
{
	struct life *rows;

	if (lives->count >= LIVES_MAX)
		return;
	/* Names are given seldom: at the 10th sample of an instance, and to few. */
	for (size_t i = 0; i < lives->count; i++)
		if (lives->rows[i].instance == info->id && lives->rows[i].name == name)
			return;
	rows = array_room(lives->rows, &lives->capacity, lives->count, sizeof(*rows));
	if (rows == NULL)
		return;
	lives->rows = rows;
	rows[lives->count++] = (struct life){
		.instance = info->id,
		.module = module,
		.name = name,
		.created_ns = info->created_ns,
		.has_changed = true,
	};
}

static void look(struct life *life, uint64_t now_ns)
{
	struct instance_info info;

	if (life->ended_ns != 0)
		return;
	if (!instance_get(life->instance, &info))
		life->ended_ns = now_ns;
	else
		life->ended_ns = info.ended_ns;
	life->has_changed |= life->ended_ns != 0;
}

static uint64_t since(uint64_t time_ns, uint64_t start_ns)
{
	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static struct chunk_life describe(const struct life *life, uint64_t start_ns)
{
	struct chunk_life row = {
		.module = life->module,
		.instance = life->name,
		.start_ns = since(life->created_ns, start_ns),
	};

	/* 0 is "not ended". */
	if (life->ended_ns != 0)
		row.end_ns = since(life->ended_ns, start_ns + 1) + 1;
	return row;
}

void lives_fill(struct lives *lives, struct chunk *chunk, size_t known, uint64_t start_ns,
		uint64_t now_ns)
{
	struct chunk_life *told =
		array_fit(lives->told, &lives->told_capacity, lives->count, sizeof(*told));
	size_t count = lives->count;

	if (told == NULL)
		return; /* they stay changed, and come with the next chunk */
	lives->told = told;
	lives->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct life life = lives->rows[i];

		look(&life, now_ns);
		if (life.has_changed && life.name < known && life.module < known) {
			told[chunk->life_count++] = describe(&life, start_ns);
			life.has_changed = false;
			if (life.ended_ns != 0)
				continue;
		}
		lives->rows[lives->count++] = life;
	}
	chunk->lives = told;
}

void lives_restart(struct lives *lives)
{
	for (size_t i = 0; i < lives->count; i++)
		lives->rows[i].has_changed = true;
}

void lives_fini(struct lives *lives)
{
	free(lives->rows);
	free(lives->told);
	*lives = (struct lives){ 0 };
}
