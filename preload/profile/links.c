/* SPDX-License-Identifier: MIT */
/* links.c - guest frames in a stack slice by their frame-pointer links. Threads: ours. */
#include "preload/profile/links.h"

#include <string.h>

#include "preload/sig/sample.h"

enum { WORD = 8, WORDS_MAX = SAMPLE_MAX_SLICE / WORD };

/* Words that lead nowhere. Guests choose what is on their stacks: none is followed twice. */
struct dead_ends {
	uint64_t bits[WORDS_MAX / 64];
};

static bool is_dead_end(const struct dead_ends *dead, size_t index)
{
	return dead->bits[index / 64] >> index % 64 & 1;
}

static void mark_dead_end(struct dead_ends *dead, size_t index)
{
	dead->bits[index / 64] |= (uint64_t)1 << index % 64;
}

static size_t word_count(const struct links_input *input)
{
	size_t count = input->slice_size / WORD;

	return count < WORDS_MAX ? count : WORDS_MAX;
}

static uint64_t word_at(const struct links_input *input, size_t index)
{
	uint64_t word;

	memcpy(&word, input->slice + index * WORD, sizeof(word));
	return word;
}

/* The index of the word at ADDRESS, or SIZE_MAX when it is not in the slice. */
static size_t index_of(const struct links_input *input, uint64_t address)
{
	uint64_t offset = address - input->slice_address;

	if (address < input->slice_address || offset % WORD != 0 ||
	    offset / WORD >= word_count(input))
		return SIZE_MAX;
	return offset / WORD;
}

static const struct symtab_entry *entry_of(const struct links_input *input, uint64_t pc)
{
	return pc == 0 ? NULL : symtab_find(input->symtab, pc - 1, input->generation);
}

const struct symbol *links_symbol(const struct links_input *input, uint64_t pc)
{
	const struct symtab_entry *entry;

	if (pc == 0)
		return NULL;
	pc = symtab_translate(input->symtab, pc - 1, input->time_ns);
	entry = symtab_find(input->symtab, pc, input->generation);
	if (entry == NULL || symtab_is_space(entry))
		return NULL;
	return module_find(entry->module, pc - entry->text);
}

static bool is_entry(const struct links_input *input, uint64_t pc)
{
	const struct symbol *symbol = links_symbol(input, pc);

	return symbol != NULL && symbol->kind == SYMBOL_ENTRY;
}

/*
 * Appends the return addresses of the chain whose innermost one is the word at INDEX; *END: the
 * index behind the last. Returns their number when the last one lies in an entry, else 0.
 */
static size_t follow(const struct links_input *input, size_t index, struct dead_ends *dead,
		     uint64_t *pcs, size_t max, size_t *end)
{
	size_t count = 0;

	while (count < max && index > 0 && index < word_count(input)) {
		uint64_t pc = word_at(input, index);
		size_t caller;

		/* Marked before it is known: a chain that ends well is not followed again either.
		 */
		if (is_dead_end(dead, index) || entry_of(input, pc) == NULL)
			return 0;
		mark_dead_end(dead, index);
		pcs[count++] = pc;
		*end = index + 1;
		if (is_entry(input, pc))
			return count;
		/* The frame pointer points at the caller's own link, with the return address above.
		 */
		caller = index_of(input, word_at(input, index - 1));
		if (caller == SIZE_MAX || caller <= index)
			return 0;
		index = caller + 1;
	}
	return 0;
}

/* The first whole chain at or above FROM. */
static size_t find_chain(const struct links_input *input, size_t from, struct dead_ends *dead,
			 uint64_t *pcs, size_t max, size_t *end)
{
	for (size_t i = from; i < word_count(input); i++) {
		size_t count = follow(input, i, dead, pcs, max, end);

		if (count != 0)
			return count;
	}
	return 0;
}

/* All chains from FROM up, behind the COUNT pcs that are there. */
static size_t find_outer(const struct links_input *input, size_t from, uint64_t *pcs, size_t count,
			 size_t max)
{
	struct dead_ends dead = { { 0 } };
	size_t found = 1;

	while (found != 0 && count + 1 < max) {
		size_t end = from, first = count == 0 ? 0 : count + 1;

		found = find_chain(input, from, &dead, pcs + first, max - first, &end);
		if (found != 0 && count != 0)
			pcs[count] = 0;
		if (found != 0)
			count = first + found;
		from = end;
	}
	return count;
}

size_t links_find(const struct links_input *input, uint64_t *pcs, size_t max)
{
	return find_outer(input, 1, pcs, 0, max);
}

static size_t place_of(const struct links_input *input, uint64_t pc)
{
	for (size_t i = 1; i < word_count(input); i++)
		if (word_at(input, i) == pc)
			return i;
	return SIZE_MAX;
}

size_t links_callers(const struct links_input *input, uint64_t pc, uint64_t *pcs, size_t max)
{
	size_t place = place_of(input, pc), end = 0, count;
	struct dead_ends dead = { { 0 } };

	if (place == SIZE_MAX || max == 0)
		return 0;
	count = follow(input, place, &dead, pcs, max, &end);
	if (count == 0)
		return 0;
	count = find_outer(input, end, pcs, count, max);
	memmove(pcs, pcs + 1, (count - 1) * sizeof(*pcs));
	return count - 1;
}

uint64_t links_glue_below(const struct links_input *input, uint64_t pc)
{
	size_t place = place_of(input, pc);

	for (size_t i = place == SIZE_MAX ? 0 : place; i > 0; i--) {
		uint64_t word = word_at(input, i - 1);
		const struct symbol *symbol = links_symbol(input, word);

		if (symbol == NULL)
			continue;
		return symbol->kind == SYMBOL_BUILTIN || symbol->kind == SYMBOL_TRAMPOLINE ? word
											   : 0;
	}
	return 0;
}
