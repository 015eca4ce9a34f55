/* SPDX-License-Identifier: MIT */
/*
 * loads_model.c - modules that come and go at one address while samples of them are under way.
 *
 * Property: whenever our thread takes a sample out of a ring, the address and the generation in it
 * lead to the module whose code the thread was in when the tick came: never to the module that has
 * that address now, and never to none, however late our thread comes. No sample is lost.
 *
 * The registry, its lock, the publication, the set of modules, the intake and the reclaiming are
 * the real ones; of the handler this has what touches them, as sig/record.c does.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/base/config.h"
#include "preload/intake.h"
#include "preload/load/load.h"
#include "preload/manual.h"
#include "preload/output.h"
#include "preload/owners.h"
#include "preload/runtime/followed.h"
#include "preload/runtime/gdb_jit.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/waiting.h"
#include "preload/sig/ranges.h"
#include "preload/sig/ring.h"
#include "preload/sig/thread.h"
#include "preload/unwind/unwind.h"
#include "symtab/symtab.h"
#include "tests/model/explore.h"
#include "tests/unit/load/fake_image.h"

enum { RING_SIZE = 1024, THREADS = 2 };

/* Where modules come and go; what is there in turn; and one that stays. */
static uint8_t place[FAKE_SIZE] __attribute__((aligned(FAKE_PAGE)));
static uint8_t *first, *second, *twin, *kept;
static struct thread blocks[THREADS];
static unsigned int ticks, taken;

/* ---- what intake.c calls of other rooms -------------------------------------------------------
 */

void sampler_each_ring(void (*visit)(void *context, struct thread *thread, struct ring *ring),
		       void *context)
{
	for (int i = 0; i < THREADS; i++)
		visit(context, &blocks[i], blocks[i].ring);
}

/* A sample carries the first letter of the name of the code it was taken in. */
void output_take(const struct sample *sample, uint64_t tid, const char *name)
{
	const struct symtab_entry *entry =
		symtab_find(load_symtab(), sample->words[0], sample->generation);
	const struct symbol *symbol;

	(void)tid;
	(void)name;
	explore_expect(entry != NULL, "the module of a sample is known until the sample is taken");
	symbol = module_find(entry->module, sample->words[0] - entry->text);
	explore_expect(
		symbol != NULL &&
			module_symbol_name(entry->module, symbol)[0] == (char)sample->weight,
		"an old generation does not lead to a newer module, nor a new one to an older");
	taken++;
}

int unwind_add_image(uint32_t id, uintptr_t text, size_t text_size, const uint8_t *eh_frame,
		     size_t eh_frame_size, uintptr_t eh_frame_address, uint64_t born)
{
	(void)id, (void)text, (void)text_size, (void)eh_frame, (void)eh_frame_size;
	(void)eh_frame_address, (void)born;
	return 0;
}

void unwind_retire_image(uint32_t id, uint64_t died)
{
	(void)id, (void)died;
}

uint64_t unwind_missing(void)
{
	return 0;
}

void output_note_engine(const char *engine, const char *version)
{
	(void)engine, (void)version;
}

void output_take_wait(const struct wait *wait)
{
	(void)wait;
}

void output_take_parked(uint32_t instance, uint64_t wall_ns)
{
	(void)instance, (void)wall_ns;
}

uint64_t waiting_work(uint64_t now_ns, void (*take)(void *context, const struct wait *wait),
		      void *context)
{
	(void)take, (void)context;
	return now_ns;
}

void owners_note_engine(const char *engine, const char *version)
{
	(void)engine, (void)version;
}

void owners_fill(struct sample *sample, uint64_t tid)
{
	(void)sample, (void)tid;
}

void owners_tidy(void)
{
}

void runtime_gdb_jit_work(uint64_t now_ns)
{
	(void)now_ns;
}

void followed_work(void)
{
}

void manual_drain(void (*before)(const struct sample *sample))
{
	(void)before;
}

/* ---- the threads ------------------------------------------------------------------------------
 */

/* A tick in the code of IMAGE, whose names begin with LETTER. */
static void tick(int number, const uint8_t *image, char letter)
{
	uintptr_t pc = (uintptr_t)image + FAKE_PAGE + 5;
	struct sample *sample;
	uint64_t before;
	const struct ranges *ranges = thread_ranges_begin(&blocks[number], &before);

	explore_expect(ranges_find(ranges, pc) != NULL, "code is known before it can run");
	sample = ring_reserve(blocks[number].ring, sizeof(*sample) + 8);
	explore_expect(sample != NULL, "there is room");
	sample->kind = SAMPLE_GUEST;
	sample->size = sizeof(*sample) + 8;
	sample->generation = ranges->generation;
	sample->weight = (uint32_t)letter;
	sample->pc_count = 1;
	sample->words[0] = pc;
	ring_commit(blocks[number].ring, sample);
	ticks++;
	thread_ranges_end(&blocks[number], before);
}

static void announce(const uint8_t *image)
{
	load_announce(&(struct load_event){ .engine = "wasmtime", .image = (uintptr_t)image });
}

static void load(const uint8_t *image)
{
	memcpy(place, image, FAKE_SIZE);
	announce(place);
}

static void unload(void)
{
	load_deregister_frame(fake_image_frames(place));
	memset(place, 0, FAKE_SIZE);
}

/* The first module is there already. */
static void host(void)
{
	tick(0, place, 'a');
	unload();
	load(second);
	tick(0, place, 'b');
}

/* The same without a word of the first one's end: another module is simply there. */
static void silent_host(void)
{
	tick(0, place, 'a');
	load(second);
	tick(0, place, 'b');
}

/* ... and has the same sizes. */
static void twin_host(void)
{
	tick(0, place, 'a');
	load(twin);
	tick(0, place, 'c');
}

/* It only ends. */
static void leaving_host(void)
{
	tick(0, place, 'a');
	unload();
}

static void other_thread(void)
{
	tick(1, kept, 'k');
}

/* worker.c's turn, as far as it is about loads and samples. */
static void our_thread(void)
{
	intake_loads();
	load_reclaim(intake_samples());
}

static struct ring *new_ring(void)
{
	struct ring *ring = calloc(1, sizeof(*ring) + RING_SIZE);

	ring->size = RING_SIZE;
	return ring;
}

static void begin(void)
{
	for (int i = 0; i < THREADS; i++)
		blocks[i].ring = new_ring();
	thread_table.blocks = blocks;
	thread_table.capacity = thread_table.count = THREADS;
	announce(kept);
	intake_loads();
	load(first);
}

/* Our thread has taken the first module in already. */
static void begin_later(void)
{
	begin();
	intake_loads();
}

static void end(void)
{
	intake_loads();
	load_reclaim(intake_samples());
	explore_expect(taken == ticks, "no sample is lost");
}

static uint8_t *image_named(const char *prefix, unsigned int functions)
{
	uint8_t *image = fake_image_map(NULL, prefix, functions);

	mprotect(image, FAKE_SIZE, PROT_READ | PROT_WRITE);
	return image;
}

int main(void)
{
	struct explore_program program = {
		.begin = begin,
		.threads = { { .name = "host", .body = host },
			     { .name = "our thread", .body = our_thread } },
		.end = end,
	};

	kept = image_named("k", 1);
	first = image_named("a", 2);
	second = image_named("b", 3);
	twin = image_named("c", 2);
	program.name = "loads, told of their end";
	explore(&program);
	program.begin = begin_later;
	program.name = "loads, the first one known";
	explore(&program);
	program.threads[0].body = silent_host;
	program.name = "loads, replaced without a word";
	explore(&program);
	program.threads[0].body = twin_host;
	program.name = "loads, replaced by one of the same sizes";
	explore(&program);
	program.threads[2] = (struct explore_thread){ .name = "other", .body = other_thread };
	program.threads[0].body = leaving_host;
	program.name = "loads, one ends, and a thread in other code";
	explore(&program);
	return 0;
}
