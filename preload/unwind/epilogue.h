/* SPDX-License-Identifier: MIT */
/*
 * epilogue.h - how a function without unwind tables returns, read off its code.
 *
 * Programs built to abort on panic have functions without tables and without frame pointers
 * (libwasmtime 25 and 36: most of those below a call into a guest). But each returns somewhere, and
 * on the way there it takes its frame down: from any place in it the code up to the return says
 * where the return address and the saved registers are. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_EPILOGUE_H
#define PRELOAD_UNWIND_EPILOGUE_H

#include "preload/unwind/cfirow.h"

/*
 * A row for PC, found by following the code from there to a return for which the stack of INPUT,
 * with REGISTERS, holds a return address. False when none was met within the bounds.
 */
bool epilogue_make(struct cfi_row *row, uint64_t pc, const struct unwind_input *input,
		   const uint64_t *registers);

/*
 * The same when PC, which was interrupted, stands within the last few instructions before a return,
 * that only take the frame down. Many tables know no epilogues (Cranelift's; LLVM's without
 * asynchronous ones) and are wrong there.
 */
bool epilogue_is_at(struct cfi_row *row, uint64_t pc, const struct unwind_input *input,
		    const uint64_t *registers);

#endif /* PRELOAD_UNWIND_EPILOGUE_H */
