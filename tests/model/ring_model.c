/* SPDX-License-Identifier: MIT */
/*
 * ring_model.c - the ring between a handler and our thread, in every order of their steps.
 *
 * Property: each sample that the handler has to put is either refused, and the handler knows it, or
 * read exactly once, whole, and in its turn. None is read that was not put, none half-written, and
 * none is overwritten before our thread let it go.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "preload/sig/ring.h"
#include "tests/model/explore.h"

enum { RING_SIZE = 256, PUTS = 4, LOOKS = 4 };

static struct {
	struct ring *ring;
	uint64_t attempted, put, refused, read;
	uint64_t numbers[PUTS]; /* of those that were put */
} now;

/* What one search varies: where the ring begins, and how large the records are. */
static uint64_t start;
static const uint32_t *words;

static void begin(void)
{
	now.ring = calloc(1, sizeof(*now.ring) + RING_SIZE);
	now.ring->size = RING_SIZE;
	now.ring->head = now.ring->tail = start;
}

static void put_one(void)
{
	uint64_t number = now.attempted++;
	uint32_t count = words[number];
	/* More is reserved than is used, as in a handler that does not know yet. */
	struct sample *sample = ring_reserve(now.ring, sizeof(*sample) + (count + 1) * 8);

	if (sample == NULL) {
		now.refused++;
		return;
	}
	explore_touch(now.ring->bytes, true);
	sample->kind = SAMPLE_GUEST;
	sample->flags = 0;
	sample->size = (uint32_t)(sizeof(*sample) + count * 8);
	sample->time_ns = number;
	sample->pc_count = count;
	explore_touch(now.ring->bytes, true);
	for (uint32_t i = 0; i < count; i++)
		sample->words[i] = number * 100 + i;
	ring_commit(now.ring, sample);
	now.numbers[now.put++] = number;
}

static void check(const struct sample *sample)
{
	uint64_t number;

	explore_touch(now.ring->bytes, false);
	number = sample->time_ns;
	/* put_one() may not have come to its last line yet. */
	explore_expect(sample->kind == SAMPLE_GUEST && number < now.attempted,
		       "what is read was put");
	explore_expect(now.read >= now.put || now.numbers[now.read] == number,
		       "samples are read once each, in the order in which they were put");
	explore_expect(sample->size == sizeof(*sample) + words[number] * 8,
		       "a sample has the size with which it was put");
	for (uint32_t i = 0; i < words[number]; i++)
		explore_expect(sample->words[i] == number * 100 + i, "a sample is read whole");
	explore_touch(now.ring->bytes, false);
	explore_expect(sample->time_ns == number, "a sample stays until it is let go");
}

static bool take_one(void)
{
	const struct sample *sample = ring_peek(now.ring);

	if (sample == NULL)
		return false;
	check(sample);
	ring_release(now.ring, sample);
	now.read++;
	return true;
}

static void handler(void)
{
	while (now.attempted < PUTS)
		put_one();
}

static void our_thread(void)
{
	for (int i = 0; i < LOOKS; i++)
		take_one();
}

static void end(void)
{
	while (take_one())
		explore_expect(now.read <= PUTS, "no sample is read twice");
	explore_expect(now.put + now.refused == PUTS, "what is not put is counted");
	explore_expect(now.read == now.put, "what was put is read");
	explore_expect(ring_is_empty(now.ring), "an empty ring says so");
}

int main(void)
{
	/* 0: one that just fits before the end; sizes that meet each other in all positions. */
	static const uint32_t sizes[][PUTS] = {
		{ 5, 13, 0, 5 },  { 13, 13, 13, 13 }, { 0, 0, 0, 0 },
		{ 19, 0, 13, 5 }, { 9, 9, 1, 19 },
	};
	static const uint64_t starts[] = { 0, 48, 160, 208, 248 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t j = 0; j < sizeof(starts) / sizeof(starts[0]); j++) {
			const struct explore_program program = {
				.name = "ring",
				.begin = begin,
				.threads = { { .name = "handler", .body = handler },
					     { .name = "our thread", .body = our_thread } },
				.end = end,
			};

			words = sizes[i];
			start = starts[j];
			explore(&program);
		}
	}
	return 0;
}
