/* SPDX-License-Identifier: MIT */
/*
 * anchor.c - finding the running store's record from the entry's frame pointer, and copying what
 * else tells the instance. Signals: async-signal-safe.
 */
#include "preload/sig/anchor.h"

#include "preload/sig/cpu.h"

enum {
	LEAST_ADDRESS = 0x10000,
	/* A pointer into the stack's neighbourhood is a frame pointer, and no store. */
	NEAR_STACK = 1 << 20,
	TRAMPOLINE_FRAME = 256,
};

struct anchor_setup anchor_setup = { .number_at = SAMPLE_NUMBER_UNKNOWN };

/* What a word above an entry is looked at for: is it what WANTED says? */
struct search {
	struct reach *reach;
	uintptr_t entry_fp, record;
	bool (*is_it)(const struct search *search, uintptr_t word);
	struct anchor_places *places;
};

SIGNAL_SAFE static bool holds(const struct search *search, uintptr_t at, uintptr_t value)
{
	return reach_word(search->reach, at) && cpu_word(at) == value;
}

SIGNAL_SAFE static bool is_record(const struct search *search, uintptr_t word)
{
	const struct context_layout *layout = &anchor_setup.layout;

	return holds(search, word + (uintptr_t)layout->entry_fp, search->entry_fp);
}

SIGNAL_SAFE static bool is_context(const struct search *search, uintptr_t word)
{
	const struct context_layout *layout = &anchor_setup.layout;
	uintptr_t types = word + (uintptr_t)layout->types;

	return holds(search, word + (uintptr_t)(intptr_t)layout->self, word) &&
	       holds(search, word + (uintptr_t)layout->record, search->record) &&
	       reach_word(search->reach, word) && (uint32_t)cpu_word(word) == layout->magic &&
	       reach_word(search->reach, types) && cpu_word(types) >= CONTEXT_LEAST_POINTER;
}

SIGNAL_SAFE static bool may_be_pointer(const struct search *search, uintptr_t word)
{
	return word % 8 == 0 && word >= LEAST_ADDRESS && word >> 47 == 0 &&
	       word + NEAR_STACK - search->entry_fp >= 2 * NEAR_STACK;
}

/* The word PLACE above the entry, if it is what is wanted; else 0. */
SIGNAL_SAFE static uintptr_t look(const struct search *search, uintptr_t place)
{
	uintptr_t word;

	if (!reach_word(search->reach, search->entry_fp + place))
		return 0;
	word = cpu_word(search->entry_fp + place);
	return may_be_pointer(search, word) && search->is_it(search, word) ? word : 0;
}

/* Looks everywhere above the entry: the one word that is what is wanted; 0: none, or two. */
SIGNAL_SAFE static uintptr_t look_everywhere(const struct search *search)
{
	uintptr_t found = 0, found_at = 0, word;
	unsigned int next;

	for (uintptr_t at = 16; at < ANCHOR_REACH; at += 8) {
		word = look(search, at);
		if (word == 0 || word == found)
			continue;
		if (found != 0)
			return 0;
		found = word;
		found_at = at;
	}
	if (found != 0) {
		next = atomic_fetch_add_explicit(&search->places->next, 1, memory_order_relaxed);
		atomic_store_explicit(&search->places->at[next % ANCHOR_PLACES], (int)found_at,
				      memory_order_relaxed);
	}
	return found;
}

SIGNAL_SAFE static uintptr_t at_known_places(const struct search *search)
{
	uintptr_t word = 0;

	for (int i = 0; i < ANCHOR_PLACES && word == 0; i++) {
		int place = atomic_load_explicit(&search->places->at[i], memory_order_relaxed);

		if (place == 0)
			break;
		word = look(search, (uintptr_t)place);
	}
	return word;
}

SIGNAL_SAFE static uintptr_t find(const struct search *search)
{
	struct anchor_places *places = search->places;
	unsigned int failures = atomic_load_explicit(&places->failures, memory_order_relaxed);
	uintptr_t word = at_known_places(search);

	if (word == 0 && failures < ANCHOR_HOPELESS_AFTER) {
		word = look_everywhere(search);
		failures = word != 0 ? 0 : failures + 1;
		atomic_store_explicit(&places->failures, failures, memory_order_relaxed);
	}
	return word;
}

SIGNAL_SAFE size_t anchor_room(const struct tick *tick)
{
	/* acquire: pairs with anchor_start(). Where entries are known, they say whose it is. */
	if (!atomic_load_explicit(&anchor_setup.is_ready, memory_order_acquire) ||
	    tick->entry != NULL || tick->buffer != NULL || (tick->flags & SAMPLE_TRAP) != 0 ||
	    atomic_load_explicit(&thread_table.has_entries, memory_order_relaxed))
		return 0;
	return sizeof(struct sample_anchor) + SAMPLE_ANCHOR_STACK_MAX + SAMPLE_WINDOW_BELOW +
	       SAMPLE_WINDOW_ABOVE;
}

/* Copies the readable part of [FROM, TO) to OUT; its size. */
SIGNAL_SAFE static size_t copy(struct reach *reach, uint64_t *out, uintptr_t from, uintptr_t to)
{
	size_t size = (reach_span(reach, from, to) - from) & ~(size_t)7;

	cpu_copy_words(out, from, size / 8);
	return size;
}

/* The store's number, or, where nobody knows yet where that is, what is around the record. */
SIGNAL_SAFE static void add_number(struct tick *tick, struct sample_anchor *anchor)
{
	int offset = atomic_load_explicit(&anchor_setup.number_at, memory_order_relaxed);
	uintptr_t at = anchor->record + (uintptr_t)(intptr_t)offset;
	uintptr_t low = anchor->record - SAMPLE_WINDOW_BELOW;

	if (offset != SAMPLE_NUMBER_UNKNOWN) {
		if (reach_word(&tick->reach, at))
			anchor->number = cpu_word(at);
		return;
	}
	if (!reach_page(&tick->reach, low))
		low = anchor->record & ~(uintptr_t)(REACH_PAGE - 1);
	anchor->window_address = low;
	anchor->window_size = (uint32_t)copy(&tick->reach, anchor->words + anchor->stack_size / 8,
					     low, anchor->record + SAMPLE_WINDOW_ABOVE);
}

SIGNAL_SAFE static void add_stack(struct tick *tick, struct sample_anchor *anchor)
{
	uintptr_t from = tick->sp & ~(uintptr_t)7, to = anchor->entry_fp + ANCHOR_REACH;

	/* What is above the entry matters most. */
	if (to - from > SAMPLE_ANCHOR_STACK_MAX)
		from = to - SAMPLE_ANCHOR_STACK_MAX;
	anchor->stack_address = from;
	anchor->stack_size = (uint32_t)copy(&tick->reach, anchor->words, from, to);
}

/* Registers that hold a context now: later nobody could tell. */
SIGNAL_SAFE static void add_contexts(struct tick *tick, const struct search *search,
				     struct sample_anchor *anchor)
{
	uint32_t count = 0;

	cpu_registers(tick->context, anchor->registers);
	for (int i = 0; i < SAMPLE_REGISTERS - 1 && count < SAMPLE_CONTEXTS; i++) {
		uintptr_t word = anchor->registers[i];

		/* mostly the same in several */
		if ((count > 0 && word == anchor->contexts[count - 1]) ||
		    !may_be_pointer(search, word) || !is_context(search, word))
			continue;
		anchor->contexts[count++] = word;
	}
}

/* SAMPLE gets its anchor, which is at the end of what it has by now. */
SIGNAL_SAFE static struct sample_anchor *begin(struct tick *tick, struct sample *sample,
					       const struct search *search)
{
	struct sample_anchor *anchor;

	tick->flags |= SAMPLE_ANCHOR;
	sample->flags = tick->flags; /* tells sample_anchor() where it is */
	anchor = (struct sample_anchor *)(uintptr_t)sample_anchor(sample);
	*anchor = (struct sample_anchor){
		.record = search->record,
		.entry_fp = search->entry_fp,
	};
	return anchor;
}

SIGNAL_SAFE void anchor_add(struct tick *tick, struct sample *sample, uintptr_t entry_fp)
{
	struct search search = { &tick->reach, entry_fp, 0, is_record, &anchor_setup.records };
	struct sample_anchor *anchor;

	if (entry_fp == 0 || entry_fp < tick->sp)
		return;
	search.record = find(&search);
	if (search.record == 0)
		return;
	anchor = begin(tick, sample, &search);
	search.is_it = is_context;
	search.places = &anchor_setup.contexts;
	anchor->above = find(&search);
	add_contexts(tick, &search, anchor);
	add_stack(tick, anchor);
	add_number(tick, anchor);
}

SIGNAL_SAFE void anchor_add_outside(struct tick *tick, struct sample *sample, uintptr_t outermost)
{
	struct search search = { &tick->reach, 0, 0, is_record, &anchor_setup.records };
	struct sample_anchor *anchor;

	/* the trampoline's frame holds the registers that the host wants back */
	for (uintptr_t at = outermost + 8; at < outermost + TRAMPOLINE_FRAME; at += 8) {
		search.entry_fp = at;
		search.record = at_known_places(&search);
		if (search.record != 0)
			break;
	}
	if (search.record == 0 || !reach_word(&tick->reach, outermost))
		return;
	anchor = begin(tick, sample, &search);
	anchor->entry_pc = cpu_word(outermost);
	add_number(tick, anchor);
}

bool anchor_start(const struct context_layout *layout)
{
	if (atomic_load_explicit(&anchor_setup.is_ready, memory_order_relaxed))
		return layout->entry_fp == anchor_setup.layout.entry_fp;
	anchor_setup.layout = *layout;
	/* release: pairs with the handlers */
	atomic_store_explicit(&anchor_setup.is_ready, true, memory_order_release);
	return true;
}
