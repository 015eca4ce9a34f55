/* SPDX-License-Identifier: MIT */
/* resolve_host.c - a sample in the host: what the guest called, and who called the guest. */
#include "preload/profile/callsite.h"
#include "preload/profile/hostcall.h"
#include "preload/profile/links.h"
#include "preload/profile/resolver.h"

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

/* The number of frames before the first in known code; COUNT when there is none. */
static size_t host_depth(const struct resolver *self, size_t count)
{
	size_t i = 0;

	while (i < count && symtab_find(self->symtab, resolver_lookup(self, i),
					self->sample->generation) == NULL)
		i++;
	return i;
}

/*
 * What the guest called before it returns to GUEST_PC: GLUE_PC is in a builtin, whose host code is
 * its own affair, or not. The first DEPTH unwound frames are the host's.
 */
static void append_callee(struct resolver *self, size_t depth, uint64_t glue_pc, uint64_t guest_pc)
{
	const struct links_input links = links_of(self);
	const struct symbol *symbol = links_symbol(&links, glue_pc);

	self->out->state = STATE_HOST;
	if (symbol != NULL && symbol->kind == SYMBOL_BUILTIN)
		self->out->state = STATE_BUILTIN;
	if (self->stacks == STACKS_FULL) {
		for (size_t i = 0; i < depth; i++)
			resolver_append_host_pc(self, resolver_lookup(self, i));
		if (depth == 0 && self->out->state == STATE_HOST)
			resolver_append_host(self);
	}
	if (self->out->state == STATE_HOST)
		resolver_append_call(self, guest_pc, depth);
}

static bool is_glue_start(const void *context, uint64_t target)
{
	const struct links_input *links = context;
	const struct symbol *symbol = links_symbol(links, target + 1);
	const struct symtab_entry *entry = symtab_find(links->symtab, target, links->generation);

	return symbol != NULL && resolver_kind(symbol) != FRAME_GUEST &&
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

	return i < count &&
	       resolver_kind(links_symbol(&links, self->out->unwound[i].pc)) != FRAME_GUEST;
}

/* The same where the code is gone: a word of the slice that lies in glue. It may be a dead one. */
static uint64_t guess_call(const struct resolver *self, uint64_t guest_pc)
{
	const struct links_input links = links_of(self);

	return links_glue_below(&links, guest_pc);
}

/* The guest's frames from pcs, and what called them: unwound, as far as the COUNT frames go. */
static void append_guest(struct resolver *self, size_t count)
{
	const uint64_t *pcs = sample_pcs(self->sample);
	size_t pc_count = self->sample->pc_count, inner = 0, outermost;

	while (inner < pc_count && pcs[inner] != 0)
		inner++;
	outermost =
		self->stacks == STACKS_FULL ? resolver_find(self, count, pcs[inner - 1]) : count;
	if (outermost == count) {
		resolver_append_pcs(self, pcs, pc_count, false);
		return;
	}
	resolver_append_pcs(self, pcs, inner, false);
	resolver_append_unwound(self, outermost + 1, count);
	resolver_append_beyond(self, count, inner);
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

	if (!has_call || self->stacks == STACKS_FULL ||
	    (glue_pc == 0 && self->stacks == STACKS_HOSTCALLS &&
	     hostcall_from_site(self, pcs[0]) == NULL)) {
		count = resolver_unwind(self, self->stacks != STACKS_FULL, &end);
		depth = host_depth(self, count);
	}
	/* Where host functions have no tables (wasmtime 25 and 36) the unwinder steps over the
	 * glue. */
	if (is_glue(self, depth, count))
		glue_pc = self->out->unwound[depth].pc;
	else if (!has_call)
		glue_pc = guess_call(self, pcs[0]);
	append_callee(self, depth < count ? depth : 0, glue_pc, pcs[0]);
	if (glue_pc != 0 && glue_pc != pcs[0])
		resolver_append_pc(self, glue_pc, true);
	append_guest(self, count);
}

/* The unwinder gave up within the guest, whose links may go on. */
static void continue_by_links(struct resolver *self, uint64_t pc)
{
	const struct links_input links = links_of(self);
	size_t count = links_callers(&links, pc, self->out->pcs, SAMPLE_MAX_PCS);

	resolver_append_pcs(self, self->out->pcs, count, false);
	if (count == 0)
		self->out->is_truncated = true;
}

/* The innermost of the first two of out->pcs that is not glue. */
static uint64_t first_guest(const struct resolver *self, size_t count)
{
	const struct links_input links = links_of(self);
	const uint64_t *pcs = self->out->pcs;

	return resolver_kind(links_symbol(&links, pcs[0])) != FRAME_GUEST && count > 1 ? pcs[1]
										       : pcs[0];
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
	if (resolver_kind(links_symbol(&links, glue_pc)) == FRAME_GUEST)
		read_call(self, self->out->pcs[0], &glue_pc);
	append_callee(self, 0, glue_pc, first_guest(self, count));
	if (glue_pc != 0 && glue_pc != self->out->pcs[0])
		resolver_append_pc(self, glue_pc, true);
	resolver_append_pcs(self, self->out->pcs, count, false);
	self->out->is_truncated |= !is_whole;
}

/* Unwound frames FROM to COUNT, and what lies beyond. */
static void append_whole(struct resolver *self, size_t from, size_t count, enum unwind_end end)
{
	resolver_append_unwound(self, from, count);
	if (end != UNWIND_COMPLETE && !self->ends_in_entry &&
	    is_known(self, self->out->unwound[count - 1].pc))
		continue_by_links(self, self->out->unwound[count - 1].pc);
}

/* Is the leaf in a builtin? */
static bool is_builtin(const struct resolver *self)
{
	const struct links_input links = links_of(self);
	const struct symbol *symbol = links_symbol(&links, self->out->unwound[0].pc + 1);

	return symbol != NULL && symbol->kind == SYMBOL_BUILTIN;
}

/* Nobody wrote down where the guest called out: the whole stack is unwound. */
static void resolve_unwound(struct resolver *self)
{
	enum unwind_end end;
	size_t count = resolver_unwind(self, false, &end);
	size_t depth = host_depth(self, count);
	uint64_t glue_pc;

	if (depth == count) {
		resolve_by_links(self);
		return;
	}
	/* Interrupted in code without frame pointers: the leaf is the guest's own. */
	if (depth == 0) {
		self->out->state = is_builtin(self) ? STATE_BUILTIN : STATE_GUEST;
		append_whole(self, 0, count, end);
		return;
	}
	glue_pc = self->out->unwound[depth].pc;
	if (!is_glue(self, depth, count) &&
	    !read_call(self, self->out->unwound[depth].pc, &glue_pc))
		glue_pc = guess_call(self, self->out->unwound[depth].pc);
	append_callee(
		self, depth, glue_pc,
		self->out->unwound[depth + (is_glue(self, depth, count) && depth + 1 < count)].pc);
	if (glue_pc != 0 && glue_pc != self->out->unwound[depth].pc)
		resolver_append_pc(self, glue_pc, true);
	append_whole(self, depth, count, end);
}

void resolve_host(struct resolver *self)
{
	const struct sample *sample = self->sample;

	self->out->state = STATE_HOST;
	if (sample->flags & SAMPLE_TRAP) {
		resolver_append_host(self);
		resolver_append_pcs(self, sample_pcs(sample), sample->pc_count, true);
	} else if (sample->pc_count != 0 && (sample->flags & SAMPLE_EXIT_RECORD)) {
		resolve_exit(self);
	} else {
		resolve_unwound(self);
	}
}
