/* SPDX-License-Identifier: MIT */
/*
 * register_frame.c - __register_frame and __deregister_frame: the code of JITs comes and goes.
 *
 * The calls go on exactly as they came: libgcc aborts on a deregistration that it cannot match. The
 * wrappers work before our constructor and after our destructor, when they only pass on. Never
 * define any __unw_* here: engines change their way of registering when one is in scope.
 */
#include "preload/runtime/register_frame.h"

#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/maker.h"

EXPORT void __register_frame(const void *begin);
EXPORT void __deregister_frame(const void *begin);

static HOOK_TLS struct {
	uint32_t count;
	const void *last;
} registered;

static struct {
	_Atomic(const void *) caller;
	atomic_uint count;
} newest;

static void note(const void *caller)
{
	atomic_store_explicit(&newest.caller, caller, memory_order_relaxed);
	/* release: pairs with the load below */
	atomic_fetch_add_explicit(&newest.count, 1, memory_order_release);
}

bool runtime_registered_anew(uint32_t *count, const void **caller)
{
	uint32_t now = atomic_load_explicit(&newest.count, memory_order_acquire);

	if (now == *count)
		return false;
	*count = now;
	*caller = atomic_load_explicit(&newest.caller, memory_order_relaxed);
	return true;
}

uint32_t runtime_registrations(void)
{
	return registered.count;
}

const void *runtime_registered_since(uint32_t before)
{
	return registered.count != before ? registered.last : NULL;
}

static _Atomic(bool (*)(const void *caller, bool is_done)) registration_follower;

void runtime_follow_registrations(bool (*follower)(const void *caller, bool is_done))
{
	/* release: pairs with the wrapper */
	atomic_store_explicit(&registration_follower, follower, memory_order_release);
}

HOOK(__register_frame);
void __register_frame(const void *begin)
{
	struct load_maker maker = { .caller = __builtin_return_address(0),
				    .engine = runtime_maker };
	bool (*follower)(const void *caller, bool is_done);

	REAL(__register_frame)(begin);
	if (!hook_begin())
		return;
	registered.count++;
	registered.last = begin;
	note(maker.caller);
	follower = atomic_load_explicit(&registration_follower, memory_order_acquire);
	maker.has_no_image = follower != NULL && follower(maker.caller, false);
	load_register_frame(begin, &maker);
	if (follower != NULL)
		follower(maker.caller, true);
	hook_end();
}

HOOK(__deregister_frame);
void __deregister_frame(const void *begin)
{
	void (*real)(const void *) = REAL(__deregister_frame);

	if (hook_begin()) {
		load_deregister_frame(begin);
		hook_end();
	}
	real(begin);
}
