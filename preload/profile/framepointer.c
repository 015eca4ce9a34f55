/* SPDX-License-Identifier: MIT */
/*
 * framepointer.c - tries frame pointers until the unwinder arrives in a guest. Threads: ours.
 *
 * A wrong one is noticed: the unwinder believes only return addresses that follow a call.
 */
#include "preload/profile/framepointer.h"

#include <string.h>

#include "preload/unwind/code.h"

enum { REGISTER_FRAME_POINTER = 6 /* in DWARF order */, TRIES = 24, WORD = 8 };

struct search {
	const struct symtab *symtab;
	const struct sample *sample;
	struct unwind_frame *room;
	size_t count; /* frames of the last try */
};

static bool is_guest(void *context, uint64_t pc)
{
	const struct search *search = context;

	return symtab_find(search->symtab, pc - 1, search->sample->generation) != NULL;
}

static enum unwind_end try_it(struct search *search)
{
	const struct sample *sample = search->sample;
	const struct unwind_input input = {
		.registers = sample_registers(sample),
		.slice = sample_slice(sample),
		.slice_address = sample->slice_address,
		.slice_size = sample->slice_size,
		.generation = sample->generation,
		.stop = is_guest,
		.context = search,
	};

	search->count = 0;
	return unwind(&input, search->room, UNWIND_MAX_FRAMES, &search->count);
}

static uint64_t word_at(const struct sample *sample, size_t offset)
{
	uint64_t word;

	memcpy(&word, sample_slice(sample) + offset, sizeof(word));
	return word;
}

/* The offset in the slice of the frame that could not be left: its pointer lies above. */
static size_t first_offset(const struct search *search)
{
	const struct sample *sample = search->sample;

	for (size_t i = search->count; i-- > 0;) {
		uint64_t offset = search->room[i].cfa - sample->slice_address;

		if (search->room[i].cfa != 0 && offset < sample->slice_size)
			return (size_t)offset & ~(size_t)(WORD - 1);
	}
	return 0;
}

void framepointer_find(const struct symtab *symtab, struct sample *sample,
		       struct unwind_frame *room)
{
	struct search search = { .symtab = symtab, .sample = sample, .room = room };
	uint64_t *frame_pointer = sample->words + sample->pc_count + REGISTER_FRAME_POINTER;
	uint64_t before = *frame_pointer;
	enum unwind_end end;
	int tries = 0;

	if (sample->slice_size == 0)
		return;
	end = try_it(&search);
	if (end == UNWIND_STOPPED || end == UNWIND_COMPLETE || end == UNWIND_UNAVAILABLE)
		return;
	for (size_t at = first_offset(&search);
	     tries < TRIES && at + 2 * WORD <= sample->slice_size; at += WORD) {
		uint64_t address = sample->slice_address + at;

		/* Pushed right below a return address, by a function entered with an even stack. */
		if (address % 16 != 0 ||
		    !code_follows_call(word_at(sample, at + WORD), sample->generation))
			continue;
		tries++;
		*frame_pointer = address;
		if (try_it(&search) == UNWIND_STOPPED)
			return;
	}
	*frame_pointer = before;
}
