/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_layout.h - where Wasmtime keeps its exit record, by version.
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_LAYOUT_H
#define PRELOAD_RUNTIME_WASMTIME_LAYOUT_H

#include "preload/load/instance.h"

/* Fills LAYOUT, its offset not learned yet. False for versions that nobody has looked at. */
bool runtime_layout_fill(int version, struct exit_layout *layout);

#endif /* PRELOAD_RUNTIME_WASMTIME_LAYOUT_H */
