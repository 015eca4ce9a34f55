/* SPDX-License-Identifier: MIT */
/*
 * codemap.c - pieces of code by the pages that they lie in.
 *
 *   page number --hash--> list of (piece, next)      a piece is in the list of each of its pages
 *
 * A page of 4 KiB holds few functions, so a list is short; an engine that makes code over and over
 * at one address makes it longer until the dead are forgotten.
 */
#include "symtab/codemap.h"

#include <errno.h>
#include <stdlib.h>

enum { PAGE_LOG2 = 12, MAX_SIZE = 16 << 20, FIRST_BUCKETS = 1024 };

struct link {
	struct link *next;
	struct code *code;
	uintptr_t page;
};

struct codemap {
	struct link **buckets;
	size_t bucket_count; /* a power of two */
	size_t link_count;
	struct code **codes;
	size_t count, room;
	uint64_t oldest_death_ns; /* no later than the first death among the dead */
};

static uintptr_t first_page(const struct code *code)
{
	return code->start >> PAGE_LOG2;
}

static uintptr_t last_page(const struct code *code)
{
	return (code->start + code->size - 1) >> PAGE_LOG2;
}

static struct link **bucket_of(const struct codemap *map, uintptr_t page)
{
	uint64_t hash = (uint64_t)page * UINT64_C(0x9e3779b97f4a7c15);

	return &map->buckets[(hash >> 32) & (map->bucket_count - 1)];
}

struct codemap *codemap_new(void)
{
	struct codemap *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return NULL;
	map->bucket_count = FIRST_BUCKETS;
	map->buckets = calloc(map->bucket_count, sizeof(struct link *));
	if (map->buckets == NULL) {
		free(map);
		return NULL;
	}
	map->oldest_death_ns = UINT64_MAX;
	return map;
}

void codemap_free(struct codemap *map)
{
	if (map == NULL)
		return;
	for (size_t i = 0; i < map->bucket_count; i++) {
		struct link *link = map->buckets[i], *next;

		for (; link != NULL; link = next) {
			next = link->next;
			free(link);
		}
	}
	for (size_t i = 0; i < map->count; i++)
		free(map->codes[i]);
	free(map->codes);
	free(map->buckets);
	free(map);
}

/* ---- links ---------------------------------------------------------------------------------- */

static void grow_buckets(struct codemap *map)
{
	struct link **old = map->buckets, **buckets;
	size_t old_count = map->bucket_count;

	if (map->link_count < 2 * old_count)
		return;
	buckets = calloc(4 * old_count, sizeof(struct link *));
	if (buckets == NULL)
		return; /* lists get longer, no more */
	map->buckets = buckets;
	map->bucket_count = 4 * old_count;
	for (size_t i = 0; i < old_count; i++) {
		struct link *link = old[i], *next;

		for (; link != NULL; link = next) {
			struct link **bucket = bucket_of(map, link->page);

			next = link->next;
			link->next = *bucket;
			*bucket = link;
		}
	}
	free(old);
}

static void unlink_code(struct codemap *map, const struct code *code)
{
	for (uintptr_t page = first_page(code); page <= last_page(code); page++) {
		struct link **at = bucket_of(map, page);

		while (*at != NULL && ((*at)->code != code || (*at)->page != page))
			at = &(*at)->next;
		if (*at != NULL) {
			struct link *link = *at;

			*at = link->next;
			free(link);
			map->link_count--;
		}
	}
}

static int link_code(struct codemap *map, struct code *code)
{
	for (uintptr_t page = first_page(code); page <= last_page(code); page++) {
		struct link **bucket = bucket_of(map, page);
		struct link *link = malloc(sizeof(*link));

		if (link == NULL) {
			unlink_code(map, code);
			return -ENOMEM;
		}
		*link = (struct link){ .next = *bucket, .code = code, .page = page };
		*bucket = link;
		map->link_count++;
	}
	return 0;
}

/* ---- pieces --------------------------------------------------------------------------------- */

static bool holds(const struct code *code, uintptr_t pc)
{
	return pc >= code->start && pc - code->start < code->size;
}

static void end(struct codemap *map, struct code *code, uint64_t now_ns)
{
	code->died_ns = now_ns;
	if (now_ns < map->oldest_death_ns)
		map->oldest_death_ns = now_ns;
}

void codemap_forget(struct codemap *map, uint64_t oldest_ns)
{
	size_t kept = 0;

	if (map->oldest_death_ns > oldest_ns)
		return;
	map->oldest_death_ns = UINT64_MAX;
	for (size_t i = 0; i < map->count; i++) {
		struct code *code = map->codes[i];

		if (code->died_ns <= oldest_ns) {
			unlink_code(map, code);
			free(code);
			continue;
		}
		if (code->died_ns < map->oldest_death_ns)
			map->oldest_death_ns = code->died_ns;
		map->codes[kept++] = code;
	}
	map->count = kept;
}

static void drop_older_half(struct codemap *map)
{
	size_t wanted = map->count / 2, kept = 0;

	for (size_t i = 0; i < map->count; i++) {
		struct code *code = map->codes[i];

		if (code->owner == 0 && i < wanted) {
			unlink_code(map, code);
			free(code);
		} else {
			map->codes[kept++] = code;
		}
	}
	map->count = kept;
}

static int reserve(struct codemap *map)
{
	size_t room = map->room == 0 ? 256 : 2 * map->room;
	struct code **codes;

	if (map->count >= CODEMAP_MAX)
		codemap_forget(map, UINT64_MAX - 1);
	if (map->count >= CODEMAP_MAX)
		drop_older_half(map);
	if (map->count >= CODEMAP_MAX)
		return -E2BIG;
	if (map->count < map->room)
		return 0;
	codes = realloc(map->codes, room * sizeof(struct code *));
	if (codes == NULL)
		return -ENOMEM;
	map->codes = codes;
	map->room = room;
	return 0;
}

/* Ends live code that FRESH overlaps. True when that is FRESH itself: nothing is to be done. */
static bool make_way(struct codemap *map, const struct code *fresh)
{
	for (uintptr_t page = first_page(fresh); page <= last_page(fresh); page++) {
		struct link *link = *bucket_of(map, page);

		for (; link != NULL; link = link->next) {
			struct code *code = link->code;

			if (code->died_ns != UINT64_MAX ||
			    (!holds(code, fresh->start) && !holds(fresh, code->start)))
				continue;
			if (code->start == fresh->start && code->size == fresh->size &&
			    code->place == fresh->place)
				return true;
			end(map, code, fresh->born_ns);
		}
	}
	return false;
}

int codemap_add(struct codemap *map, const struct code *fresh)
{
	struct code *code;
	int error;

	if (fresh->size == 0 || fresh->size > MAX_SIZE || fresh->start + fresh->size < fresh->start)
		return -EINVAL;
	if (make_way(map, fresh))
		return 0;
	error = reserve(map);
	if (error != 0)
		return error;
	code = malloc(sizeof(*code));
	if (code == NULL)
		return -ENOMEM;
	*code = *fresh;
	code->died_ns = UINT64_MAX;
	error = link_code(map, code);
	if (error != 0) {
		free(code);
		return error;
	}
	map->codes[map->count++] = code;
	grow_buckets(map);
	return 0;
}

static struct code *live_at(const struct codemap *map, uintptr_t start)
{
	struct link *link = *bucket_of(map, start >> PAGE_LOG2);

	while (link != NULL && (link->code->start != start || link->code->died_ns != UINT64_MAX))
		link = link->next;
	return link != NULL ? link->code : NULL;
}

int codemap_move(struct codemap *map, uintptr_t start, uintptr_t to, uint64_t now_ns)
{
	struct code *code = live_at(map, start);
	struct code moved;

	if (code == NULL)
		return -ENOENT;
	moved = *code; /* making room may free it */
	moved.start = to;
	moved.born_ns = now_ns;
	end(map, code, now_ns);
	return codemap_add(map, &moved);
}

void codemap_remove(struct codemap *map, uintptr_t start, uint64_t now_ns)
{
	struct code *code = live_at(map, start);

	if (code != NULL)
		end(map, code, now_ns);
}

void codemap_end_owner(struct codemap *map, uint32_t owner, uint64_t now_ns)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->codes[i]->owner == owner && map->codes[i]->died_ns == UINT64_MAX)
			end(map, map->codes[i], now_ns);
}

/* Whether A answers better than B for a sample of TIME_NS. */
static bool is_better(const struct code *a, const struct code *b, uint64_t time_ns)
{
	if (b == NULL)
		return true;
	if ((a->born_ns <= time_ns) != (b->born_ns <= time_ns))
		return a->born_ns <= time_ns;
	return a->born_ns <= time_ns ? a->born_ns >= b->born_ns : a->born_ns < b->born_ns;
}

const struct code *codemap_find(const struct codemap *map, uintptr_t pc, uint64_t time_ns)
{
	const struct link *link = *bucket_of(map, pc >> PAGE_LOG2);
	const struct code *best = NULL;

	for (; link != NULL; link = link->next)
		if (holds(link->code, pc) && link->code->died_ns > time_ns &&
		    is_better(link->code, best, time_ns))
			best = link->code;
	return best;
}

const struct code *codemap_find_behind(const struct codemap *map, uintptr_t address, size_t within,
				       uint64_t time_ns)
{
	uintptr_t page = address >> PAGE_LOG2, last = (address + within) >> PAGE_LOG2;
	const struct code *best = NULL;

	for (; page <= last && last - page < 2; page++) {
		const struct link *link = *bucket_of(map, page);

		for (; link != NULL; link = link->next) {
			const struct code *code = link->code;

			if (code->start <= address || code->start - address > within ||
			    code->died_ns <= time_ns || (best != NULL && code->start > best->start))
				continue;
			if (best == NULL || code->start < best->start ||
			    is_better(code, best, time_ns))
				best = code;
		}
	}
	return best;
}

size_t codemap_count(const struct codemap *map)
{
	return map->count;
}
