/* SPDX-License-Identifier: MIT */
/*
 * asleep.c - copies of a sleeping thread's entries, exit record and stack become a sample.
 *
 * The same steps as the handler's (sig/tick.c), over copies: the handler reads its own thread's
 * memory in place, which nobody can unmap meanwhile. Threads: ours only; ranges_current() is ours
 * to read because load_reclaim(), which frees retired arrays, also runs on our thread.
 */
#include "preload/sampler/asleep.h"

#include <string.h>
#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/guarded.h"
#include "preload/sampler/copied.h"
#include "preload/sig/cpu.h"
#include "preload/sig/exitrec.h"
#include "preload/sig/frameless.h"
#include "preload/sig/ranges.h"

enum {
	RESUMER_HEAD = 16,   /* address and size: sig/sample.h */
	RESUMER_BELOW = 128, /* the resumer's stack pointer is known to about that */
	POLL_BELOW = 4096,   /* frames between the wrapper that polls and the switch to the fiber */
	MARGIN = 512,	     /* above the outermost guest frame: its own, and the host's below it */
};

static struct {
	const struct thread *thread;
	uintptr_t sp;
	bool ordinary; /* sp is on the thread's own stack, whose bounds are known */
	uint32_t depth;
	struct entry entries[ENTRY_DEPTH];
	struct copied stack;   /* from sp */
	struct copied context; /* a store's, while its exit record is looked for */
	struct sample *sample; /* in out */
	uint64_t out[(SAMPLE_LARGEST + RESUMER_HEAD + SAMPLE_MAX_RESUMER) / sizeof(uint64_t)];
} self;

/* ---- memory of the sleeping thread ----------------------------------------------------------- */

static bool read_word(uintptr_t address, uint64_t *word)
{
	if ((address & 7) != 0)
		return false;
	return copied_word(&self.stack, address, word) ||
	       copied_word(&self.context, address, word) ||
	       guarded_read(address, word, sizeof(*word)) == 0;
}

static bool copy_entries(void)
{
	const struct thread *thread = self.thread;
	uintptr_t start = atomic_load_explicit(&thread->stack_start, memory_order_relaxed);
	/* acquire: pairs with the sampler, which stores the end last */
	uintptr_t end = atomic_load_explicit(&thread->stack_end, memory_order_acquire);

	self.ordinary = self.sp >= start && self.sp < end;
	if (guarded_read((uintptr_t)&thread->depth, &self.depth, sizeof(self.depth)) != 0)
		return false;
	if (self.depth > ENTRY_DEPTH) {
		self.depth = ENTRY_DEPTH;
		self.sample->flags |= SAMPLE_TRUNCATED;
	}
	if (self.depth > 0 && guarded_read((uintptr_t)thread->entries, self.entries,
					   self.depth * sizeof(self.entries[0])) != 0)
		return false;
	/* What a longjmp left behind: sig/thread.h. */
	while (self.depth > 0 && self.ordinary &&
	       (self.entries[self.depth - 1].flags & ENTRY_FIBER) == 0 &&
	       self.entries[self.depth - 1].sp >= start && self.entries[self.depth - 1].sp < end &&
	       self.entries[self.depth - 1].sp <= self.sp)
		self.depth--;
	return true;
}

/* ---- guest frames ---------------------------------------------------------------------------- */

static uintptr_t limit_of(const struct entry *entry)
{
	if (!self.ordinary || (entry != NULL && (entry->flags & ENTRY_FIBER) != 0))
		return UINTPTR_MAX;
	if (entry != NULL && entry->sp > self.sp)
		return entry->sp;
	return atomic_load_explicit(&self.thread->stack_end, memory_order_relaxed);
}

static bool is_guest(const struct ranges *ranges, uintptr_t return_address)
{
	return return_address != 0 && ranges_find(ranges, return_address - 1) != NULL;
}

struct chain {
	const struct ranges *ranges;
	uint32_t count;	   /* pcs in the sample */
	uintptr_t last_fp; /* of the frame that returns to the host; 0: not reached */
};

/* Appends the return address PC into the frame at FP, and its callers below LIMIT. */
static void follow(struct chain *chain, uintptr_t pc, uintptr_t fp, uintptr_t limit)
{
	chain->last_fp = 0;
	while (is_guest(chain->ranges, pc) && chain->count < SAMPLE_MAX_PCS) {
		uint64_t outer, caller;

		self.sample->words[chain->count++] = pc;
		if (fp >= limit || !read_word(fp, &outer) || !read_word(fp + 8, &caller))
			return;
		if (!is_guest(chain->ranges, (uintptr_t)caller)) {
			chain->last_fp = fp;
			return;
		}
		if (outer <= fp)
			return;
		pc = (uintptr_t)caller;
		fp = (uintptr_t)outer;
	}
}

/* The activations below the innermost one, as their entries noted where they called out. */
static void append_outer(struct chain *chain)
{
	for (uint32_t inner = self.depth; inner-- > 1;) {
		const struct entry *entry = &self.entries[inner];
		uint32_t before = chain->count;

		if (frameless_is(entry - 1)) {
			chain->count = frameless_append(self.sample->words, chain->count,
							SAMPLE_MAX_PCS, entry - 1, entry);
			continue;
		}
		if (entry->outer_pc == 0) {
			if (!exitrec_is_learned((entry - 1)->layout))
				self.sample->flags |= SAMPLE_TRUNCATED;
			continue;
		}
		if (chain->count > 0 && chain->count < SAMPLE_MAX_PCS)
			self.sample->words[chain->count++] = 0;
		follow(chain, entry->outer_pc, entry->outer_fp, limit_of(entry - 1));
		if (chain->last_fp == 0)
			self.sample->flags |= SAMPLE_TRUNCATED;
		/* No 0 without a pc after it. */
		if (chain->count > 0 && chain->count - before < 2 &&
		    self.sample->words[chain->count - 1] == 0)
			chain->count = before;
	}
}

/* sp < exit frame < entry frame < the wrapper, as sig/exitrec.c has it. */
static bool fits_stack(const struct entry *entry, const struct exit_record *record)
{
	if (record->frame <= self.sp || record->frame - self.sp > EXIT_MAX_DISTANCE ||
	    record->entry_fp <= record->frame)
		return false;
	return (entry->flags & ENTRY_FIBER) != 0 || record->entry_fp < entry->sp;
}

static enum exit_state read_exit_at(const struct entry *entry, uintptr_t place,
				    struct exit_record *record)
{
	const struct exit_layout *layout = entry->layout;
	uint64_t frame, pc, entry_fp, word;

	if (!read_word(place + layout->exit_fp, &frame) ||
	    !read_word(place + layout->exit_pc, &pc) ||
	    !read_word(place + layout->entry_fp, &entry_fp))
		return EXIT_UNKNOWN;
	*record =
		(struct exit_record){ .pc = pc, .fp = frame, .frame = frame, .entry_fp = entry_fp };
	if (!fits_stack(entry, record))
		return EXIT_NONE;
	if (!layout->exit_fp_is_trampoline)
		return EXIT_FOUND;
	/* Host frames that have grown over a returned guest's leave another word here. */
	if (!read_word(frame + 8, &word) || word != pc || !read_word(frame, &word))
		return EXIT_NONE;
	record->fp = (uintptr_t)word;
	return record->fp > record->frame ? EXIT_FOUND : EXIT_NONE;
}

/*
 * Whether records tell of all activations. Those below the innermost one had theirs read when that
 * was entered; if its place was not known yet, the stack must tell.
 */
static bool have_records(void)
{
	const struct entry *innermost;

	if (self.depth == 0)
		return false;
	for (uint32_t i = 1; i < self.depth; i++)
		if (self.entries[i].outer_pc == 0)
			return false;
	innermost = &self.entries[self.depth - 1];
	return innermost->context != 0 && exitrec_is_learned(innermost->layout);
}

static enum exit_state read_exit(const struct entry *entry, struct exit_record *record)
{
	int offset = atomic_load_explicit(&entry->layout->offset, memory_order_relaxed);

	return read_exit_at(entry, entry->context + (uintptr_t)offset, record);
}

/* False when the record is of a call that is over: no guest frame of this activation. */
static bool append_exit(struct chain *chain, const struct entry *entry,
			const struct exit_record *record)
{
	follow(chain, record->pc, record->fp, limit_of(entry));
	if (chain->count == 0 || (chain->last_fp != 0 && chain->last_fp != record->entry_fp)) {
		chain->count = 0;
		return false;
	}
	if (chain->last_fp == 0)
		self.sample->flags |= SAMPLE_TRUNCATED;
	return true;
}

/*
 * Where is the record that fits this stack? A guest that only waits is never seen by the handler,
 * which learns it else (sig/learn.c).
 */
static void learn(struct chain *chain, const struct entry *entry)
{
	int found = EXIT_NOT_LEARNED, matches = 0;
	struct exit_record record;

	if (!exitrec_is_wanted(entry))
		return;
	copied_take(&self.context, entry->context, entry->context + EXIT_SEARCH_SIZE);
	for (int at = 0; at < EXIT_SEARCH_SIZE; at += 8) {
		enum exit_state state =
			read_exit_at(entry, entry->context + (uintptr_t)at, &record);

		if (state == EXIT_UNKNOWN)
			break;
		if (state != EXIT_FOUND)
			continue;
		follow(chain, record.pc, record.fp, limit_of(entry));
		if (chain->count > 0 && chain->last_fp == record.entry_fp) {
			found = at;
			matches++;
		}
		chain->count = 0;
	}
	if (matches > 0)
		exitrec_agree(entry->layout, found, matches);
}

/* ---- the sample ------------------------------------------------------------------------------ */

/* The end of the slice that holds every word that points into guest code; 0: there is none. */
static size_t guest_size(const struct ranges *ranges)
{
	size_t last = 0;
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= self.stack.size; at += sizeof(word)) {
		memcpy(&word, self.stack.bytes + at, sizeof(word));
		if (is_guest(ranges, (uintptr_t)word))
			last = at + sizeof(word) + MARGIN;
	}
	return last < self.stack.size ? last : self.stack.size;
}

/* Where the resumer's stack pointer is, or lies above (as sig/above.c); 0: unknown. */
static uintptr_t resumer_of(const struct entry *entry)
{
	uintptr_t sp = atomic_load_explicit(&self.thread->resumer_sp, memory_order_relaxed);

	if (sp != 0)
		return (sp - RESUMER_BELOW) & ~(uintptr_t)7;
	if (entry != NULL && (entry->flags & ENTRY_FIBER) != 0)
		return (entry->sp - POLL_BELOW) & ~(uintptr_t)7;
	return 0;
}

/* On a fiber the stack goes on elsewhere. */
static void add_resumer(const struct entry *entry)
{
	struct sample *sample = self.sample;
	uint64_t *head = (uint64_t *)((uint8_t *)sample + sample->size);
	uintptr_t from = resumer_of(entry);
	size_t size = SAMPLE_MAX_RESUMER;
	uintptr_t start = atomic_load_explicit(&self.thread->stack_start, memory_order_relaxed);
	/* acquire: pairs with the sampler, which stores the end last */
	uintptr_t end = atomic_load_explicit(&self.thread->stack_end, memory_order_acquire);

	if (self.ordinary || from < start || from >= end)
		return;
	if (end - from < size)
		size = end - from;
	if (guarded_read(from, head + 2, size) != 0)
		return;
	head[0] = from;
	head[1] = size;
	sample->flags |= SAMPLE_RESUMER;
	sample->size += (uint32_t)(RESUMER_HEAD + size);
}

static struct sample *finish(const struct chain *chain, uintptr_t pc, size_t slice_size)
{
	struct sample *sample = self.sample;
	uint64_t *registers = self.sample->words + chain->count;

	cpu_caller_registers(pc, 0, self.sp, registers);
	memcpy(registers + SAMPLE_REGISTERS, self.stack.bytes, slice_size);
	sample->kind = SAMPLE_HOST;
	sample->time_ns = clock_ns(CLOCK_MONOTONIC);
	sample->generation = chain->ranges != NULL ? chain->ranges->generation : 0;
	sample->instance = self.depth > 0 ? self.entries[self.depth - 1].instance : 0;
	sample->weight = 1;
	sample->pc_count = chain->count;
	sample->slice_size = (uint32_t)slice_size;
	sample->slice_address = self.sp;
	sample->size =
		(uint32_t)(sizeof(*sample) + (chain->count + SAMPLE_REGISTERS) * sizeof(uint64_t) +
			   slice_size);
	return sample;
}

static bool holds_all_activations(void)
{
	return self.depth > 0 && self.sp + self.stack.size >= limit_of(&self.entries[0]);
}

static size_t find_guest(struct chain *chain, const struct entry *entry, bool whole)
{
	struct exit_record record;
	enum exit_state state = EXIT_UNKNOWN;
	size_t size = self.stack.size;

	if (have_records())
		state = read_exit(entry, &record);
	else if (entry != NULL)
		learn(chain, entry);
	if (state == EXIT_FOUND && append_exit(chain, entry, &record)) {
		if (!whole && record.frame + MARGIN - self.sp < size)
			size = (record.frame + MARGIN - self.sp) & ~(size_t)7;
	} else if (state == EXIT_UNKNOWN) {
		size_t found = guest_size(chain->ranges);

		if (!whole || found == 0)
			size = found;
	}
	if (state != EXIT_UNKNOWN || !holds_all_activations())
		append_outer(chain);
	if (state == EXIT_UNKNOWN)
		return size;
	self.sample->flags |= SAMPLE_EXIT_RECORD;
	return chain->count > 0 ? size : 0;
}

/* As the handler's take_frameless(): the stack is for those who want the host's frames. */
static size_t take_frameless(struct chain *chain, const struct entry *entry, bool whole)
{
	chain->count = frameless_append(self.sample->words, 0, SAMPLE_MAX_PCS, entry, NULL);
	append_outer(chain);
	self.sample->flags |= SAMPLE_FRAMELESS;
	return whole ? self.stack.size : 0;
}

enum asleep_result asleep_take(const struct thread *thread, uintptr_t sp, uintptr_t pc, bool whole,
			       struct sample **sample)
{
	struct chain chain = { .ranges = ranges_current() };
	const struct entry *entry;
	uintptr_t limit;
	size_t size;

	self.thread = thread;
	self.sp = sp;
	self.stack.size = self.context.size = 0;
	self.sample = (struct sample *)self.out;
	*self.sample = (struct sample){ 0 };
	if ((sp & 7) != 0 || !copy_entries())
		return ASLEEP_UNREADABLE;
	entry = self.depth > 0 ? &self.entries[self.depth - 1] : NULL;
	if (entry == NULL)
		self.sample->flags |= SAMPLE_NO_ENTRY;
	if (!self.ordinary)
		self.sample->flags |= SAMPLE_FIBER;
	if (whole || entry == NULL)
		limit = limit_of(NULL);
	else
		limit = limit_of(have_records() ? entry : &self.entries[0]);
	copied_take(&self.stack, sp, limit);
	if (self.stack.size == 0)
		return ASLEEP_UNREADABLE;
	size = entry != NULL && frameless_is(entry) ? take_frameless(&chain, entry, whole)
						    : find_guest(&chain, entry, whole);
	if (chain.count == 0 && size == 0)
		return ASLEEP_NO_GUEST;
	*sample = finish(&chain, pc, size);
	if (whole)
		add_resumer(entry);
	return ASLEEP_TAKEN;
}
