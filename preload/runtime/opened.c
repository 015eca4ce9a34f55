/* SPDX-License-Identifier: MIT */
/* opened.c - wasm files, and scripts of V8's. */
#include "preload/runtime/opened.h"

#include "preload/hook/hook.h"
#include "preload/load/wasmfiles.h"
#include "preload/runtime/v8.h"

void runtime_opened(const char *path, int descriptor)
{
	if (wasmfiles_is_called_so(path) && hook_begin()) {
		wasmfiles_opened(path, descriptor);
		hook_end();
	}
	runtime_v8_opened(path);
}
