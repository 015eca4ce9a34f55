/* SPDX-License-Identifier: MIT */
/* v8_name.h - what V8 calls code in its events, and what that says. */
#ifndef PRELOAD_RUNTIME_V8_NAME_H
#define PRELOAD_RUNTIME_V8_NAME_H

#include "symtab/base.h"

struct code_event;

/*
 * Fills kind, index and names of EVENT from TEXT, LENGTH bytes that need not be terminated, which
 * the names point into (or into static texts).
 *
 * src/logging/log.cc (CodeEventLogger), V8 11.3 to 14.6: TAG:TEXT.
 *   of wasm        JS:NAME-INDEX-TIER       NAME is wasm-function[INDEX] where it has none
 *   of JavaScript  JS:MARKNAME FILE:LINE:COLUMN, MARK one of ~ ^ + * (o before, ' behind) or none;
 * Script, Eval, Function, LazyCompile likewise; RegExp:PATTERN of V8's own    Builtin:NAME,
 * BytecodeHandler:NAME, Stub:, Handler:
 */
void v8_name_read(const char *text, size_t length, bool is_wasm, struct code_event *event);

#endif /* PRELOAD_RUNTIME_V8_NAME_H */
