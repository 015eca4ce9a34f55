/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_abi.h - of WasmEdge's C API what is wrapped, as wasmedge.h 0.13.5 and 0.14.1 have it.
 *
 * Handles are compared and passed on; texts and bytes come by value, in two registers.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_ABI_H
#define PRELOAD_RUNTIME_WASMEDGE_ABI_H

#include "symtab/base.h"

struct wasmedge_string {
	uint32_t length;
	const char *text;
};

struct wasmedge_bytes {
	uint32_t size;
	const uint8_t *bytes;
};

/* A category and a number; 0: success, and 1: the guest ended itself, which is one too. */
struct wasmedge_result {
	uint32_t code;
};

struct wasmedge_value;
struct wasmedge_async;

static inline bool wasmedge_succeeded(struct wasmedge_result result)
{
	return (result.code & 0xffffff) <= 1;
}

/* What the call with RESULT has left in *OUT; NULL: nothing. */
static inline const void *wasmedge_made(struct wasmedge_result result, void **out)
{
	return wasmedge_succeeded(result) && out != NULL ? *out : NULL;
}

#endif /* PRELOAD_RUNTIME_WASMEDGE_ABI_H */
