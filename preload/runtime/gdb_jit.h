/* SPDX-License-Identifier: MIT */
/*
 * gdb_jit.h - names from the list that JITs keep for debuggers.
 *
 * `__jit_debug_descriptor` (GDB's manual, "JIT Compilation Interface") leads to object files in
 * memory. Code that came by unwind tables alone has its names there, where the host asks its JIT
 * for it (PostgreSQL: jit_debugging_support).
 */
#ifndef PRELOAD_RUNTIME_GDB_JIT_H
#define PRELOAD_RUNTIME_GDB_JIT_H

#include "symtab/base.h"

/*
 * Our thread: looks at the lists when it is time, and tells of the functions in them. Whoever
 * registers frames may be about to extend his list, which he does a moment later.
 */
void runtime_gdb_jit_work(uint64_t now_ns);

/* When that is next; UINT64_MAX: when somebody registers, which wakes our thread. */
uint64_t runtime_gdb_jit_next_ns(void);

#endif /* PRELOAD_RUNTIME_GDB_JIT_H */
