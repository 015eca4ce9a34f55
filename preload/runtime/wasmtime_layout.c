/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_layout.c - where Wasmtime keeps its exit record, by version.
 *
 * VMStoreContext (VMRuntimeLimits before 33) in crates/wasmtime/src/runtime/vm/vmcontext.rs and
 * crates/environ/src/vmoffsets.rs, read at 20, 25, 30 to 34, 36, 37, 39 to 44, 46, 48 and checked
 * by running nested calls on 14, 15, 18, 20 to 25, 27 to 31, 33 to 41, 43, 44, 47, 48 and 50. From
 * 37 on the frame pointer is the exit trampoline's, and the guest's is the word it points at.
 * Before 25 the entry's word is the trampoline's stack pointer: the same where it has nothing on
 * the stack, and where it has, no record is learned that says so.
 */
#include "preload/runtime/wasmtime_layout.h"

static const struct {
	int first, last;
	uint16_t exit_fp, exit_pc, entry_fp;
	bool is_trampoline;
} layouts[] = {
	{ 14, 32, 24, 32, 40, false }, { 33, 36, 40, 48, 56, false }, { 37, 37, 40, 48, 56, true },
	{ 38, 42, 40, 48, 64, true },  { 43, 50, 48, 56, 72, true },
};

bool runtime_layout_fill(int version, struct exit_layout *layout)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (version < layouts[i].first || version > layouts[i].last)
			continue;
		layout->exit_fp = layouts[i].exit_fp;
		layout->exit_pc = layouts[i].exit_pc;
		layout->entry_fp = layouts[i].entry_fp;
		layout->exit_fp_is_trampoline = layouts[i].is_trampoline;
		atomic_store_explicit(&layout->offset, -1, memory_order_relaxed);
		atomic_store_explicit(&layout->candidate, -1, memory_order_relaxed);
		atomic_store_explicit(&layout->hopeless, false, memory_order_relaxed);
		return true;
	}
	return false;
}
