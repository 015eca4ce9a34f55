/* SPDX-License-Identifier: MIT */
/* resolver.c - frames of a sample, one by one. Threads: ours. */
#include "preload/profile/resolver.h"

#include "preload/profile/hostcall.h"

/* The linker's: where this very object begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void resolver_append(struct resolver *self, struct frame frame)
{
	if (self->out->count < RESOLVE_MAX_FRAMES)
		self->out->frames[self->out->count++] = frame;
	else
		self->out->is_truncated = true;
}

void resolver_append_host(struct resolver *self)
{
	struct resolved *out = self->out;

	if (self->stacks == STACKS_GUEST)
		return;
	if (out->count == 0 || out->frames[out->count - 1].kind != FRAME_HOST)
		resolver_append(self, (struct frame){ .kind = FRAME_HOST });
	self->ends_in_entry = false;
}

void resolver_append_call(struct resolver *self, uint64_t guest_pc, size_t depth)
{
	struct frame frame;

	if (self->stacks == STACKS_GUEST)
		return;
	frame = hostcall_frame(self, guest_pc, depth);
	if (frame.call != NULL)
		resolver_append(self, frame);
	else if (self->stacks != STACKS_FULL)
		resolver_append_host(self);
	self->ends_in_entry = false;
}

void resolver_note_guess(struct resolver *self, size_t i)
{
	self->is_guess = self->out->unwound[i].is_guess;
	self->out->is_guessed |= self->is_guess;
}

bool resolver_is_ours(uint64_t pc)
{
	return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)_end;
}

void resolver_append_host_pc(struct resolver *self, uint64_t pc)
{
	if (resolver_is_ours(pc))
		return;
	if (self->stacks == STACKS_FULL)
		resolver_append(self, (struct frame){ .kind = FRAME_HOST,
						      .address = pc,
						      .is_guess = self->is_guess });
	else
		resolver_append_host(self);
	self->ends_in_entry = false;
}

enum frame_kind resolver_kind(const struct symbol *symbol)
{
	switch (symbol == NULL ? SYMBOL_UNKNOWN : symbol->kind) {
	case SYMBOL_ENTRY:
	case SYMBOL_TRAMPOLINE:
		return FRAME_TRAMPOLINE;
	case SYMBOL_BUILTIN:
		return FRAME_BUILTIN;
	default:
		return FRAME_GUEST;
	}
}

/* The frame of the instruction at PC, which lies in ENTRY's code. */
static void append_code(struct resolver *self, const struct symtab_entry *entry, uint64_t pc)
{
	struct frame frame = { .entry = entry,
			       .address = pc - entry->text,
			       .is_guess = self->is_guess };

	frame.symbol = module_find(entry->module, frame.address);
	frame.kind = resolver_kind(frame.symbol);
	self->ends_in_entry = frame.symbol != NULL && frame.symbol->kind == SYMBOL_ENTRY;
	if (frame.kind == FRAME_TRAMPOLINE && self->stacks != STACKS_FULL) {
		if (!self->has_glue)
			self->glue = frame;
		self->has_glue = true;
		return;
	}
	resolver_append(self, frame);
}

void resolver_append_pc(struct resolver *self, uint64_t pc, bool is_return)
{
	const struct symtab_entry *entry;

	if (pc == 0) {
		resolver_append_host(self);
		return;
	}
	pc = symtab_translate(self->symtab, pc - is_return, self->sample->time_ns);
	entry = symtab_find(self->symtab, pc, self->sample->generation);
	if (entry != NULL && !symtab_is_space(entry))
		append_code(self, entry, pc);
	else
		resolver_append(self, (struct frame){ .kind = FRAME_JIT, .address = pc });
}

/* What a marked word says of the interpreter's frame before it, which else stands for itself. */
static void append_marked(struct resolver *self, uint64_t word)
{
	uint64_t place = symtab_translate_data(self->symtab, (word & (SAMPLE_MARK - 1)) - 1,
					       self->sample->time_ns);
	const struct symtab_entry *entry =
		place != 0 ? symtab_find(self->symtab, place, self->sample->generation) : NULL;
	struct resolved *out = self->out;

	if (entry == NULL)
		return;
	/* A frame that is all the interpreter's gives way; a helper of its stays as what is called.
	 */
	if (out->count > 0 && out->frames[out->count - 1].kind == FRAME_GUEST)
		out->count--;
	append_code(self, entry, place);
}

/* The host's frames before an activation that WORD begins, which may say itself what they are. */
static void append_between(struct resolver *self, uint64_t word)
{
	if (!sample_is_call(word))
		resolver_append_call(self, word, 0);
}

void resolver_append_pcs(struct resolver *self, const uint64_t *pcs, size_t count, bool is_leaf)
{
	for (size_t i = 0; i < count; i++) {
		if (sample_is_call(pcs[i]) || sample_is_function(pcs[i]))
			continue; /* its entry comes next */
		if (sample_is_entry(pcs[i]))
			resolver_append_entry(self, pcs, i++);
		else if (sample_is_marked(pcs[i]))
			append_marked(self, pcs[i]);
		else if (pcs[i] == 0 && i + 1 < count)
			append_between(self, pcs[i + 1]);
		else
			resolver_append_pc(self, pcs[i], i > 0 || !is_leaf);
	}
}

static bool is_known(void *context, uint64_t pc)
{
	const struct resolver *self = context;

	return symtab_find(self->symtab, pc - 1, self->sample->generation) != NULL;
}

size_t resolver_unwind(struct resolver *self, bool until_guest, enum unwind_end *end)
{
	const struct sample *sample = self->sample;
	struct unwind_input input = {
		.registers = sample_registers(sample),
		.slice = sample_slice(sample),
		.slice_address = sample->slice_address,
		.slice_size = sample->slice_size,
		.generation = sample->generation,
		.stop = until_guest ? is_known : NULL,
		.context = self,
	};
	size_t count = 0;

	*end = UNWIND_UNAVAILABLE;
	if (sample->slice_size == 0)
		return 0;
	input.is_caller = (sample->flags & SAMPLE_AT_ENTRY) != 0;
	input.resumer = sample_resumer(sample, &input.resumer_address, &input.resumer_size);
	*end = unwind(&input, self->out->unwound, UNWIND_MAX_FRAMES, &count);
	if (self->stacks == STACKS_FULL && *end != UNWIND_COMPLETE)
		self->out->is_truncated = true;
	return count;
}

uint64_t resolver_lookup(const struct resolver *self, size_t i)
{
	return self->out->unwound[i].pc - (i > 0);
}

size_t resolver_find(const struct resolver *self, size_t count, uint64_t pc)
{
	size_t i = 0;

	while (i < count && self->out->unwound[i].pc != pc)
		i++;
	return i;
}

/* Host frames came before frame I of COUNT, which is the guest's or glue: what it called, if known.
 */
static void append_call_into(struct resolver *self, size_t i, size_t count)
{
	const char *name = hostcall_from_site(self, self->out->unwound[i].pc);

	if (name == NULL && i + 1 < count)
		name = hostcall_from_site(self, self->out->unwound[i + 1].pc);
	if (name != NULL)
		resolver_append(self, (struct frame){ .kind = FRAME_HOST,
						      .call = name,
						      .importer = self->site_entry });
}

void resolver_append_unwound(struct resolver *self, size_t from, size_t count)
{
	bool in_host = false;

	for (size_t i = from; i < count; i++) {
		uint64_t pc = symtab_translate(self->symtab, resolver_lookup(self, i),
					       self->sample->time_ns);
		const struct symtab_entry *entry =
			symtab_find(self->symtab, pc, self->sample->generation);

		resolver_append_entries(self, self->out->unwound[i].cfa);
		if (entry != NULL && in_host)
			append_call_into(self, i, count);
		in_host = entry == NULL;
		resolver_note_guess(self, i);
		if (entry != NULL && symtab_is_space(entry))
			resolver_append(self, (struct frame){ .kind = FRAME_JIT, .address = pc });
		else if (entry != NULL)
			append_code(self, entry, pc);
		else
			resolver_append_host_pc(self, pc);
		self->is_guess = false;
	}
}

void resolver_append_beyond(struct resolver *self, size_t count, size_t next)
{
	const uint64_t *pcs = sample_pcs(self->sample);
	size_t pc_count = self->sample->pc_count;

	if (next < self->entries_end)
		next = self->entries_end;
	for (size_t i = next; i < pc_count; i++)
		if (pcs[i] != 0 && resolver_find(self, count, pcs[i]) < count)
			next = i + 1;
	resolver_append_pcs(self, pcs + next, pc_count - next, false);
}
