/* SPDX-License-Identifier: MIT */
/*
 * wamr_native.c - host functions that guests of WAMR import: a thunk is registered in place of
 * each, so that an interpreted guest is known to be in the host, and in which function.
 *
 * The engine keeps the host's list, and sorts it in place: it gets a copy of ours, which stays: the
 * engine may have it twice, and forgets it without a word. What the engine registers for itself
 * (WASI) does not pass here, nor does what wasm.h makes.
 */
#include <stdlib.h>
#include <string.h>

#include "preload/base/clock.h"
#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"
#include "preload/runtime/pointer_map.h"
#include "preload/runtime/wamr_abi.h"
#include "preload/runtime/wamr_native_x86_64.h"
#include "preload/runtime/wasmtime_engine.h"

EXPORT bool wasm_runtime_register_natives(const char *module, struct wamr_native *natives,
					  uint32_t count);
EXPORT bool wasm_runtime_register_natives_raw(const char *module, struct wamr_native *natives,
					      uint32_t count);
EXPORT bool wasm_runtime_unregister_natives(const char *module, struct wamr_native *natives);

enum {
	LISTS = 256,
	LISTS_EVER = 4096,
	MAX_NATIVES = 4096,
	MAX_COMPARED = 512,
	MAX_SIGNATURE = WAMR_STACK_WORDS
};

struct native {
	atomic_uintptr_t function; /* 0: free; 1: being written. release; pairs with find() */
	uint32_t name;
	wamr_copy_callstack *copy; /* the engine's; NULL when it has none */
};

/* A call of the host by an interpreted guest. */
struct under_way {
	void *env;
	uintptr_t stack;
	uint32_t frames; /* that the engine had then */
};

struct call {
	struct activation activation;
	struct under_way outer;
	uint64_t start_ns; /* 0: it is not counted */
	uint32_t name, loading;
};

_Static_assert(sizeof(struct call) <= WAMR_CALL_BYTES, "the thunk's frame has room for it");

static HOOK_TLS struct under_way here; /* the innermost of this thread; stale ones do no harm */
static struct native natives_known[WAMR_THUNKS];
static atomic_uint lists_made;
static struct pointer_entry list_entries[LISTS];
static const struct pointer_map lists = { list_entries, LISTS };

/* ---- who calls ---------------------------------------------------------------------------------
 */

/*
 * The engine keeps a stack of frames for its interpreter, the function of the host on top; a guest
 * that the host enters from there goes on with it. Not in the handler, whatever it promises: here,
 * where the guest stands still.
 */
static void note_functions(struct call *call, const struct native *native, void *env,
			   uintptr_t stack)
{
	struct wamr_frame frames[CALLED_FROM_MAX + 1];
	uint32_t functions[ARRAY_SIZE(frames)], count, own;
	char error[64] = "";

	count = native->copy(env, frames, ARRAY_SIZE(frames), 0, error, sizeof(error));
	if (count > ARRAY_SIZE(frames))
		return;
	own = count;
	/* the others are those of the call that is under way; of a longer list nobody can tell */
	if (count < ARRAY_SIZE(frames) && here.env == env && here.stack > stack &&
	    here.frames < count)
		own = count - here.frames;
	for (uint32_t i = 0; i < own; i++)
		functions[i] = frames[i].function;
	guest_called_from(call->activation, functions, own);
	here = (struct under_way){ env, stack, count };
}

/* ---- calls ----------------------------------------------------------------------------------- */

void *wamr_native_begin(void *context, uint32_t thunk, void *env, uintptr_t stack)
{
	const struct native *native = &natives_known[thunk];
	struct call *call = context;

	*call = (struct call){ .name = native->name, .outer = here };
	if (hook_begin()) {
		if (hostcalls_are_exact()) {
			call->loading = hostcalls_caller();
			call->start_ns = clock_ns(CLOCK_MONOTONIC);
		}
		call->activation = guest_call_out(native->name, stack);
		if (call->activation.thread != NULL && native->copy != NULL)
			note_functions(call, native, env, stack);
		hook_end();
	}
	return (void *)atomic_load_explicit(&native->function, memory_order_relaxed);
}

void wamr_native_end(void *context)
{
	struct call *call = context;

	here = call->outer;
	guest_leave(call->activation);
	if (call->start_ns != 0 && hook_begin()) {
		hostcalls_count(call->name, call->loading, call->start_ns);
		hook_end();
	}
}

/* ---- registration ---------------------------------------------------------------------------- */

/* The number of the thunk that calls FUNCTION under NAME; WAMR_THUNKS when all are others'. */
static uint32_t find(uintptr_t function, uint32_t name, wamr_copy_callstack *copy)
{
	for (uint32_t i = 0; i < WAMR_THUNKS; i++) {
		struct native *native = &natives_known[i];
		uintptr_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&native->function, &found, 1,
							    memory_order_acquire,
							    memory_order_acquire)) {
			native->name = name;
			native->copy = copy;
			atomic_store_explicit(&native->function, function, memory_order_release);
			return i;
		}
		if (found == function && native->name == name && native->copy == copy)
			return i;
	}
	return WAMR_THUNKS;
}

/* Each argument takes a letter of the signature, and two words at most. */
static bool can_be_passed_on(const struct wamr_native *native, bool is_raw)
{
	return is_raw || (native->signature != NULL &&
			  strnlen(native->signature, MAX_SIGNATURE) < MAX_SIGNATURE);
}

static void replace(struct wamr_native *native, const char *module, bool is_raw,
		    wamr_copy_callstack *copy)
{
	size_t module_size = module != NULL ? strlen(module) : 0, size;
	uint32_t thunk;

	if (native->name == NULL || native->function == NULL)
		return;
	size = strlen(native->name);
	callbacks_add((uintptr_t)native->function, module, module_size, native->name, size);
	if (!can_be_passed_on(native, is_raw))
		return;
	thunk = find((uintptr_t)native->function,
		     hostcalls_name(module != NULL ? module : "", module_size, native->name, size),
		     copy);
	if (thunk < WAMR_THUNKS)
		native->function = (void *)(wamr_thunks + thunk * WAMR_THUNK_SIZE);
}

static bool stands_for(const struct wamr_native *copy, const struct wamr_native *native)
{
	uintptr_t thunk = ((uintptr_t)copy->function - (uintptr_t)wamr_thunks) / WAMR_THUNK_SIZE;
	uintptr_t function = (uintptr_t)copy->function;

	if (thunk < WAMR_THUNKS)
		function =
			atomic_load_explicit(&natives_known[thunk].function, memory_order_relaxed);
	return function == (uintptr_t)native->function && copy->name == native->name &&
	       copy->signature == native->signature && copy->attachment == native->attachment;
}

/*
 * The copy that was registered in place of NATIVES before, if it still says the same: the engine
 * may have forgotten it when the host destroyed the runtime, or not.
 */
static struct wamr_native *copy_before(const struct wamr_native *natives, uint32_t count,
				       const char *module)
{
	uintptr_t values[POINTER_MAP_VALUES];
	const struct wamr_native *copy;

	if (!pointer_map_get(&lists, natives, values) || values[1] != count ||
	    values[2] != (uintptr_t)module || count > MAX_COMPARED)
		return NULL;
	copy = (const struct wamr_native *)values[0];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;

		while (k < count && !stands_for(&copy[k], &natives[i]))
			k++;
		if (k == count)
			return NULL;
	}
	return (struct wamr_native *)values[0];
}

/* What is registered in place of NATIVES. */
static struct wamr_native *list_for(const void *real, const char *module,
				    struct wamr_native *natives, uint32_t count, bool is_raw)
{
	uintptr_t values[POINTER_MAP_VALUES] = { 0 };
	const struct runtime_engine *engine;
	struct wamr_native *copy = NULL;

	if (natives == NULL || count == 0 || count > MAX_NATIVES || !hook_begin())
		return natives;
	engine = runtime_engine_wamr(real);
	if (engine != NULL)
		copy = copy_before(natives, count, module);
	if (copy != NULL) {
		hook_end();
		return copy;
	}
	if (engine != NULL && atomic_fetch_add(&lists_made, 1) < LISTS_EVER)
		copy = malloc(count * sizeof(*copy));
	if (copy != NULL) {
		memcpy(copy, natives, count * sizeof(*copy));
		values[0] = (uintptr_t)copy;
		values[1] = count;
		values[2] = (uintptr_t)module;
		if (!pointer_map_put(&lists, natives, values)) {
			free(copy);
			copy = NULL;
		}
	}
	for (uint32_t i = 0; copy != NULL && i < count; i++)
		replace(&copy[i], module, is_raw, engine->wamr_copy);
	hook_end();
	return copy != NULL ? copy : natives;
}

HOOK(wasm_runtime_register_natives);
bool wasm_runtime_register_natives(const char *module, struct wamr_native *natives, uint32_t count)
{
	__typeof__(&wasm_runtime_register_natives) real = REAL(wasm_runtime_register_natives);

	return real(module, list_for(real, module, natives, count, false), count);
}

HOOK(wasm_runtime_register_natives_raw);
bool wasm_runtime_register_natives_raw(const char *module, struct wamr_native *natives,
				       uint32_t count)
{
	__typeof__(&wasm_runtime_register_natives_raw) real =
		REAL(wasm_runtime_register_natives_raw);

	return real(module, list_for(real, module, natives, count, true), count);
}

HOOK(wasm_runtime_unregister_natives);
bool wasm_runtime_unregister_natives(const char *module, struct wamr_native *natives)
{
	__typeof__(&wasm_runtime_unregister_natives) real = REAL(wasm_runtime_unregister_natives);
	uintptr_t values[POINTER_MAP_VALUES];

	/* without ours the engine has the host's, which it was given before we were there */
	if (pointer_map_get(&lists, natives, values) &&
	    real(module, (struct wamr_native *)values[0]))
		return true;
	return real(module, natives);
}
