/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_layout.h - where Wasmtime keeps its exit record, by version.
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_LAYOUT_H
#define PRELOAD_RUNTIME_WASMTIME_LAYOUT_H

#include "preload/base/contexts.h"
#include "preload/load/instance.h"

/* Fills LAYOUT, its offset not learned yet. False for versions that nobody has looked at. */
bool runtime_layout_fill(int version, struct exit_layout *layout);

/*
 * Whether instances of ENGINE can be told by their contexts at all; and, of VERSION ("50",
 * "36.0.2"), how: false for those that nobody has looked at.
 */
bool runtime_has_contexts(const char *engine);
bool runtime_contexts_fill(const char *version, struct context_layout *layout);

#endif /* PRELOAD_RUNTIME_WASMTIME_LAYOUT_H */
