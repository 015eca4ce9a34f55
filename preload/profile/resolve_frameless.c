/* SPDX-License-Identifier: MIT */
/*
 * resolve_frameless.c - frames that stand for interpreted guests: `(interpreter)`, and no more,
 * but for the functions that have called the host, where the engine told them.
 *
 * Threads: ours.
 *
 * Where whole stacks are wanted the interpreter's own frames are its callers: they are the host's,
 * and below the outermost guest frame, where less is wanted, the host's are left out.
 */
#include "preload/profile/resolver.h"

#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"

/* The next word with SAMPLE_ENTRY from FROM on; the number of words when there is none. */
static size_t find_entry(const struct sample *sample, size_t from)
{
	while (from < sample->pc_count && !sample_is_entry(sample_pcs(sample)[from]))
		from++;
	return from;
}

void resolver_find_entries(struct resolver *self)
{
	self->next_entry = find_entry(self->sample, 0);
	self->entries_end = 0;
}

static void append_call(struct resolver *self, uint64_t word)
{
	uint32_t name = (uint32_t)word;

	if (self->stacks != STACKS_GUEST && name != HOSTCALLS_NO_NAME)
		resolver_append(self,
				(struct frame){ .kind = FRAME_HOST, .call = hostcalls_text(name) });
	else if (self->stacks != STACKS_FULL)
		resolver_append_host(self);
}

/* The functions that called the host, of the module in ENTRY. False: none of them is known. */
static bool append_functions(struct resolver *self, const struct symtab_entry *entry,
			     const uint64_t *words, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct symbol *symbol =
			module_interpreted_symbol(entry->module, (uint32_t)words[i]);

		if (symbol == NULL)
			continue;
		resolver_append(self, (struct frame){ .kind = FRAME_GUEST,
						      .entry = entry,
						      .symbol = symbol,
						      .address = symbol->start });
		any = true;
	}
	return any;
}

void resolver_append_entry(struct resolver *self, const uint64_t *words, size_t i)
{
	struct frame frame = { .kind = FRAME_INTERPRETER };
	struct instance_info info;
	size_t first = i;

	while (first > 0 && sample_is_function(words[first - 1]))
		first--;
	if (first > 0 && sample_is_call(words[first - 1]))
		append_call(self, words[first - 1]);
	if (instance_get((uint32_t)words[i], &info))
		frame.entry = symtab_find_interpreted(self->symtab, info.loading,
						      self->sample->generation);
	if (frame.entry != NULL && !append_functions(self, frame.entry, words + first, i - first))
		resolver_append(self, frame);
	self->ends_in_entry = false;
}

void resolver_append_entries(struct resolver *self, uint64_t cfa)
{
	const uint64_t *words = sample_pcs(self->sample);
	size_t i;

	while ((i = self->next_entry) < self->sample->pc_count &&
	       cfa > (words[i + 1] & (SAMPLE_MARK - 1))) {
		resolver_append_entry(self, words, i);
		self->entries_end = i + 2;
		self->next_entry = find_entry(self->sample, i + 2);
	}
}

void resolve_frameless(struct resolver *self)
{
	const struct sample *sample = self->sample;
	enum unwind_end end;
	size_t count;

	self->out->state = sample_is_call(sample_pcs(sample)[0]) ? STATE_HOST : STATE_INTERPRETER;
	if (sample->slice_size == 0) {
		resolver_append_pcs(self, sample_pcs(sample), sample->pc_count, false);
		return;
	}
	count = resolver_unwind(self, false, &end);
	resolver_append_unwound(self, 0, count);
	resolver_append_entries(self, UINT64_MAX);
	if (end != UNWIND_COMPLETE)
		resolver_append_beyond(self, count, 0);
}
