/* SPDX-License-Identifier: MIT */
/* wasmedge.c - the call under way on a thread, and the code that comes meanwhile. */
#include "preload/runtime/wasmedge.h"

#include "preload/hook/hook.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/runtime/register_frame.h"
#include "preload/runtime/wasmedge_object.h"

/* Beside extism.c's, whose numbers are small. */
#define WASMEDGE_STORE (UINT64_C(0xffff8) << 44)

static HOOK_TLS struct runtime_wasmedge *now;
static atomic_ullong store_count;

static bool registered(const void *caller, bool is_done);

bool runtime_wasmedge_begin(struct runtime_wasmedge *call, const void *real)
{
	if (hook_is_missing(real) || !hook_begin())
		return false;
	runtime_follow_registrations(registered);
	call->outer = now;
	call->real = real;
	now = call;
	/* until it is known what it is */
	load_hold();
	hook_end();
	return true;
}

void runtime_wasmedge_end(struct runtime_wasmedge *call)
{
	now = call->outer;
	load_release();
	if (now != NULL)
		load_hold();
}

uint64_t runtime_wasmedge_store(void)
{
	return WASMEDGE_STORE + atomic_fetch_add(&store_count, 1) + 1;
}

uint32_t runtime_wasmedge_instance(uint64_t store, uint32_t loading)
{
	return instance_for((struct instance_key){ store, store }, loading);
}

/* ---- code ------------------------------------------------------------------------------------ */

static void describe(const struct runtime_wasmedge *call, struct load_event *event)
{
	const char *(*version)(void) = hook_sibling(call->real, "WasmEdge_VersionGet");

	/* it may be known already what the host's bytes are */
	load_bytes_end(call->bytes);
	*event = (struct load_event){
		.engine = "WasmEdge",
		.version = version != NULL ? version() : NULL,
		.bytes = load_bytes_copy(call->bytes),
		.path = call->path,
	};
}

/* Code of the module at hand was announced. There may be more of it: the first counts. */
static void came(struct runtime_wasmedge *call, uint32_t loading)
{
	load_hold();
	if (loading == 0 || call->loading != 0)
		return;
	call->loading = loading;
	if (call->store != 0)
		runtime_wasmedge_instance(call->store, loading);
}

void runtime_wasmedge_interpreted(struct runtime_wasmedge *call, const void *handle)
{
	struct load_event event;

	describe(call, &event);
	event.is_interpreted = true;
	event.handle = handle;
	came(call, load_announce(&event));
}

/* The engine itself, or the compiler that it uses. */
static bool is_engines(const struct runtime_wasmedge *call, const void *caller)
{
	uintptr_t start, end;

	return (hook_object_range(call->real, &start, &end) && (uintptr_t)caller >= start &&
		(uintptr_t)caller < end) ||
	       hook_sibling(caller, "LLVMContextCreate") != NULL;
}

/* CALLER registers frames on this thread, or has, and load/ was told. */
static bool registered(const void *caller, bool is_done)
{
	struct load_event event;

	if (now == NULL)
		return false;
	if (!is_engines(now, caller)) {
		/* another engine's, which the guest called: it knows what it is */
		load_release();
		load_hold();
		return false;
	}
	if (is_done) {
		describe(now, &event);
		event.glue_comes_first = true;
		came(now, load_announce(&event));
	}
	return true;
}

void runtime_wasmedge_opened(const char *path)
{
	if (now == NULL || !now->takes_opened || now->bytes != NULL)
		return;
	now->bytes = load_bytes_in_file(path, 0, 0);
}

/* ---- shared objects -------------------------------------------------------------------------- */

void runtime_wasmedge_looked_up(void *handle, const char *name)
{
	struct load_event event;
	uint32_t loading;

	if (now == NULL || handle == NULL || name[0] != 'i' || !hook_begin())
		return;
	if (wasmedge_object_asked(name)) {
		describe(now, &event);
		loading = wasmedge_object_load(handle, &event);
		came(now, loading);
	}
	hook_end();
}
