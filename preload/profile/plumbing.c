/* SPDX-License-Identifier: MIT */
/* plumbing.c - the table of engines, and the rule that reads it. Threads: any. */
#include "preload/profile/plumbing.h"

#include <string.h>

enum { MAX_WORDS = 16 };

/* Texts that objects' names contain, and that symbols begin with; NULL ends each list. */
static const struct engine {
	const char *objects[4];
	const char *plumbing[MAX_WORDS];
	const char *functions[MAX_WORDS]; /* host functions that come with it */
} engines[] = {
	{
		.objects = { "libwasmtime", "libextism" },
		.plumbing = { "wasmtime::", "wasmtime_c_api::", "wasmtime_internal_",
			      "wasmtime_fiber::", "wasmtime_environ::", "wasmtime_setjmp",
			      "wasmtime_longjmp", "wiggle::", "wasmtime_runtime::", "extism::" },
		.functions = { "wasmtime_wasi::", "wasmtime_wasi_http::", "wasmtime_wasi_io::",
			       "wasmtime_wasi_nn::", "wasi_common::", "wasi_cap_std_sync::",
			       "wasi_tokio::" },
	},
	{
		.objects = { "libwasmer" },
		.plumbing = { "wasmer::", "wasmer_vm::", "wasmer_engine", "wasmer_compiler",
			      "corosensei::" },
		.functions = { "wasmer_wasi::", "wasmer_wasix::", "virtual_fs::" },
	},
	{
		.objects = { "libwasmedge" },
		.plumbing = { "WasmEdge::Executor::", "WasmEdge::VM::", "WasmEdge::Runtime::" },
		.functions = { "WasmEdge::Host::" },
	},
	{
		.objects = { "libiwasm" },
		.plumbing = { "wasm_runtime_", "wasm_interp_", "aot_", "jit_", "invokeNative" },
		.functions = { "wasi_", "wasmtime_ssp_", "wasi_ssp_" },
	},
};

/* What any language puts between two functions. */
static const char *const languages[] = {
	"core::",      "alloc::",  "std::",	 "tokio::",	"futures", "async_",
	"tracing::",   "anyhow::", "indexmap::", "hashbrown::", "__rust_", "ffi_call",
	"ffi_closure", "_Unwind_", "__libc_",	 "__cxa_",
};

static const char *const language_objects[] = { "libffi.so" };

static bool begins_with_one(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count && words[i] != NULL; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static bool contains_one(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count && words[i] != NULL; i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

/* `<&mut a::B as c::D>::e` is of a's. */
static const char *path_of(const char *symbol)
{
	static const char *const prefixes[] = { "<", "&", "*", "mut ", "dyn ", "const ", "(" };
	bool found = true;

	while (found) {
		found = false;
		for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
			size_t length = strlen(prefixes[i]);

			if (strncmp(symbol, prefixes[i], length) != 0)
				continue;
			symbol += length;
			found = true;
		}
	}
	return symbol;
}

bool plumbing_is(const char *object, const char *symbol)
{
	const char *path = symbol == NULL ? "" : path_of(symbol);

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (begins_with_one(path, engines[i].functions, MAX_WORDS))
			return false;
	if (begins_with_one(path, languages, ARRAY_SIZE(languages)) ||
	    contains_one(object, language_objects, ARRAY_SIZE(language_objects)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (contains_one(object, engines[i].objects, ARRAY_SIZE(engines[i].objects)) ||
		    begins_with_one(path, engines[i].plumbing, MAX_WORDS))
			return true;
	return false;
}
