/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what a run of the program finds in memory, put back for the next one; and its hash.
 *
 * The data segment, and whatever was allocated: malloc() and its like are wrapped by the linker.
 */
#ifndef TESTS_MODEL_MEMORY_H
#define TESTS_MODEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Once. Faults are the search's from then on: a property that does not hold. */
void memory_set_up(void);

/* Around a search: what is between the first two is where each run begins. */
void memory_begin(void);
void memory_keep(void);
void memory_begin_again(void);
void memory_end(void);

void memory_free(void *block);

/* Of all that a run may have changed. */
uint64_t memory_hash(void);
uint64_t memory_mix(uint64_t a, uint64_t b);
uint64_t memory_mix_bytes(uint64_t hash, const void *bytes, size_t size); /* whole words of them */

#endif /* TESTS_MODEL_MEMORY_H */
