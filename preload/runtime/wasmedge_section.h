/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_section.h - whether a module has code in it that was compiled ahead of time.
 *
 * Universal AOT appends it to the binary as a custom section `wasmedge` (lib/llvm/codegen.cpp,
 * 0.14.1); else the module is a shared object. Of a binary only heads of sections are read. Any
 * thread; may change errno.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_SECTION_H
#define PRELOAD_RUNTIME_WASMEDGE_SECTION_H

#include "symtab/base.h"

/* False also for what cannot be read, or is damaged before such a section. */
bool wasmedge_section_in_file(const char *path);
bool wasmedge_section_in_bytes(const uint8_t *bytes, size_t size);

#endif /* PRELOAD_RUNTIME_WASMEDGE_SECTION_H */
