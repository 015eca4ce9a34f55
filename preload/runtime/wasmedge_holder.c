/* SPDX-License-Identifier: MIT */
/* wasmedge_holder.c - two maps: holders of modules, and module instances. */
#include "preload/runtime/wasmedge_holder.h"

#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/runtime/pointer_map.h"

enum { HOLDERS = 4096, INSTANCES = 8192 };
enum { VALUE_ID, VALUE_STORE, VALUE_VM }; /* of instances */

static struct pointer_entry holder_entries[HOLDERS], instance_entries[INSTANCES];
static const struct pointer_map holders = { holder_entries, HOLDERS };
static const struct pointer_map instances = { instance_entries, INSTANCES };

union holder_values {
	struct wasmedge_holder holder;
	uintptr_t values[POINTER_MAP_VALUES];
};

_Static_assert(sizeof(struct wasmedge_holder) <= sizeof(uintptr_t[POINTER_MAP_VALUES]),
	       "a holder fits into an entry");

void wasmedge_holder_get(const void *handle, struct wasmedge_holder *holder)
{
	union holder_values known;

	(void)pointer_map_get(&holders, handle, known.values);
	*holder = known.holder;
}

void wasmedge_holder_put(const void *handle, const struct wasmedge_holder *holder)
{
	union holder_values known = { .holder = *holder };

	if (!pointer_map_put(&holders, handle, known.values))
		load_bytes_free((struct load_bytes *)holder->bytes);
}

static void drop_module(const void *handle, struct wasmedge_holder *holder)
{
	load_bytes_free((struct load_bytes *)holder->bytes);
	if (holder->interpreted)
		load_forget(handle);
	holder->bytes = holder->loading = holder->interpreted = 0;
}

void wasmedge_holder_loaded(const void *handle, struct load_bytes *bytes, uint32_t loading)
{
	struct wasmedge_holder holder;

	wasmedge_holder_get(handle, &holder);
	drop_module(handle, &holder);
	holder.bytes = (uintptr_t)bytes;
	holder.loading = loading;
	wasmedge_holder_put(handle, &holder);
}

void wasmedge_holder_drop_active(struct wasmedge_holder *vm, const void *newer)
{
	if (vm->module != 0 && (const void *)vm->module != newer)
		wasmedge_instance_ends((const void *)vm->module);
	else if (vm->store != 0)
		wasmedge_store_ends(vm->store);
	vm->instance = vm->store = vm->module = 0;
}

void wasmedge_holder_ends(const void *handle)
{
	union holder_values known;

	if (!pointer_map_take(&holders, handle, known.values))
		return;
	wasmedge_holder_drop_active(&known.holder, NULL);
	if (known.holder.registered != 0)
		pointer_map_each(&instances, VALUE_VM, (uintptr_t)handle, wasmedge_instance_ends);
	drop_module(handle, &known.holder);
}

void wasmedge_store_ends(uint64_t store)
{
	load_forget((const void *)(uintptr_t)store);
	instance_forget_store(store);
}

/* ---- instances ------------------------------------------------------------------------------- */

void wasmedge_instance_made(const void *module, uint32_t id, uint64_t store, const void *vm)
{
	const uintptr_t values[POINTER_MAP_VALUES] = {
		[VALUE_ID] = id, [VALUE_STORE] = store, [VALUE_VM] = (uintptr_t)vm
	};

	if (module != NULL && !pointer_map_put(&instances, module, values))
		wasmedge_store_ends(store);
}

uint32_t wasmedge_instance_of(const void *module)
{
	uintptr_t values[POINTER_MAP_VALUES];

	return pointer_map_get(&instances, module, values) ? (uint32_t)values[VALUE_ID] : 0;
}

void wasmedge_instance_ends(const void *module)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (pointer_map_take(&instances, module, values))
		wasmedge_store_ends(values[VALUE_STORE]);
}
