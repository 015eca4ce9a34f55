/* SPDX-License-Identifier: MIT */
/*
 * wasmpack.h - what is kept of a wasm binary, as bytes that another process can take it from. The
 * format is in wasmpack.c. Bodies and debug sections are not in it. Threads: any.
 */
#ifndef SYMTAB_WASMPACK_H
#define SYMTAB_WASMPACK_H

#include "symtab/wasmbin.h"

/* BIN as *SIZE bytes, which the caller frees. NULL: memory is short. */
uint8_t *wasmpack_write(const struct wasmbin *bin, size_t *size);

/*
 * From any bytes: what wasmbin_parse() made of the wasm bytes with this hash. NULL with errno:
 * EINVAL (damaged, of another version or of other wasm bytes), ENOMEM.
 */
struct wasmbin *wasmpack_read(const uint8_t *bytes, size_t size, const uint8_t sha256[32]);

/* The sum in the header, of all behind it. */
uint64_t wasmpack_sum(const uint8_t *bytes, size_t size);

#endif /* SYMTAB_WASMPACK_H */
