/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - a sample becomes frames: which code, of what kind, at which place.
 *
 * Here glue is taken out, host code becomes one `(host)` frame, and it is told whether the guest is
 * in a builtin, in a host call, or in its own code. Names are made later, and once (tables.h).
 */
#ifndef PRELOAD_PROFILE_RESOLVE_H
#define PRELOAD_PROFILE_RESOLVE_H

#include "preload/base/config.h"
#include "preload/profile/chunk.h"
#include "preload/sig/sample.h"
#include "preload/unwind/unwind.h"
#include "symtab/base.h"
#include "symtab/symtab.h"

struct frame {
	enum frame_kind kind;
	const struct symtab_entry *entry; /* NULL: host, or generated code nobody described */
	const struct symbol *symbol;	  /* NULL: none covers it */
	uint64_t
		address; /* offset in .text; without an entry the pc, 0 for all host code at once */
	const char *call; /* FRAME_HOST: what the guest called, `env.log`; NULL: not known, or just
			     code. Lives as long as the result */
	const struct symtab_entry *importer; /* whose import CALL is, by its own call site; NULL */
	bool is_guess;			     /* found without a table (struct unwind_frame) */
};

enum { RESOLVE_MAX_FRAMES = SAMPLE_MAX_PCS + UNWIND_MAX_FRAMES, RESOLVE_NAMES = 8192 };

/* The result, and the memory it takes: one, reused for every sample. */
struct resolved {
	struct frame frames[RESOLVE_MAX_FRAMES]; /* leaf first */
	size_t count;
	enum wasm_state state;
	bool is_truncated;
	bool is_guessed; /* a frame among them is a guess */

	char names[RESOLVE_NAMES]; /* of host calls */
	size_t names_used;
	struct unwind_frame unwound[UNWIND_MAX_FRAMES];
	uint64_t pcs[SAMPLE_MAX_PCS];
};

/*
 * Resolves SAMPLE, with as much of the host as STACKS says. Returns false when no frame of a guest
 * was found: then nothing is to be counted for one. Entries and symbols are valid until the symbol
 * table changes.
 */
bool resolve_sample(const struct symtab *symtab, enum stacks stacks, const struct sample *sample,
		    struct resolved *resolved);

/* Forgets what was read of code: when it changed though no new loading was announced. */
void resolve_forget(void);

#endif /* PRELOAD_PROFILE_RESOLVE_H */
