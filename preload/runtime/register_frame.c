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

uint32_t runtime_registrations(void)
{
	return registered.count;
}

const void *runtime_registered_since(uint32_t before)
{
	return registered.count != before ? registered.last : NULL;
}

HOOK(__register_frame);
void __register_frame(const void *begin)
{
	const struct load_maker maker = { __builtin_return_address(0), runtime_maker };

	REAL(__register_frame)(begin);
	if (!hook_begin())
		return;
	registered.count++;
	registered.last = begin;
	load_register_frame(begin, &maker);
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
