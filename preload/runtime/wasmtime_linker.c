/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_linker.c - the host gives functions to Wasmtime's C API under names: they are noted.
 *
 * Signatures as in crates/c-api/include/wasmtime/linker.h, the same from 14 to 50.
 */
#include "preload/hook/hook.h"
#include "preload/load/callbacks.h"

typedef struct wasmtime_error wasmtime_error_t;

/* Pointers that are only passed on. */
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

static void note(void (*callback)(void), const char *module, size_t module_size, const char *name,
		 size_t name_size)
{
	if (!hook_begin())
		return;
	callbacks_add((uintptr_t)callback, module, module_size, name, name_size);
	hook_end();
}

HOOK(wasmtime_linker_define_func);
wasmtime_error_t *wasmtime_linker_define_func(void *linker, const char *module, size_t module_size,
					      const char *name, size_t name_size, const void *type,
					      void (*callback)(void), void *data,
					      void (*finalizer)(void *))
{
	wasmtime_error_t *error = REAL(wasmtime_linker_define_func)(
		linker, module, module_size, name, name_size, type, callback, data, finalizer);

	if (error == NULL)
		note(callback, module, module_size, name, name_size);
	return error;
}

HOOK(wasmtime_linker_define_func_unchecked);
wasmtime_error_t *wasmtime_linker_define_func_unchecked(void *linker, const char *module,
							size_t module_size, const char *name,
							size_t name_size, const void *type,
							void (*callback)(void), void *data,
							void (*finalizer)(void *))
{
	wasmtime_error_t *error = REAL(wasmtime_linker_define_func_unchecked)(
		linker, module, module_size, name, name_size, type, callback, data, finalizer);

	if (error == NULL)
		note(callback, module, module_size, name, name_size);
	return error;
}
