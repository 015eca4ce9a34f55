/* SPDX-License-Identifier: MIT */
/*
 * wasmpack_fuzz.c - any bytes as an entry of the cache, with a header that fits them.
 */
#include "symtab/wasmpack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { HEADER_SIZE = 32 };

static void ask(const struct wasmbin *bin)
{
	struct identity identity;
	char call[64];

	for (uint32_t core = 0; core < wasmbin_core_count(bin); core++) {
		wasmbin_core_identity(bin, core, &identity);
		wasmbin_named_functions(bin, core);
		if (wasmbin_core_name(bin, core) == NULL)
			abort();
	}
	wasmbin_identity(bin, &identity);
	for (uint64_t at = 0; at < 200; at++)
		wasmbin_called_import(bin, at, call, sizeof(call));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *entry = malloc(HEADER_SIZE + size), *packed;
	uint64_t all = HEADER_SIZE + size, sum = wasmpack_sum(bytes, size);
	struct wasmbin *bin = NULL;
	size_t packed_size;

	if (entry == NULL || size < 32)
		goto out;
	memcpy(entry, "gpcache\n\1\0\0\0\0\0\0\0", 16);
	memcpy(entry + 16, &all, sizeof(all));
	memcpy(entry + 24, &sum, sizeof(sum));
	memcpy(entry + HEADER_SIZE, bytes, size);
	bin = wasmpack_read(entry, all, bytes);
	if (bin == NULL)
		goto out;
	ask(bin);
	packed = wasmpack_write(bin, &packed_size);
	free(packed);
	wasmbin_unref(bin);
out:
	free(entry);
	return 0;
}
