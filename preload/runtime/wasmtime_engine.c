/* SPDX-License-Identifier: MIT */
/* wasmtime_engine.c - what is known of each object in the process that is a Wasmtime. */
#include "preload/runtime/wasmtime_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "preload/base/log.h"
#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/wasmtime_layout.h"

enum {
	ENGINES = 16,	  /* at one time */
	NUMBERS = 0xfffe, /* ever; the one after is extism.c's */
	FIRST_WITH_CONTEXTS = 34,
	COPY_MAJOR = 2,
	COPY_MINOR = 4, /* of WAMR, whose frames are known */
};

static struct {
	_Atomic(struct runtime_engine *) engines[ENGINES]; /* filled from the front */
	atomic_uint numbers;
} self;

static void on_unload(void)
{
	for (size_t i = 0; i < ENGINES; i++) {
		struct runtime_engine *engine =
			atomic_load_explicit(&self.engines[i], memory_order_acquire);
		uintptr_t start, end;

		if (engine != NULL && (!hook_object_range((void *)engine->start, &start, &end) ||
				       start != engine->start || end != engine->end))
			atomic_store_explicit(&engine->is_unloaded, true, memory_order_relaxed);
	}
}

/* By what only one engine exports beside wasm.h. */
static void name_engine(struct runtime_engine *engine, const void *real)
{
	const char *(*version)(void) = hook_sibling(real, "wasmer_version"); /* 2.0 to 7.4 */

	engine->is_wasmtime = hook_sibling(real, "wasmtime_module_new") != NULL ||
			      hook_sibling(real, "wasmtime_module_deserialize") != NULL;
	if (engine->is_wasmtime) {
		engine->name = "wasmtime";
	} else if (version != NULL) {
		engine->name = "wasmer";
		snprintf(engine->said_version, sizeof(engine->said_version), "%s", version());
	} else {
		engine->is_wamr = hook_sibling(real, "wasm_runtime_full_init") != NULL;
	}
}

static void learn_wamr(struct runtime_engine *engine, const void *real)
{
	/* 1.2 and later */
	void (*version)(uint32_t * major, uint32_t * minor, uint32_t * patch) =
		hook_sibling(real, "wasm_runtime_get_version");
	uint32_t major = 0, minor = 0, patch = 0;

	engine->wamr_instance = hook_sibling(real, "wasm_runtime_get_module_inst");
	engine->wamr_module = hook_sibling(real, "wasm_runtime_get_module");
	engine->wamr_import_count = hook_sibling(real, "wasm_runtime_get_import_count");
	engine->wamr_import_type = hook_sibling(real, "wasm_runtime_get_import_type");
	if (version == NULL)
		return;
	version(&major, &minor, &patch);
	if (major == COPY_MAJOR && minor == COPY_MINOR)
		engine->wamr_copy = hook_sibling(real, "wasm_copy_callstack");
	snprintf(engine->said_version, sizeof(engine->said_version), "%u.%u.%u", major, minor,
		 patch);
}

static struct runtime_engine *make_engine(const void *real)
{
	struct runtime_engine *engine = calloc(1, sizeof(*engine));

	if (engine == NULL)
		return NULL;
	engine->number = (uint16_t)(atomic_fetch_add(&self.numbers, 1) + 1);
	if (!hook_object_range(real, &engine->start, &engine->end)) {
		free(engine);
		return NULL;
	}
	name_engine(engine, real);
	if (engine->is_wamr)
		learn_wamr(engine, real);
	engine->module_image_range = hook_sibling(real, "wasmtime_module_image_range");
	engine->instance_export_nth = hook_sibling(real, "wasmtime_instance_export_nth");
	engine->extern_delete = hook_sibling(real, "wasmtime_extern_delete");
	engine->store_context = hook_sibling(real, "wasmtime_store_context");
	engine->extern_kind = hook_sibling(real, "wasm_extern_kind");
	engine->wasm_module_imports = hook_sibling(real, "wasm_module_imports");
	engine->wasmtime_module_imports = hook_sibling(real, "wasmtime_module_imports");
	engine->importtype_module = hook_sibling(real, "wasm_importtype_module");
	engine->importtype_name = hook_sibling(real, "wasm_importtype_name");
	engine->importtype_vec_delete = hook_sibling(real, "wasm_importtype_vec_delete");
	engine->func_new_with_env = hook_sibling(real, "wasm_func_new_with_env");
	return engine;
}

static struct runtime_engine *find_engine(const void *real)
{
	for (size_t i = 0; i < ENGINES; i++) {
		/* acquire: pairs with add_engine() */
		struct runtime_engine *engine =
			atomic_load_explicit(&self.engines[i], memory_order_acquire);

		if (engine == NULL)
			return NULL;
		if ((uintptr_t)real - engine->start < engine->end - engine->start &&
		    !atomic_load_explicit(&engine->is_unloaded, memory_order_relaxed))
			return engine;
	}
	return NULL;
}

/* Two threads at once want the same place: the second then finds the first one's engine. */
static bool add_engine(struct runtime_engine *engine)
{
	for (size_t i = 0; i < ENGINES; i++) {
		struct runtime_engine *before =
			atomic_load_explicit(&self.engines[i], memory_order_acquire);

		if (before != NULL &&
		    !atomic_load_explicit(&before->is_unloaded, memory_order_relaxed))
			continue;
		engine->replaced = before;
		/* release: pairs with find_engine(). What was there stays: threads may be at it. */
		return atomic_compare_exchange_strong_explicit(&self.engines[i], &before, engine,
							       memory_order_release,
							       memory_order_relaxed);
	}
	return false;
}

__attribute__((noinline, cold)) static struct runtime_engine *meet_engine(const void *real)
{
	struct runtime_engine *engine;

	if (hook_is_missing(real) ||
	    atomic_load_explicit(&self.numbers, memory_order_relaxed) >= NUMBERS)
		return NULL;
	hook_on_unload(on_unload);
	engine = make_engine(real);
	if (engine != NULL && !add_engine(engine)) {
		free(engine);
		engine = find_engine(real);
	}
	return engine;
}

static struct runtime_engine *known_engine(const void *real)
{
	struct runtime_engine *engine = find_engine(real);

	return engine != NULL ? engine : meet_engine(real);
}

struct runtime_engine *runtime_engine_of(const void *real)
{
	struct runtime_engine *engine = known_engine(real);

	return engine != NULL && engine->is_wasmtime ? engine : NULL;
}

struct runtime_engine *runtime_engine_named(const void *real)
{
	struct runtime_engine *engine = known_engine(real);

	return engine != NULL && engine->name != NULL ? engine : NULL;
}

const struct runtime_engine *runtime_engine_wamr(const void *real)
{
	const struct runtime_engine *engine = known_engine(real);

	return engine != NULL && engine->is_wamr ? engine : NULL;
}

void runtime_engine_learn(struct runtime_engine *engine, uint32_t loading)
{
	char text[32];
	int version, expected = 0;

	if (loading == 0 || atomic_load_explicit(&engine->version, memory_order_relaxed) != 0 ||
	    !load_engine_version(loading, text))
		return;
	version = atoi(text);
	if (version <= 0 || !atomic_compare_exchange_strong(&engine->version, &expected, version))
		return;
	if (runtime_layout_fill(version, &engine->exit))
		/* release: pairs with the handler's look at the entry that carries it */
		atomic_store_explicit(&engine->layout, &engine->exit, memory_order_release);
	log_line(LOG_DEBUG, "wasmtime %s", text);
}

bool runtime_engine_has_contexts(const struct runtime_engine *engine)
{
	return atomic_load_explicit(&engine->version, memory_order_relaxed) >= FIRST_WITH_CONTEXTS;
}

uint64_t runtime_engine_store(const struct runtime_engine *engine, uint64_t store_id)
{
	return store_id ^ (uint64_t)engine->number << 48;
}
