/* SPDX-License-Identifier: MIT */
/* intake.c - what comes to our thread from the others: loads, samples, waits. Threads: ours. */
#include "preload/intake.h"

#include "preload/base/clock.h"
#include "preload/base/log.h"
#include "preload/load/jitspace.h"
#include "preload/load/load.h"
#include "preload/load/parked.h"
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

static struct {
	uint64_t worked;   /* generation up to which loads were taken in */
	uint64_t loads_ns; /* CPU time for them */
} self;

/* Nobody knows who made code that came without an image. */
static void note_engine(const struct module *module)
{
	if (*module_engine(module) != '\0')
		output_note_engine(module_engine(module), module_engine_version(module));
}

static void on_added(const struct symtab_entry *entry)
{
	size_t size;
	uintptr_t address;
	const uint8_t *eh_frame = module_eh_frame(entry->module, &size, &address);

	/* not its name: that may take a hash of all its tables, and nobody has asked yet */
	log_line(LOG_DEBUG, "loading %u: %u functions", entry->id,
		 module_function_count(entry->module));
	/* Without tables too: frames in it are then told by its code and the frame pointer. */
	if (unwind_add_image(entry->id, entry->text, entry->text_size, eh_frame,
			     eh_frame != NULL ? size : 0, address, entry->born) != 0)
		log_line(LOG_INFO, "%s: its unwind tables are damaged", module_name(entry->module));
	note_engine(entry->module);
	owners_note_engine(module_engine(entry->module), module_engine_version(entry->module));
}

static void on_retired(uint32_t loading, uint64_t died)
{
	unwind_retire_image(loading, died);
}

static uint64_t current_generation(void)
{
	const struct ranges *ranges = ranges_current();

	return ranges != NULL ? ranges->generation : 0;
}

void intake_loads(void)
{
	static const struct load_observer observer = {
		.added = on_added,
		.retired = on_retired,
		.listed = note_engine,
	};

	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	self.worked = load_work(&observer);
	self.loads_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

void intake_told(uint64_t now_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	jitspace_look_again(now_ns);
	runtime_gdb_jit_work(now_ns);
	followed_work();
	self.loads_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	if (load_waits())
		intake_loads();
}

uint64_t intake_loads_ns(void)
{
	return self.loads_ns;
}

void intake_prepare(const struct sample *sample)
{
	if (sample->generation > self.worked || load_waits())
		intake_loads();
}

static void drain_ring(void *context, struct thread *thread, struct ring *ring)
{
	struct sample *sample;

	(void)context;
	while ((sample = ring_peek(ring)) != NULL) {
		intake_prepare(sample);
		owners_fill(sample, (uint64_t)thread->tid);
		output_take(sample, (uint64_t)thread->tid, thread->name);
		/* A stack that led from a fiber to where nothing was copied: next time it will be.
		 */
		thread_note_resumer(thread, (uintptr_t)unwind_missing());
		ring_release(ring, sample);
	}
}

uint64_t intake_samples(void)
{
	uint64_t generation = current_generation(), oldest = thread_oldest_generation();

	sampler_each_ring(drain_ring, NULL);
	owners_tidy();
	manual_drain(intake_prepare);
	return oldest < generation ? oldest : generation;
}

static void take_wait(void *context, const struct wait *wait)
{
	(void)context;
	if (wait->sample != NULL)
		intake_prepare(wait->sample);
	output_take_wait(wait);
}

static void take_parked(void *context, uint32_t instance, uint64_t wall_ns)
{
	(void)context;
	output_take_parked(instance, wall_ns);
}

uint64_t intake_waits(uint64_t now_ns)
{
	return waiting_work(now_ns, take_wait, NULL);
}

void intake_parked(void)
{
	parked_collect(take_parked, NULL);
}
