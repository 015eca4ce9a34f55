/* SPDX-License-Identifier: MIT */
/* resolve.c - a sample becomes frames. Threads: ours. */
#include "preload/profile/resolve.h"

#include "preload/profile/callsite.h"
#include "preload/profile/links.h"

struct resolver {
	const struct symtab *symtab;
	enum stacks stacks;
	const struct sample *sample;
	struct resolved *out;
	struct frame glue; /* innermost trampoline or entry that was left out */
	bool has_glue;
	bool ends_in_entry; /* the outermost frame so far is an entry */
};

/* ---- frames ---------------------------------------------------------------------------------- */

static void append(struct resolver *self, struct frame frame)
{
	if (self->out->count < RESOLVE_MAX_FRAMES)
		self->out->frames[self->out->count++] = frame;
	else
		self->out->is_truncated = true;
}

/* Host code of whatever depth: one frame, however much of it there is. */
static void append_host(struct resolver *self)
{
	struct resolved *out = self->out;

	if (self->stacks == STACKS_GUEST)
		return;
	if (out->count == 0 || out->frames[out->count - 1].kind != FRAME_HOST)
		append(self, (struct frame){ .kind = FRAME_HOST });
	self->ends_in_entry = false;
}

static void append_host_pc(struct resolver *self, uint64_t pc)
{
	if (self->stacks == STACKS_FULL)
		append(self, (struct frame){ .kind = FRAME_HOST, .address = pc });
	else
		append_host(self);
	self->ends_in_entry = false;
}

static enum frame_kind kind_of(const struct symbol *symbol)
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
	struct frame frame = { .entry = entry, .address = pc - entry->text };

	frame.symbol = module_find(entry->module, frame.address);
	frame.kind = kind_of(frame.symbol);
	self->ends_in_entry = frame.symbol != NULL && frame.symbol->kind == SYMBOL_ENTRY;
	if (frame.kind == FRAME_TRAMPOLINE && self->stacks != STACKS_FULL) {
		if (!self->has_glue)
			self->glue = frame;
		self->has_glue = true;
		return;
	}
	append(self, frame);
}

/* A word of sample.pcs, or a return address as IS_RETURN says: a call belongs to its own line. */
static void append_pc(struct resolver *self, uint64_t pc, bool is_return)
{
	const struct symtab_entry *entry;

	if (pc == 0) {
		append_host(self);
		return;
	}
	pc -= is_return;
	entry = symtab_find(self->symtab, pc, self->sample->generation);
	if (entry != NULL)
		append_code(self, entry, pc);
	else
		append(self, (struct frame){ .kind = FRAME_JIT, .address = pc });
}

/* IS_LEAF: the first one is where the thread is, not where it returns to. */
static void append_pcs(struct resolver *self, const uint64_t *pcs, size_t count, bool is_leaf)
{
	for (size_t i = 0; i < count; i++)
		append_pc(self, pcs[i], i > 0 || !is_leaf);
}

/* ---- host samples ---------------------------------------------------------------------------- */

static struct links_input links_of(const struct resolver *self)
{
	const struct sample *sample = self->sample;

	return (struct links_input){
		.symtab = self->symtab,
		.generation = sample->generation,
		.slice = sample_slice(sample),
		.slice_address = sample->slice_address,
		.slice_size = sample->slice_size,
	};
}

static bool is_known(void *context, uint64_t pc)
{
	const struct resolver *self = context;

	return symtab_find(self->symtab, pc - 1, self->sample->generation) != NULL;
}

/* Unwinds from the registers; UNTIL_GUEST: to the first frame in known code and no further. */
static size_t unwind_host(struct resolver *self, bool until_guest, enum unwind_end *end)
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
	if (sample->slice_size != 0)
		*end = unwind(&input, self->out->unwound, UNWIND_MAX_FRAMES, &count);
	return count;
}

static uint64_t lookup_pc(const struct resolver *self, size_t i)
{
	return self->out->unwound[i].pc - (i > 0);
}

/* The number of frames before the first in known code; COUNT when there is none. */
static size_t host_depth(const struct resolver *self, size_t count)
{
	size_t i = 0;

	while (i < count &&
	       symtab_find(self->symtab, lookup_pc(self, i), self->sample->generation) == NULL)
		i++;
	return i;
}

/* What the guest called to get here: GLUE_PC is in a builtin, whose host code is its own affair, or
 * not. */
static void append_callee(struct resolver *self, size_t depth, uint64_t glue_pc)
{
	const struct links_input links = links_of(self);
	const struct symbol *symbol = links_symbol(&links, glue_pc);

	self->out->state = STATE_HOST;
	if (symbol != NULL && symbol->kind == SYMBOL_BUILTIN)
		self->out->state = STATE_BUILTIN;
	if (self->stacks == STACKS_FULL && depth > 0) {
		for (size_t i = 0; i < depth; i++)
			append_host_pc(self, lookup_pc(self, i));
	} else if (self->out->state == STATE_HOST) {
		append_host(self);
	}
}

static bool is_glue_start(const void *context, uint64_t target)
{
	const struct links_input *links = context;
	const struct symbol *symbol = links_symbol(links, target + 1);
	const struct symtab_entry *entry = symtab_find(links->symtab, target, links->generation);

	return symbol != NULL && kind_of(symbol) != FRAME_GUEST &&
	       target - entry->text == symbol->start;
}

/*
 * By what the guest called out before it returns to GUEST_PC, as its call says: *GLUE_PC is a
 * return address in the glue that a direct one goes to, 0 for one through a pointer, which is a
 * function of the host's. False when the code is gone.
 */
static bool read_call(const struct resolver *self, uint64_t guest_pc, uint64_t *glue_pc)
{
	const struct links_input links = links_of(self);
	uint64_t target;
	enum callsite_kind kind = callsite_at(guest_pc, is_glue_start, &links, &target);

	*glue_pc = kind == CALLSITE_DIRECT ? target + 1 : 0;
	return kind != CALLSITE_UNKNOWN;
}

/* Is frame number I of COUNT in glue? */
static bool is_glue(const struct resolver *self, size_t i, size_t count)
{
	const struct links_input links = links_of(self);

	return i < count && kind_of(links_symbol(&links, self->out->unwound[i].pc)) != FRAME_GUEST;
}

/* The same where the code is gone: a word of the slice that lies in glue. It may be a dead one. */
static uint64_t guess_call(const struct resolver *self, uint64_t guest_pc)
{
	const struct links_input links = links_of(self);

	return links_glue_below(&links, guest_pc);
}

/* pcs are the guest's frames; the unwinder is for the host's, and where the call site is no help.
 */
static void resolve_exit(struct resolver *self)
{
	const uint64_t *pcs = sample_pcs(self->sample);
	size_t count = 0, depth = 0;
	uint64_t glue_pc;
	enum unwind_end end;
	bool has_call = read_call(self, pcs[0], &glue_pc);

	if (!has_call || self->stacks == STACKS_FULL) {
		count = unwind_host(self, true, &end);
		depth = host_depth(self, count);
	}
	/* Where host functions have no tables (wasmtime 25 and 36) the unwinder steps over the
	 * glue. */
	if (is_glue(self, depth, count))
		glue_pc = self->out->unwound[depth].pc;
	else if (!has_call)
		glue_pc = guess_call(self, pcs[0]);
	append_callee(self, depth < count ? depth : 0, glue_pc);
	if (glue_pc != 0 && glue_pc != pcs[0])
		append_pc(self, glue_pc, true);
	append_pcs(self, pcs, self->sample->pc_count, false);
}

static void append_unwound(struct resolver *self, size_t from, size_t count)
{
	for (size_t i = from; i < count; i++) {
		uint64_t pc = lookup_pc(self, i);
		const struct symtab_entry *entry =
			symtab_find(self->symtab, pc, self->sample->generation);

		if (entry != NULL)
			append_code(self, entry, pc);
		else
			append_host_pc(self, pc);
	}
}

/* The unwinder gave up within the guest, whose links may go on. */
static void continue_by_links(struct resolver *self, uint64_t pc)
{
	const struct links_input links = links_of(self);
	size_t count = links_callers(&links, pc, self->out->pcs, SAMPLE_MAX_PCS);

	append_pcs(self, self->out->pcs, count, false);
	if (count == 0)
		self->out->is_truncated = true;
}

static void resolve_by_links(struct resolver *self)
{
	const struct links_input links = links_of(self);
	size_t count = links_find(&links, self->out->pcs, SAMPLE_MAX_PCS);
	bool is_whole = count != 0;
	uint64_t glue_pc;

	if (count == 0) {
		count = self->sample->pc_count;
		for (size_t i = 0; i < count; i++)
			self->out->pcs[i] = sample_pcs(self->sample)[i];
	}
	if (count == 0)
		return;
	glue_pc = self->out->pcs[0];
	if (kind_of(links_symbol(&links, glue_pc)) == FRAME_GUEST)
		read_call(self, self->out->pcs[0], &glue_pc);
	append_callee(self, 0, glue_pc);
	if (glue_pc != 0 && glue_pc != self->out->pcs[0])
		append_pc(self, glue_pc, true);
	append_pcs(self, self->out->pcs, count, false);
	self->out->is_truncated |= !is_whole;
}

/* Nobody wrote down where the guest called out: the whole stack is unwound. */
static void resolve_unwound(struct resolver *self)
{
	enum unwind_end end;
	size_t count = unwind_host(self, false, &end);
	size_t depth = host_depth(self, count);
	uint64_t glue_pc;

	if (depth == count) {
		resolve_by_links(self);
		return;
	}
	glue_pc = self->out->unwound[depth].pc;
	if (!is_glue(self, depth, count) &&
	    !read_call(self, self->out->unwound[depth].pc, &glue_pc))
		glue_pc = guess_call(self, self->out->unwound[depth].pc);
	append_callee(self, depth, glue_pc);
	if (glue_pc != 0 && glue_pc != self->out->unwound[depth].pc)
		append_pc(self, glue_pc, true);
	append_unwound(self, depth, count);
	if (end != UNWIND_COMPLETE && !self->ends_in_entry &&
	    is_known(self, self->out->unwound[count - 1].pc))
		continue_by_links(self, self->out->unwound[count - 1].pc);
}

static void resolve_host(struct resolver *self)
{
	const struct sample *sample = self->sample;

	self->out->state = STATE_HOST;
	if (sample->flags & SAMPLE_TRAP) {
		append_host(self);
		append_pcs(self, sample_pcs(sample), sample->pc_count, true);
	} else if (sample->pc_count != 0 && (sample->flags & SAMPLE_EXIT_RECORD)) {
		resolve_exit(self);
	} else {
		resolve_unwound(self);
	}
}

/* ---- samples --------------------------------------------------------------------------------- */

static void resolve_guest(struct resolver *self)
{
	struct resolved *out = self->out;

	out->state = STATE_GUEST;
	append_pcs(self, sample_pcs(self->sample), self->sample->pc_count, true);
	if (out->count > 0 && out->frames[0].kind == FRAME_BUILTIN)
		out->state = STATE_BUILTIN;
}

static bool has_guest(const struct resolved *resolved)
{
	for (size_t i = 0; i < resolved->count; i++)
		if (resolved->frames[i].kind != FRAME_HOST)
			return true;
	return false;
}

/* Below the outermost guest there is always a host: no need to say so. */
static void trim_host(struct resolved *resolved)
{
	while (resolved->count > 0 && resolved->frames[resolved->count - 1].kind == FRAME_HOST)
		resolved->count--;
}

bool resolve_sample(const struct symtab *symtab, enum stacks stacks, const struct sample *sample,
		    struct resolved *resolved)
{
	struct resolver self = {
		.symtab = symtab,
		.stacks = stacks,
		.sample = sample,
		.out = resolved,
	};

	resolved->count = 0;
	resolved->is_truncated = sample->flags & SAMPLE_TRUNCATED;
	if (sample->kind == SAMPLE_GUEST)
		resolve_guest(&self);
	else if (sample->kind == SAMPLE_HOST)
		resolve_host(&self);
	/* Just in or just out, and no guest below: the glue is all there is to show. */
	if (!has_guest(resolved) && self.has_glue)
		append(&self, self.glue);
	if (!has_guest(resolved))
		return false;
	if (stacks != STACKS_FULL)
		trim_host(resolved);
	return true;
}
