/* SPDX-License-Identifier: MIT */
/* resolve_host.c - a sample in the host: what the guest called, and who called the guest. */
#include "preload/profile/callsite.h"
#include "preload/profile/hostcall.h"
#include "preload/profile/links.h"
#include "preload/profile/resolver.h"

#include <string.h>

enum { KNOWN_LOG2 = 10 };

static struct links_input links_of(const struct resolver *self)
{
	const struct sample *sample = self->sample;

	return (struct links_input){
		.symtab = self->symtab,
		.generation = sample->generation,
		.time_ns = sample->time_ns,
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
		for (size_t i = 0; i < depth; i++) {
			resolver_note_guess(self, i);
			resolver_append_host_pc(self, resolver_lookup(self, i));
		}
		self->is_guess = false;
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

/* Call sites that were read, by their return addresses. */
static struct known {
	uint64_t pc, target;
	uint32_t loading; /* 0: free */
	enum callsite_kind kind;
} known[1 << KNOWN_LOG2];

/* As callsite_at(), which is a system call: code of one loading does not change. */
static enum callsite_kind kind_of_call(const struct resolver *self, uint64_t guest_pc,
				       uint64_t *target)
{
	struct known *place = &known[(guest_pc * 0x9e3779b97f4a7c15u) >> (64 - KNOWN_LOG2)];
	const struct links_input links = links_of(self);
	const struct symtab_entry *entry =
		symtab_find(self->symtab, guest_pc - 1, self->sample->generation);

	if (entry == NULL)
		return callsite_at(guest_pc, is_glue_start, &links, target);
	if (place->loading != entry->id || place->pc != guest_pc) {
		*place = (struct known){ .pc = guest_pc };
		place->kind = callsite_at(guest_pc, is_glue_start, &links, &place->target);
		/* gone already, perhaps: asked again */
		place->loading = place->kind != CALLSITE_UNKNOWN ? entry->id : 0;
	}
	*target = place->target;
	return place->kind;
}

/*
 * By what the guest called out before it returns to GUEST_PC, as its call says: *GLUE_PC is a
 * return address in the glue that a direct one goes to, 0 for one through a pointer, which is a
 * function of the host's. False when the code is gone.
 */
static bool read_call(const struct resolver *self, uint64_t guest_pc, uint64_t *glue_pc)
{
	uint64_t target;
	enum callsite_kind kind = kind_of_call(self, guest_pc, &target);

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

/* The glue by which the guest at GUEST_PC called out; 0, or the guest itself: there is none. */
static void append_glue(struct resolver *self, uint64_t glue_pc, uint64_t guest_pc, bool is_guess)
{
	if (glue_pc == 0 || glue_pc == guest_pc)
		return;
	self->is_guess = is_guess;
	self->out->is_guessed |= is_guess;
	resolver_append_pc(self, glue_pc, true);
	self->is_guess = false;
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
	append_glue(self, glue_pc, pcs[0], !has_call && !is_glue(self, depth, count));
	append_guest(self, count);
}

/* Does WORD look like an address that a guest returns to? Pointers to functions do not. */
static bool is_guest_return(const struct resolver *self, uint64_t word)
{
	const struct symtab_entry *entry =
		symtab_find(self->symtab, word - 1, self->sample->generation);
	const struct symbol *symbol =
		entry != NULL ? module_find(entry->module, word - entry->text) : NULL;

	return entry != NULL && (symbol == NULL || symbol->start != word - entry->text);
}

/*
 * Is the last of COUNT frames the outermost guest's? Where no glue leads into a module that cannot
 * be seen by a name; but the handler cuts the slice behind the last word that points into guests.
 */
static bool is_outermost(const struct resolver *self, size_t count)
{
	const struct sample *sample = self->sample;
	const struct unwind_frame *last = &self->out->unwound[count - 1];
	uint64_t at = count > 1 ? last[-1].cfa : sample->slice_address, word;
	const struct symtab_entry *entry =
		symtab_find(self->symtab, last->pc - (count > 1), sample->generation);

	if (entry == NULL || module_has_entries(entry->module) ||
	    sample->slice_size >= SAMPLE_MAX_SLICE || at < sample->slice_address)
		return false;
	for (at -= sample->slice_address; at + sizeof(word) <= sample->slice_size;
	     at += sizeof(word)) {
		memcpy(&word, sample_slice(sample) + at, sizeof(word));
		if (is_guest_return(self, word))
			return false;
	}
	return true;
}

/* The unwinder gave up within the guest, after COUNT frames; the guest's links may go on. */
static void continue_by_links(struct resolver *self, size_t count)
{
	const struct links_input links = links_of(self);
	uint64_t pc = self->out->unwound[count - 1].pc;
	size_t more = links_callers(&links, pc, self->out->pcs, SAMPLE_MAX_PCS);

	resolver_append_pcs(self, self->out->pcs, more, false);
	if (more == 0 && !is_outermost(self, count))
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
	append_glue(self, glue_pc, self->out->pcs[0], is_whole);
	/* A chain that was searched for may be a dead one. */
	self->is_guess = is_whole;
	self->out->is_guessed |= is_whole;
	resolver_append_pcs(self, self->out->pcs, count, false);
	self->is_guess = false;
	self->out->is_truncated |= !is_whole;
}

/* Unwound frames FROM to COUNT, and what lies beyond. */
static void append_whole(struct resolver *self, size_t from, size_t count, enum unwind_end end)
{
	resolver_append_unwound(self, from, count);
	if (end != UNWIND_COMPLETE && !self->ends_in_entry &&
	    is_known(self, self->out->unwound[count - 1].pc))
		continue_by_links(self, count);
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
	bool is_guess;

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
	is_guess = !is_glue(self, depth, count) &&
		   !read_call(self, self->out->unwound[depth].pc, &glue_pc);
	if (is_guess)
		glue_pc = guess_call(self, self->out->unwound[depth].pc);
	append_callee(
		self, depth, glue_pc,
		self->out->unwound[depth + (is_glue(self, depth, count) && depth + 1 < count)].pc);
	append_glue(self, glue_pc, self->out->unwound[depth].pc, is_guess);
	append_whole(self, depth, count, end);
}

void resolve_host(struct resolver *self)
{
	const struct sample *sample = self->sample;

	self->out->state = STATE_HOST;
	if (sample->flags & SAMPLE_FRAMELESS) {
		resolve_frameless(self);
	} else if (sample->flags & SAMPLE_TRAP) {
		resolver_append_host(self);
		resolver_append_pcs(self, sample_pcs(sample), sample->pc_count, true);
	} else if (sample->pc_count != 0 && (sample->flags & SAMPLE_EXIT_RECORD)) {
		resolve_exit(self);
	} else {
		resolve_unwound(self);
	}
}

void resolve_forget(void)
{
	memset(known, 0, sizeof(known));
}
