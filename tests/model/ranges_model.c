/* SPDX-License-Identifier: MIT */
/*
 * ranges_model.c - the published code ranges, and when old ones are freed, in every order of steps.
 *
 * Property: no array is freed between thread_ranges_begin() and thread_ranges_end() of whoever got
 * it, be that a handler, a wrapper on the host's thread, or a handler that interrupts that wrapper
 * at any step. What a holder finds by a pc is what was published with the generation that it reads.
 * When nobody holds one, all arrays but the current are freed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/load/publish.h"
#include "preload/sig/ranges.h"
#include "preload/sig/thread.h"
#include "tests/model/explore.h"

enum { A = 1, B = 2, PC_A = 0x1010, PC_B = 0x2010, RANGE = 0x100 };

/* The registry's lock, around all that publish.h does. */
static int lock;
static struct thread blocks[2];

static void locked(bool is_taken)
{
	explore_step(&lock, is_taken ? "lock the registry" : "unlock the registry",
		     is_taken ? EXPLORE_LOCK : EXPLORE_UNLOCK, __FILE__, __LINE__);
}

static void begin(void)
{
	thread_table.blocks = blocks;
	thread_table.capacity = thread_table.count = 2;
}

static void add(uint32_t id, uintptr_t pc)
{
	const struct range range = { .start = pc & ~0xfful,
				     .end = (pc & ~0xfful) + RANGE,
				     .id = id };

	locked(true);
	publish_add(&range);
	locked(false);
}

/* Generation 1: A; 2: A and B; 3: B. */
static void host(void)
{
	add(A, PC_A);
	add(B, PC_B);
	locked(true);
	publish_remove(A);
	locked(false);
}

static void our_thread(void)
{
	for (int i = 0; i < 2; i++) {
		locked(true);
		publish_reclaim();
		locked(false);
	}
}

static void use(const struct ranges *ranges)
{
	if (ranges == NULL)
		return;
	explore_touch(ranges, false);
	explore_expect(!explore_is_freed(ranges), "no array is freed while somebody holds it");
	explore_expect((ranges_find(ranges, PC_A) != NULL) == (ranges->generation < 3) &&
			       (ranges_find(ranges, PC_B) != NULL) == (ranges->generation > 1),
		       "an array holds what its generation says");
	explore_touch(ranges, false);
	explore_expect(!explore_is_freed(ranges), "no array is freed while somebody holds it");
}

static void hold(struct thread *thread)
{
	uint64_t before;
	const struct ranges *ranges = thread_ranges_begin(thread, &before);

	use(ranges);
	thread_ranges_end(thread, before);
}

static void handler(void)
{
	hold(&blocks[0]);
}

static void wrapper(void)
{
	hold(&blocks[1]);
}

static void again(void)
{
	hold(&blocks[0]);
	hold(&blocks[0]);
}

static void end(void)
{
	publish_reclaim();
	explore_expect(thread_oldest_generation() == UINT64_MAX, "nobody holds an array any more");
	explore_expect(explore_blocks(sizeof(struct ranges)) == 1,
		       "what nobody holds is freed, but for what is current");
}

int main(void)
{
	const struct explore_program nested = {
		.name = "ranges, a wrapper and the handler that interrupts it",
		.begin = begin,
		.threads = { { .name = "host", .body = host },
			     { .name = "our thread", .body = our_thread },
			     { .name = "wrapper", .body = wrapper },
			     { .name = "its handler", .body = wrapper, .interrupts = 3 } },
		.end = end,
	};
	const struct explore_program two = {
		.name = "ranges, two handlers",
		.begin = begin,
		.threads = { { .name = "host", .body = host },
			     { .name = "our thread", .body = our_thread },
			     { .name = "handler 1", .body = handler },
			     { .name = "handler 2", .body = wrapper } },
		.end = end,
	};
	const struct explore_program twice = {
		.name = "ranges, a handler twice",
		.begin = begin,
		.threads = { { .name = "host", .body = host },
			     { .name = "our thread", .body = our_thread },
			     { .name = "handler", .body = again } },
		.end = end,
	};

	explore(&twice);
	explore(&nested);
	explore(&two);
	return 0;
}
