/* SPDX-License-Identifier: MIT */
/* counting.c - counters that only rise become what was gained. Threads: one at a time. */
#include "preload/cmd/live/counting.h"

#include "preload/read/rows.h"

#include <stdlib.h>
#include <string.h>

enum { STATS_MAX = 200 };

void counting_free(struct counting *counting)
{
	for (size_t i = 0; i < counting->count; i++)
		free((char *)(uintptr_t)counting->stats[i].name);
	free(counting->stats);
	*counting = (struct counting){ 0 };
}

static uint64_t more(uint64_t now, uint64_t told)
{
	return now >= told ? now - told : now;
}

struct feed_counters counting_more(const struct feed_counters *now,
				   const struct feed_counters *told)
{
	struct feed_counters gained = {
		.cpu_ns = more(now->cpu_ns, told->cpu_ns),
		.wall_ns = more(now->wall_ns, told->wall_ns),
		.instances_created = more(now->instances_created, told->instances_created),
	};

	for (size_t i = 0; i < STATE_COUNT; i++)
		gained.samples_by_state[i] =
			more(now->samples_by_state[i], told->samples_by_state[i]);
	return gained;
}

/* ---- counters of the process ----------------------------------------------------------------- */

struct telling {
	struct counting *counting;
	struct census *census; /* NULL: nobody is told */
};

/* What was told of NAME; NULL without memory or room. */
static struct census_stat *find_stat(struct counting *counting, const char *name, size_t size)
{
	struct census_stat *stat;

	for (size_t i = 0; i < counting->count; i++) {
		stat = &counting->stats[i];
		if (strncmp(stat->name, name, size) == 0 && stat->name[size] == '\0')
			return stat;
	}
	if (counting->count == STATS_MAX ||
	    rows_reserve(&counting->stats, &counting->room, counting->count, sizeof(*stat)) != 0)
		return NULL;
	stat = &counting->stats[counting->count];
	stat->name = strndup(name, size);
	stat->value = 0;
	if (stat->name == NULL)
		return NULL;
	counting->count++;
	return stat;
}

static void tell_stat(void *context, const char *name, size_t name_size, uint64_t value)
{
	const struct telling *telling = context;
	struct census_stat *stat = find_stat(telling->counting, name, name_size);

	if (stat == NULL)
		return;
	if (telling->census != NULL)
		census_add_stat(telling->census, stat->name, more(value, stat->value));
	stat->value = value;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_zero(const struct feed_counters *counters)
{
	static const struct feed_counters zero;

	return memcmp(counters, &zero, sizeof(zero)) == 0;
}

void counting_tell(struct counting *counting, struct feed *feed, const char *key,
		   struct census *census, uint64_t now_ns)
{
	struct telling telling = { counting, census };
	uint32_t process = census_process(census, key, feed_program(feed), feed_pid(feed), now_ns);

	feed_each_stat(feed, tell_stat, &telling);
	for (size_t i = 0; i < feed_group_count(feed) && process != UINT32_MAX; i++) {
		struct feed_group *group = feed_group(feed, i);
		struct feed_counters gained = counting_more(&group->counters, &group->told);

		if (!is_zero(&gained) && census_add(census, process, group, &gained, now_ns) == 0)
			group->told = group->counters;
	}
}

void counting_skip(struct counting *counting, struct feed *feed)
{
	struct telling telling = { counting, NULL };

	feed_each_stat(feed, tell_stat, &telling);
	for (size_t i = 0; i < feed_group_count(feed); i++)
		feed_group(feed, i)->told = feed_group(feed, i)->counters;
}
