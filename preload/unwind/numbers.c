/* SPDX-License-Identifier: MIT */
/* numbers.c - words of memory near the records, and which of them can be a counter's. */
#include "preload/unwind/numbers.h"

#include <stdlib.h>

/*
 * Where numbers have been seen: in Wasmtime 36 to 50, and its command 49. Elsewhere a clock or a
 * count of calls that lies beside a store can look like them, so builds that have them elsewhere
 * get less: their stores are told by their places alone. Ascending.
 */
static const int distances[] = { -0x300, -0x2b0, -0x148, -0x100 };

enum {
	COLUMNS = ARRAY_SIZE(distances),
	PLACES_MAX = 64, /* (thread, record) */
	SEEN_MAX = 4096,
	/* What happens to lie beside a store changes too, but not as often. */
	SETTLED_CHANGES = 4,
	SETTLED_CHANGES_ALONE = 8, /* where stores in one place are all that was seen */
	RARELY = 4,
	NONE = -1,
};

#define NUMBER_MAX (UINT64_C(1) << 40)

struct place {
	uint64_t tid, record;
	uint64_t first[COLUMNS], last[COLUMNS]; /* seen; 0: not readable */
	uint64_t used;				/* when, in samples */
};

/* A number that was seen, and whose. */
struct seen {
	uint64_t number, record;
	int column;
};

/* What is needed until numbers are known for good. */
struct learning {
	struct place places[PLACES_MAX];
	struct seen seen[SEEN_MAX]; /* by hash; newer ones take the places of older */
};

static struct {
	int settled; /* column, or NONE */
	bool is_sure;
	uint64_t samples;
	bool is_out[COLUMNS];
	uint32_t changes[COLUMNS];
	uint64_t when[COLUMNS]; /* they happened: equal for columns that always change together */
	struct learning *learning;
	size_t place_count, record_count;
} self = { .settled = NONE };

uint64_t numbers_value(const struct sample_anchor *anchor, int distance)
{
	uint64_t address = anchor->record + (uint64_t)(int64_t)distance;
	uint64_t at = address - anchor->window_address;

	if (at >= anchor->window_size || at % 8 != 0)
		return 0;
	return anchor->words[anchor->stack_size / 8 + at / 8];
}

void numbers_start(void)
{
	free(self.learning);
	self = (__typeof__(self)){ .settled = NONE };
}

static struct place *place_of(uint64_t tid, uint64_t record, bool *is_new)
{
	struct place *places = self.learning->places, *oldest = &places[0];
	bool is_new_record = true;

	*is_new = false;
	for (size_t i = 0; i < self.place_count; i++) {
		if (places[i].tid == tid && places[i].record == record)
			return &places[i];
		is_new_record &= places[i].record != record;
		if (places[i].used < oldest->used)
			oldest = &places[i];
	}
	*is_new = true;
	self.record_count += is_new_record;
	if (self.place_count < PLACES_MAX)
		oldest = &places[self.place_count++];
	oldest->tid = tid;
	oldest->record = record;
	return oldest;
}

/* Whether a store in another place than RECORD had NUMBER too, as far as remembered. */
static bool is_anothers(int column, uint64_t record, uint64_t number)
{
	uint64_t hash = (number ^ (uint64_t)column << 48) * UINT64_C(0x9e3779b97f4a7c15);
	struct seen *seen = &self.learning->seen[hash >> 52 & (SEEN_MAX - 1)];

	if (seen->number == number && seen->column == column && seen->record != record)
		return true;
	*seen = (struct seen){ number, record, column };
	return false;
}

static void learn(int column, struct place *place, uint64_t number, bool is_new)
{
	uint64_t before = is_new ? 0 : place->last[column];

	if (is_new)
		place->first[column] = number;
	place->last[column] = number;
	if (number != 0 && number == before)
		return;
	if (number == 0 || number >= NUMBER_MAX || number < before ||
	    is_anothers(column, place->record, number)) {
		self.is_out[column] = true;
	} else if (!is_new) {
		self.changes[column]++;
		self.when[column] =
			(self.when[column] ^ self.samples) * UINT64_C(0x9e3779b97f4a7c15);
	}
}

/* The column that changed most often; of those that did as often the lowest. */
static int best(void)
{
	int found = NONE;

	for (int i = 0; i < COLUMNS; i++)
		if (!self.is_out[i] && (found == NONE || self.changes[i] > self.changes[found]))
			found = i;
	return found;
}

/*
 * Whether all other columns that change about as often tell the same stores apart. What changes now
 * and then only is memory beside the store that belongs to something else.
 */
static bool is_alone(int candidate)
{
	for (int i = 0; i < COLUMNS; i++)
		if (!self.is_out[i] && self.changes[i] * RARELY > self.changes[candidate] &&
		    self.when[i] != self.when[candidate])
			return false;
	return true;
}

/*
 * Whether stores in two places were made in turn, as one counter for all of them would number them:
 * counters of their own would have met.
 */
static bool is_common(int column)
{
	const struct place *places = self.learning->places;

	for (size_t i = 0; i < self.place_count; i++)
		for (size_t k = 0; k < i; k++)
			if (places[i].record != places[k].record &&
			    places[i].first[column] < places[k].last[column] &&
			    places[k].first[column] < places[i].last[column])
				return true;
	return false;
}

static void settle(void)
{
	int candidate = best();

	if (self.settled != NONE && self.is_out[self.settled])
		self.settled = NONE;
	if (candidate == NONE || self.changes[candidate] < SETTLED_CHANGES || !is_alone(candidate))
		return;
	self.is_sure = is_common(candidate);
	if (!self.is_sure && self.changes[candidate] < SETTLED_CHANGES_ALONE)
		return;
	self.settled = candidate;
	if (!self.is_sure)
		return;
	free(self.learning);
	self.learning = NULL;
	self.place_count = 0;
}

void numbers_learn(const struct sample_anchor *anchor, uint64_t tid)
{
	struct place *place;
	bool is_new;

	if (self.is_sure || anchor->window_size == 0)
		return;
	if (self.learning == NULL)
		self.learning = calloc(1, sizeof(*self.learning));
	if (self.learning == NULL)
		return;
	place = place_of(tid, anchor->record, &is_new);
	place->used = ++self.samples;
	for (int i = 0; i < COLUMNS; i++)
		if (!self.is_out[i])
			learn(i, place, numbers_value(anchor, distances[i]), is_new);
	settle();
}

int numbers_settled(void)
{
	return self.settled == NONE ? SAMPLE_NUMBER_UNKNOWN : distances[self.settled];
}

bool numbers_are_sure(void)
{
	return self.is_sure;
}
