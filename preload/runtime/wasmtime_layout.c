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

#include <stdlib.h>
#include <string.h>

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

/*
 * VMContext of crates/environ/src/vmoffsets.rs: the magic `core`, and at 8 the VMStoreContext. The
 * word 16 bytes before it is the context's own address. Measured on 25, 36, 40, 43, 47 and 50, by
 * wheels with the C API as the truth.
 */
bool runtime_has_contexts(const char *engine)
{
	return strcmp(engine, "wasmtime") == 0;
}

bool runtime_contexts_fill(const char *version, struct context_layout *layout)
{
	enum { MAGIC = 0x65726f63 /* "core" */ };
	struct exit_layout record;
	int major = atoi(version);

	if ((major != 25 && major < 36) || !runtime_layout_fill(major, &record))
		return false;
	*layout = (struct context_layout){
		.entry_fp = record.entry_fp,
		.magic = MAGIC,
		.self = -16,
		.record = 8,
		.types = major == 25 ? 0x50 : 0x28,
	};
	return true;
}
