/* SPDX-License-Identifier: MIT */
/* resolve.c - a sample becomes frames: those in guests here, in the host in resolve_host.c. */
#include "preload/profile/resolver.h"

/* The guest's frames are in pcs, and what called the last before the first 0 is to be unwound. */
static void resolve_from_entry(struct resolver *self)
{
	const uint64_t *pcs = sample_pcs(self->sample);
	size_t pc_count = self->sample->pc_count, inner = 0, count;
	enum unwind_end end;

	while (inner < pc_count && pcs[inner] != 0)
		inner++;
	resolver_append_pcs(self, pcs, inner, true);
	count = resolver_unwind(self, false, &end);
	resolver_append_unwound(self, 1, count);
	if (end != UNWIND_COMPLETE)
		resolver_append_beyond(self, count, inner);
}

/* The leaf stands where the chain of frame pointers is of no use, or at the very edge of the guest.
 */
static void resolve_from_leaf(struct resolver *self)
{
	const struct sample *sample = self->sample;
	enum unwind_end end;
	size_t count = resolver_unwind(self, false, &end);

	if (end == UNWIND_COMPLETE)
		resolver_append_unwound(self, 0, count);
	else
		resolver_append_pcs(self, sample_pcs(sample), sample->pc_count, true);
}

static void resolve_guest(struct resolver *self)
{
	const struct sample *sample = self->sample;
	struct resolved *out = self->out;

	out->state = STATE_GUEST;
	if ((sample->flags & SAMPLE_AT_ENTRY) != 0)
		resolve_from_entry(self);
	else if (sample->slice_size != 0)
		resolve_from_leaf(self);
	else
		resolver_append_pcs(self, sample_pcs(sample), sample->pc_count, true);
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

	resolver_find_entries(&self);
	resolved->count = 0;
	resolved->names_used = 0;
	resolved->is_guessed = false;
	resolved->is_truncated = sample->flags & SAMPLE_TRUNCATED;
	if (sample->kind == SAMPLE_GUEST)
		resolve_guest(&self);
	else if (sample->kind == SAMPLE_HOST)
		resolve_host(&self);
	/* Just in or just out, and no guest below: the glue is all there is to show. */
	if (!has_guest(resolved) && self.has_glue)
		resolver_append(&self, self.glue);
	if (!has_guest(resolved))
		return false;
	if (stacks != STACKS_FULL)
		trim_host(resolved);
	return true;
}
