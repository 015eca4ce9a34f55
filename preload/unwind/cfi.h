/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - one frame on, by unwind tables, without libunwind.
 *
 * For what libunwind cannot do: expressions that name a register (wasmtime's fibers), programs that
 * it is not trusted with, and hosts where it is not installed. Rows are remembered by address.
 * Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_CFI_H
#define PRELOAD_UNWIND_CFI_H

#include "preload/unwind/remote.h"

/*
 * REGISTERS are those of a frame, LOOKUP as for remote_begin(). REMOTE_STEPPED: they are the
 * caller's (those that calls do not preserve are not to be used), and *FROM_SIGNAL says whether
 * that was interrupted. REMOTE_SLICE_END: *MISSING is the address of the word that was not to be
 * had. Else they are as before.
 */
enum remote_step cfi_step(const struct unwind_input *input, uint64_t *registers, uint64_t lookup,
			  bool *from_signal, uint64_t *missing);

/* Over a leaf that stands in an epilogue. False, and nothing changed, when it does not. */
bool cfi_step_epilogue(const struct unwind_input *input, uint64_t *registers);

/* Forgets rows. */
void cfi_flush(void);

#endif /* PRELOAD_UNWIND_CFI_H */
