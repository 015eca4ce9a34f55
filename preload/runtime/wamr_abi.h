/* SPDX-License-Identifier: MIT */
/*
 * wamr_abi.h - wasm_export.h of WAMR as far as it is used; the same from 1.1 to 2.4.3 but for what
 * is said.
 */
#ifndef PRELOAD_RUNTIME_WAMR_ABI_H
#define PRELOAD_RUNTIME_WAMR_ABI_H

#include "preload/hook/hook.h"

struct wamr_load_args {
	const char *name; /* what follows grew from 1.3 to 2.4, and is not looked at */
};

/* wasm_import_t (2.2 and later). */
struct wamr_import {
	const char *module_name, *name;
	int kind; /* 0: a function */
	bool is_linked;
	const void *type;
};

/* NativeSymbol */
struct wamr_native {
	const char *name;
	void *function;
	const char *signature; /* NULL, or "(iI*~)f": a letter for each argument */
	void *attachment;
};

EXPORT void *wasm_runtime_load(uint8_t *bytes, uint32_t size, char *error, uint32_t error_size);
EXPORT void *wasm_runtime_load_ex(uint8_t *bytes, uint32_t size, const struct wamr_load_args *args,
				  char *error, uint32_t error_size); /* 1.3 and later */
EXPORT void wasm_runtime_unload(void *module);
EXPORT void *wasm_runtime_instantiate(void *module, uint32_t stack, uint32_t heap, char *error,
				      uint32_t error_size);
EXPORT void *wasm_runtime_instantiate_ex(void *module, const void *args, char *error,
					 uint32_t error_size); /* 2.0 and later */
EXPORT void *wasm_runtime_instantiate_ex2(void *module, const void *args, char *error,
					  uint32_t error_size); /* 2.4 and later */
EXPORT void wasm_runtime_deinstantiate(void *instance);
EXPORT bool wasm_runtime_call_wasm(void *env, void *function, uint32_t count, uint32_t *values);
EXPORT bool wasm_runtime_call_wasm_a(void *env, void *function, uint32_t result_count,
				     void *results, uint32_t count, void *values);
EXPORT bool wasm_runtime_call_indirect(void *env, uint32_t element, uint32_t count,
				       uint32_t *values);
EXPORT bool wasm_application_execute_main(void *instance, int32_t count, char **words);
EXPORT bool wasm_application_execute_func(void *instance, const char *name, int32_t count,
					  char **words);

#endif /* PRELOAD_RUNTIME_WAMR_ABI_H */
