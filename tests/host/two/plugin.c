/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a library that is linked with an engine and lends it to two.c, in three ways: calls of
 * its own, calls that are its last act (compiled to jumps: the return address is the host's then),
 * and the plain addresses of the engine's functions.
 */
#include "api.h"

const struct api *plugin_calls(void);
const struct api *plugin_jumps(void);
const struct api *plugin_pointers(void);

/* What keeps the compiler from making a jump of a call. */
#define RETURNED(value)                                \
	({                                             \
		__typeof__(value) returned = (value);  \
		__asm__ volatile("" : "+r"(returned)); \
		returned;                              \
	})
#define DONE() __asm__ volatile("")

#define WAYS(way, RESULT, END)                                                                   \
	static wasm_engine_t *way##_engine_new(void)                                             \
	{                                                                                        \
		return RESULT(wasm_engine_new());                                                \
	}                                                                                        \
	static void way##_engine_delete(wasm_engine_t *engine)                                   \
	{                                                                                        \
		wasm_engine_delete(engine);                                                      \
		END;                                                                             \
	}                                                                                        \
	static wasm_store_t *way##_store_new(wasm_engine_t *engine)                              \
	{                                                                                        \
		return RESULT(wasm_store_new(engine));                                           \
	}                                                                                        \
	static void way##_store_delete(wasm_store_t *store)                                      \
	{                                                                                        \
		wasm_store_delete(store);                                                        \
		END;                                                                             \
	}                                                                                        \
	static wasm_module_t *way##_module_new(wasm_store_t *store, const wasm_byte_vec_t *wasm) \
	{                                                                                        \
		return RESULT(wasm_module_new(store, wasm));                                     \
	}                                                                                        \
	static void way##_module_delete(wasm_module_t *module)                                   \
	{                                                                                        \
		wasm_module_delete(module);                                                      \
		END;                                                                             \
	}                                                                                        \
	static wasm_instance_t *way##_instance_new(                                              \
		wasm_store_t *store, const wasm_module_t *module,                                \
		const wasm_extern_vec_t *imports, wasm_trap_t **trap)                            \
	{                                                                                        \
		return RESULT(wasm_instance_new(store, module, imports, trap));                  \
	}                                                                                        \
	static void way##_instance_delete(wasm_instance_t *instance)                             \
	{                                                                                        \
		wasm_instance_delete(instance);                                                  \
		END;                                                                             \
	}                                                                                        \
	static void way##_instance_exports(const wasm_instance_t *instance,                      \
					   wasm_extern_vec_t *exports)                           \
	{                                                                                        \
		wasm_instance_exports(instance, exports);                                        \
		END;                                                                             \
	}                                                                                        \
	static void way##_extern_vec_delete(wasm_extern_vec_t *items)                            \
	{                                                                                        \
		wasm_extern_vec_delete(items);                                                   \
		END;                                                                             \
	}                                                                                        \
	static wasm_func_t *way##_extern_as_func(wasm_extern_t *item)                            \
	{                                                                                        \
		return RESULT(wasm_extern_as_func(item));                                        \
	}                                                                                        \
	static wasm_trap_t *way##_func_call(const wasm_func_t *function,                         \
					    const wasm_val_vec_t *arguments,                     \
					    wasm_val_vec_t *results)                             \
	{                                                                                        \
		return RESULT(wasm_func_call(function, arguments, results));                     \
	}                                                                                        \
	static const struct api way = {                                                          \
		way##_engine_new,	 way##_engine_delete,	way##_store_new,                 \
		way##_store_delete,	 way##_module_new,	way##_module_delete,             \
		way##_instance_new,	 way##_instance_delete, way##_instance_exports,          \
		way##_extern_vec_delete, way##_extern_as_func,	way##_func_call,                 \
	}

WAYS(calls, RETURNED, DONE());
WAYS(jumps, , (void)0);

const struct api *plugin_calls(void)
{
	return &calls;
}

const struct api *plugin_jumps(void)
{
	return &jumps;
}

const struct api *plugin_pointers(void)
{
	static const struct api pointers = {
		.wasm_engine_new = wasm_engine_new,
		.wasm_engine_delete = wasm_engine_delete,
		.wasm_store_new = wasm_store_new,
		.wasm_store_delete = wasm_store_delete,
		.wasm_module_new = wasm_module_new,
		.wasm_module_delete = wasm_module_delete,
		.wasm_instance_new = wasm_instance_new,
		.wasm_instance_delete = wasm_instance_delete,
		.wasm_instance_exports = wasm_instance_exports,
		.wasm_extern_vec_delete = wasm_extern_vec_delete,
		.wasm_extern_as_func = wasm_extern_as_func,
		.wasm_func_call = wasm_func_call,
	};

	return &pointers;
}
