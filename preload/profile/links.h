/* SPDX-License-Identifier: MIT */
/*
 * links.h - guest frames in a stack slice by their frame-pointer links, where no unwinder helps.
 *
 * Guest code pushes its caller's frame pointer below the return address (x86_64 and aarch64):
 *
 *    [a-8] frame pointer ----+     of the caller
 *    [a]   return address    |     into known code
 *     ...                    |
 *    [b-8] frame pointer  <--+
 *    [b]   return address ...      until it lies in an entry trampoline
 *
 * A host may leave dead words that look alike, so only chains that end in an entry count.
 */
#ifndef PRELOAD_PROFILE_LINKS_H
#define PRELOAD_PROFILE_LINKS_H

#include "symtab/base.h"
#include "symtab/symtab.h"

struct links_input {
	const struct symtab *symtab;
	uint64_t generation, time_ns; /* of the sample */
	const uint8_t *slice;
	uint64_t slice_address;
	size_t slice_size;
};

/*
 * Follows the links from the innermost chain that ends in an entry, then those of outer
 * activations; a 0 between two. Fills PCS (room for MAX) with return addresses, innermost first.
 * Returns their number, 0 when there is no such chain.
 */
size_t links_find(const struct links_input *input, uint64_t *pcs, size_t max);

/* The callers of the frame whose return address is PC, and outer activations, as links_find(). */
size_t links_callers(const struct links_input *input, uint64_t pc, uint64_t *pcs, size_t max);

/*
 * The return address into glue (entry excepted) nearest below the place where return address PC is
 * kept: the trampoline or builtin by which the guest called out. 0 when there is none.
 */
uint64_t links_glue_below(const struct links_input *input, uint64_t pc);

/* The symbol that holds the call before return address PC; NULL in unknown code. */
const struct symbol *links_symbol(const struct links_input *input, uint64_t pc);

#endif /* PRELOAD_PROFILE_LINKS_H */
