/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a thread's way into a guest and out of it.
 */
#include "preload/base/state.h"
#include "preload/load/instance.h"

static __thread __attribute__((tls_model("initial-exec"))) struct {
	uint32_t id;
	bool is_interpreted;
} last_entered; /* ids are never reused; what is known of one is known for good */

enum { PLACES = 4096, WINDOW = 16 };

/* By thread and depth: not in the threads' blocks, for most have no use for it. */
static struct place {
	atomic_uintptr_t key; /* 0: free */
	struct called_from from;
} places[PLACES];

static bool is_interpreted(uint32_t id)
{
	struct instance_info info;

	if (id == 0)
		return false;
	if (id == last_entered.id)
		return last_entered.is_interpreted;
	if (!instance_get(id, &info) || info.loading == 0)
		return false;
	last_entered.id = id;
	last_entered.is_interpreted = info.is_interpreted;
	return info.is_interpreted;
}

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
	if (atomic_load_explicit(&thread_table.has_interpreted, memory_order_relaxed) &&
	    is_interpreted(instance)) {
		entry.flags |= ENTRY_INTERPRETED;
		entry.layout = NULL; /* its frame pointers are the interpreter's own */
	}
	return (struct activation){ .thread = thread, .depth = thread_enter(thread, &entry) };
}

struct activation guest_call_out(uint32_t name, uintptr_t stack_pointer)
{
	struct thread *thread = sig_self;
	uint32_t depth = thread != NULL ? thread->depth : 0;
	const struct entry *caller;

	if (depth == 0 || depth > ENTRY_DEPTH)
		return (struct activation){ 0 };
	caller = &thread->entries[depth - 1];
	if ((caller->flags & ENTRY_INTERPRETED) == 0 ||
	    thread_entry_is_stale(thread, depth - 1, stack_pointer))
		return (struct activation){ 0 };
	return (struct activation){
		.thread = thread,
		.depth = thread_enter(
			thread,
			&(struct entry){
				.sp = stack_pointer,
				.instance = caller->instance,
				.flags = ENTRY_CALLED_OUT | (caller->flags & ENTRY_FIBER),
				.call = name,
			}),
	};
}

/* Where it is kept for the activation of THREAD at DEPTH, for good; NULL: there is no room. */
static struct called_from *place_of(const struct thread *thread, uint32_t depth)
{
	/* blocks are aligned to more than there are depths */
	uintptr_t key = (uintptr_t)thread | depth;
	uintptr_t hash = (uintptr_t)((key * 0x9e3779b97f4a7c15u) >> 40);

	for (uint32_t step = 0; step < WINDOW; step++) {
		struct place *place = &places[(hash + step) % PLACES];
		uintptr_t found = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &place->key, &found, key, memory_order_relaxed, memory_order_relaxed) ||
		    found == key)
			return &place->from;
	}
	return NULL;
}

void guest_called_from(struct activation activation, const uint32_t *functions, uint32_t count)
{
	struct called_from *from = NULL;

	if (activation.thread != NULL && activation.depth < ENTRY_DEPTH)
		from = place_of(activation.thread, activation.depth);
	if (from == NULL)
		return;
	if (count > CALLED_FROM_MAX)
		count = CALLED_FROM_MAX;
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&from->functions[i], functions[i], memory_order_relaxed);
	atomic_store_explicit(&from->count, count, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	activation.thread->entries[activation.depth].from = from;
}

void guest_leave(struct activation activation)
{
	if (activation.thread != NULL)
		thread_leave(activation.thread, activation.depth);
}
