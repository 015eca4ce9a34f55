/* SPDX-License-Identifier: MIT */
/* opened.c - wasm files, scripts of V8's, and what is written for other profilers. */
#include "preload/runtime/opened.h"

#include "preload/hook/hook.h"
#include "preload/load/wasmfiles.h"
#include "preload/runtime/jitdump.h"
#include "preload/runtime/perf_map.h"
#include "preload/runtime/v8.h"
#include "preload/runtime/wasmedge.h"

/* V8 tells us more, and when code goes. */
static void follow(const struct followed_format *format, const char *path, int descriptor)
{
	if (!followed_is_called(format, path) || !hook_begin())
		return;
	if (!runtime_v8_is_there())
		followed_opened(format, path, descriptor);
	hook_end();
}

void runtime_opened(const char *path, int descriptor)
{
	if (wasmfiles_is_called_so(path) && hook_begin()) {
		wasmfiles_opened(path, descriptor);
		runtime_wasmedge_opened(path);
		hook_end();
	}
	follow(&runtime_perf_map, path, descriptor);
	follow(&runtime_jitdump, path, descriptor);
	runtime_v8_opened(path);
}
