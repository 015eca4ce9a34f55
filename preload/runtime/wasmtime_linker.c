/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_linker.c - the host gives functions to Wasmtime's C API under names: they are noted, and
 * wrapped if their calls are to be counted.
 *
 * Signatures as in crates/c-api/include/wasmtime/linker.h and async.h, the same from 14 to 50.
 */
#include "preload/hook/hook.h"
#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"
#include "preload/runtime/exactcall.h"
#include "preload/runtime/wasmtime_abi.h"

/* Callbacks and types are only passed on. */
EXPORT wasmtime_error_t *wasmtime_linker_define_func(void *linker, const char *module,
						     size_t module_size, const char *name,
						     size_t name_size, const void *type,
						     void (*callback)(void), void *data,
						     void (*finalizer)(void *));
EXPORT wasmtime_error_t *wasmtime_linker_define_func_unchecked(void *linker, const char *module,
							       size_t module_size, const char *name,
							       size_t name_size, const void *type,
							       void (*callback)(void), void *data,
							       void (*finalizer)(void *));
EXPORT wasmtime_error_t *wasmtime_linker_define_async_func(void *linker, const char *module,
							   size_t module_size, const char *name,
							   size_t name_size, const void *type,
							   void (*callback)(void), void *data,
							   void (*finalizer)(void *));

/* All three are alike. */
typedef wasmtime_error_t *define_type(void *linker, const char *module, size_t module_size,
				      const char *name, size_t name_size, const void *type,
				      void (*callback)(void), void *data,
				      void (*finalizer)(void *));

static void begin(struct exact_function *function, const char *module, size_t module_size,
		  const char *name, size_t name_size, enum exact_kind kind)
{
	if (!hostcalls_are_exact() || !hook_begin())
		return;
	exact_begin(function, hostcalls_name(module, module_size, name, name_size), kind);
	hook_end();
}

static void note(void (*callback)(void), const char *module, size_t module_size, const char *name,
		 size_t name_size)
{
	if (!hook_begin())
		return;
	callbacks_add((uintptr_t)callback, module, module_size, name, name_size);
	hook_end();
}

static wasmtime_error_t *define(define_type *real, void *linker, const char *module,
				size_t module_size, const char *name, size_t name_size,
				const void *type, struct exact_function function,
				enum exact_kind kind)
{
	void (*callback)(void) = function.callback;
	wasmtime_error_t *error;

	begin(&function, module, module_size, name, name_size, kind);
	error = real(linker, module, module_size, name, name_size, type, function.callback,
		     function.environment, function.finalizer);
	exact_end(&function, error == NULL);
	if (error == NULL)
		note(callback, module, module_size, name, name_size);
	return error;
}

HOOK(wasmtime_linker_define_func);
wasmtime_error_t *wasmtime_linker_define_func(void *linker, const char *module, size_t module_size,
					      const char *name, size_t name_size, const void *type,
					      void (*callback)(void), void *data,
					      void (*finalizer)(void *))
{
	return define(REAL(wasmtime_linker_define_func), linker, module, module_size, name,
		      name_size, type, (struct exact_function){ callback, data, finalizer, NULL },
		      EXACT_PLAIN);
}

HOOK(wasmtime_linker_define_func_unchecked);
wasmtime_error_t *wasmtime_linker_define_func_unchecked(void *linker, const char *module,
							size_t module_size, const char *name,
							size_t name_size, const void *type,
							void (*callback)(void), void *data,
							void (*finalizer)(void *))
{
	return define(REAL(wasmtime_linker_define_func_unchecked), linker, module, module_size,
		      name, name_size, type,
		      (struct exact_function){ callback, data, finalizer, NULL }, EXACT_PLAIN);
}

HOOK(wasmtime_linker_define_async_func);
wasmtime_error_t *wasmtime_linker_define_async_func(void *linker, const char *module,
						    size_t module_size, const char *name,
						    size_t name_size, const void *type,
						    void (*callback)(void), void *data,
						    void (*finalizer)(void *))
{
	return define(REAL(wasmtime_linker_define_async_func), linker, module, module_size, name,
		      name_size, type, (struct exact_function){ callback, data, finalizer, NULL },
		      EXACT_ASYNC);
}
