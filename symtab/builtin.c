/* SPDX-License-Identifier: MIT */
/*
 * builtin.c - which instruction an engine's helper function stands for.
 *
 * From wasmtime 20 to 50, crates/environ: builtin names are the instruction's with underscores, and
 * a tail where one instruction has several helpers (table_fill_func_ref, table_fill_gc_ref).
 */
#include "symtab/builtin.h"

#include <string.h>

static const char *const prefixes[] = {
	"wasmtime_builtin_",
	"wasmtime_patchable_builtin_",
	"wasm_builtin_",
};

/* The builtin's name begins with PREFIX; the first row that fits counts. */
static const struct row {
	const char *prefix;
	const char *instruction;
} rows[] = {
	{ "memory_grow", "memory.grow" },
	{ "memory32_grow", "memory.grow" },
	{ "memory64_grow", "memory.grow" },
	{ "memory_fill", "memory.fill" },
	{ "memory_copy", "memory.copy" },
	{ "memory_init", "memory.init" },
	{ "memory_atomic_notify", "memory.atomic.notify" },
	{ "memory_atomic_wait32", "memory.atomic.wait32" },
	{ "memory_atomic_wait64", "memory.atomic.wait64" },
	{ "data_drop", "data.drop" },
	{ "table_grow", "table.grow" },
	{ "table_fill", "table.fill" },
	{ "table_copy", "table.copy" },
	{ "table_init", "table.init" },
	{ "table_get", "table.get" },
	{ "table_set", "table.set" },
	{ "elem_drop", "elem.drop" },
	{ "ref_func", "ref.func" },
	{ "array_new_data", "array.new_data" },
	{ "array_new_elem", "array.new_elem" },
	{ "array_init_data", "array.init_data" },
	{ "array_init_elem", "array.init_elem" },
	{ "array_copy", "array.copy" },
	{ "global_get", "global.get" },
	{ "global_set", "global.set" },
	{ "is_subtype", "ref.test" },
	{ "throw_ref", "throw_ref" },
	{ "cont_new", "cont.new" },
	{ "gc_alloc_raw", "gc.alloc" },
	{ "grow_gc_heap", "gc.grow" },
	{ "gc", "gc" },
	{ "ceil_f32", "f32.ceil" },
	{ "ceil_f64", "f64.ceil" },
	{ "floor_f32", "f32.floor" },
	{ "floor_f64", "f64.floor" },
	{ "trunc_f32", "f32.trunc" },
	{ "trunc_f64", "f64.trunc" },
	{ "nearest_f32", "f32.nearest" },
	{ "nearest_f64", "f64.nearest" },
	{ "i8x16_swizzle", "i8x16.swizzle" },
	{ "i8x16_shuffle", "i8x16.shuffle" },
	{ "fma_f32x4", "f32x4.relaxed_madd" },
	{ "fma_f64x2", "f64x2.relaxed_madd" },
	{ "out_of_gas", "(out of fuel)" },
	{ "new_epoch", "(new epoch)" },
	{ "trap", "(trap)" },
	{ "raise", "(trap)" },
	{ "breakpoint", "(breakpoint)" },
};

size_t builtin_prefix(const char *symbol, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t prefix = strlen(prefixes[i]);

		if (length > prefix && memcmp(symbol, prefixes[i], prefix) == 0)
			return prefix;
	}
	return 0;
}

const char *builtin_instruction(const char *symbol, size_t length)
{
	size_t prefix = builtin_prefix(symbol, length), i;

	if (prefix == 0)
		return NULL;
	symbol += prefix;
	length -= prefix;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t wanted = strlen(rows[i].prefix);

		/* whole words: "gc" is not the beginning of "gcd" */
		if (length >= wanted && memcmp(symbol, rows[i].prefix, wanted) == 0 &&
		    (length == wanted || symbol[wanted] == '_'))
			return rows[i].instruction;
	}
	return NULL;
}
