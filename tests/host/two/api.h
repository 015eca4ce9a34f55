/* SPDX-License-Identifier: MIT */
/*
 * api.h - the functions of wasm.h that two.c calls, as a table: one for each engine.
 */
#ifndef TESTS_HOST_TWO_API_H
#define TESTS_HOST_TWO_API_H

#include <wasm.h>

#define API_FUNCTIONS(each)           \
	each(wasm_engine_new);        \
	each(wasm_engine_delete);     \
	each(wasm_store_new);         \
	each(wasm_store_delete);      \
	each(wasm_module_new);        \
	each(wasm_module_delete);     \
	each(wasm_instance_new);      \
	each(wasm_instance_delete);   \
	each(wasm_instance_exports);  \
	each(wasm_extern_vec_delete); \
	each(wasm_extern_as_func);    \
	each(wasm_func_call)

#define API_MEMBER(name) __typeof__(&name) name

struct api {
	API_FUNCTIONS(API_MEMBER);
};

#endif /* TESTS_HOST_TWO_API_H */
