/* SPDX-License-Identifier: MIT */
/*
 * wasmbin_fuzz.c - any bytes as a wasm binary: all that is asked of one, and comparing it.
 */
#include "symtab/match.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void ask_function(const struct wasmbin *bin, uint32_t core, uint32_t function, size_t size)
{
	uint64_t start = 0, end = 0;
	uint32_t found_core, found;
	size_t length = 0;
	const char *name = wasmbin_function_name(bin, core, function, &length);

	require(name == NULL || (length > 0 && length <= 3 * size));
	if (!wasmbin_body(bin, core, function, &start, &end))
		return;
	require(start <= end && end <= size);
	if (start < end) {
		require(wasmbin_find(bin, start, &found_core, &found));
		require(found_core == core && found == function);
	}
}

static void ask_core(const struct wasmbin *bin, uint32_t core, size_t size)
{
	uint32_t count =
		wasmbin_imported_functions(bin, core) + wasmbin_defined_functions(bin, core);
	struct identity identity;
	uint32_t i;

	require(count <= size && wasmbin_core_name(bin, core) != NULL);
	wasmbin_core_identity(bin, core, &identity);
	for (i = 0; i < count; i++)
		ask_function(bin, core, i, size);
	wasmbin_named_functions(bin, core);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct wasmbin *bin = wasmbin_parse_bodies(bytes, size), *other;
	struct identity identity;
	struct match match;
	uint32_t i;

	if (bin == NULL)
		return 0;
	for (i = 0; i < wasmbin_core_count(bin); i++)
		ask_core(bin, i, size);
	wasmbin_identity(bin, &identity);
	match_wasm(bin, bin, &match);
	require(match.strength == MATCH_EXACT);
	other = wasmbin_parse(bytes, size - 1);
	if (other != NULL)
		match_wasm(bin, other, &match);
	wasmbin_unref(other);
	wasmbin_unref(bin);
	return 0;
}
