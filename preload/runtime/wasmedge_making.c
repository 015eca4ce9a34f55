/* SPDX-License-Identifier: MIT */
/* wasmedge_making.c - a number before, a module meanwhile, what is known behind. */
#include "preload/runtime/wasmedge_making.h"

#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/wasmedge_holder.h"
#include "preload/runtime/wasmedge_section.h"

/* Keeps what the caller put into MAKING; the number is given here. */
static bool begin(struct wasmedge_making *making, const void *real)
{
	making->is_seen = runtime_wasmedge_begin(&making->call, real);
	if (!making->is_seen || !hook_begin())
		return false;
	making->call.store = runtime_wasmedge_store();
	return true;
}

void wasmedge_making_of(struct wasmedge_making *making, const void *real, const void *holder)
{
	struct wasmedge_holder known;

	if (!begin(making, real))
		return;
	wasmedge_holder_get(holder, &known);
	making->holder = holder;
	making->call.bytes = (struct load_bytes *)known.bytes;
	making->call.loading = (uint32_t)known.loading;
	hook_end();
}

void wasmedge_making_of_file(struct wasmedge_making *making, const void *real, const char *path)
{
	if (!begin(making, real))
		return;
	making->call.bytes = path != NULL ? load_bytes_in_file(path, 0, 0) : NULL;
	making->call.path = path;
	making->has_code = wasmedge_section_in_file(path);
	hook_end();
}

void wasmedge_making_of_bytes(struct wasmedge_making *making, const void *real,
			      const uint8_t *bytes, size_t size)
{
	if (!begin(making, real))
		return;
	making->call.bytes = load_bytes_begin(bytes, size);
	making->has_code = wasmedge_section_in_bytes(bytes, size);
	hook_end();
}

void wasmedge_making_number(struct wasmedge_making *making)
{
	if (making->call.store == 0 || !hook_begin())
		return;
	making->id = runtime_wasmedge_instance(making->call.store, making->call.loading);
	hook_end();
}

/* What a loading is known by that ends with the instance: no address is like it. */
static const void *handle_of(const struct wasmedge_making *making)
{
	return making->holder != NULL ? making->holder
				      : (const void *)(uintptr_t)making->call.store;
}

/* The module has code by now; else the engine interprets it. */
static void know_module(struct wasmedge_making *making)
{
	struct wasmedge_holder holder;

	if (making->call.loading == 0)
		runtime_wasmedge_interpreted(&making->call, handle_of(making));
	if (making->holder == NULL)
		return;
	wasmedge_holder_get(making->holder, &holder);
	if (holder.loading == 0) {
		holder.loading = making->call.loading;
		holder.interpreted = load_is_interpreted(making->call.loading);
		wasmedge_holder_put(making->holder, &holder);
	}
}

void wasmedge_making_enter(struct wasmedge_making *making, void *frame)
{
	if (making->call.store == 0 || !hook_begin())
		return;
	if (!making->has_code)
		know_module(making);
	else if (state.on_first_guest != NULL)
		state.on_first_guest(); /* its code comes when the guest is entered already */
	making->id = runtime_wasmedge_instance(making->call.store, making->call.loading);
	if (frame != NULL)
		making->activation = guest_enter(making->id, (uintptr_t)frame, 0, NULL, 0);
	hook_end();
}

static void know(struct wasmedge_making *making, const void *instance, const void *vm)
{
	know_module(making);
	runtime_wasmedge_instance(making->call.store, making->call.loading);
	wasmedge_instance_made(instance, making->id, making->call.store, vm);
}

void wasmedge_making_drop(struct wasmedge_making *making)
{
	int saved_errno = errno;

	if (!making->is_seen)
		return;
	/* Also where we were switched off meanwhile: the bytes are the host's again. */
	load_bytes_end(making->call.bytes);
	if (making->holder == NULL)
		load_bytes_free(making->call.bytes);
	runtime_wasmedge_end(&making->call);
	errno = saved_errno;
}

bool wasmedge_making_leave(struct wasmedge_making *making, const void *instance, const void *vm)
{
	int saved_errno = errno;
	bool is_known = false;

	guest_leave(making->activation);
	if (making->id != 0 && hook_begin()) {
		is_known = instance != NULL;
		if (is_known)
			know(making, instance, vm);
		else
			wasmedge_store_ends(making->call.store);
		hook_end();
	}
	wasmedge_making_drop(making);
	errno = saved_errno;
	return is_known;
}
