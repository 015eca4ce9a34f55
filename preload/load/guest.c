/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a thread's way into a guest and out of it.
 */
#include <errno.h>

#include "preload/base/state.h"
#include "preload/load/instance.h"

struct activation guest_enter(uint32_t instance, uintptr_t stack_pointer, uintptr_t context,
			      struct exit_layout *layout, uint32_t flags)
{
	struct thread *thread = sig_self;
	struct entry entry = {
		.sp = stack_pointer,
		.context = context,
		.layout = layout,
		.instance = instance,
		.flags = flags,
	};

	if (thread == NULL || thread->was_born_blocked) {
		if (state.adopt_thread == NULL || (thread = state.adopt_thread()) == NULL)
			return (struct activation){ 0 };
	}
	return (struct activation){ .thread = thread, .depth = thread_enter(thread, &entry) };
}

void guest_leave(struct activation activation)
{
	if (activation.thread != NULL)
		thread_leave(activation.thread, activation.depth);
}
