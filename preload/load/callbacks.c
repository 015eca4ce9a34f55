/* SPDX-License-Identifier: MIT */
/*
 * callbacks.c - a table that only grows, read without a lock.
 *
 * Writers keep each other out by a flag, and give up when it does not come free: a fork may have
 * left it set, and a name is not worth waiting for.
 */
#include "preload/load/callbacks.h"

#include <sched.h>
#include <string.h>

enum { MAX_CALLBACKS = 4096, TRIES = 1000 };

static struct {
	struct callback {
		uintptr_t function;
		atomic_bool is_ambiguous;
		char name[CALLBACKS_NAME];
	} callbacks[MAX_CALLBACKS];
	atomic_uint count; /* release by the writer; pairs with find() */
	atomic_flag writing;
} self = { .writing = ATOMIC_FLAG_INIT };

static struct callback *find(uintptr_t function)
{
	uint32_t count = atomic_load_explicit(&self.count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++)
		if (self.callbacks[i].function == function)
			return &self.callbacks[i];
	return NULL;
}

static bool lock(void)
{
	for (int i = 0; i < TRIES; i++) {
		/* acquire: pairs with the release of the clear in callbacks_add() */
		if (!atomic_flag_test_and_set_explicit(&self.writing, memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

static void add(uintptr_t function, const char *name)
{
	struct callback *known = find(function);
	uint32_t count = atomic_load_explicit(&self.count, memory_order_relaxed);

	if (known != NULL) {
		if (strcmp(known->name, name) != 0)
			atomic_store_explicit(&known->is_ambiguous, true, memory_order_relaxed);
		return;
	}
	if (count == MAX_CALLBACKS)
		return;
	self.callbacks[count].function = function;
	memcpy(self.callbacks[count].name, name, CALLBACKS_NAME);
	atomic_store_explicit(&self.count, count + 1, memory_order_release);
}

static size_t append(char *name, size_t at, const char *text, size_t size)
{
	for (size_t i = 0; i < size && at < CALLBACKS_NAME - 1; i++)
		name[at++] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
	return at;
}

void callbacks_join(char joined[CALLBACKS_NAME], const char *module, size_t module_size,
		    const char *name, size_t name_size)
{
	size_t at = 0;

	memset(joined, 0, CALLBACKS_NAME);
	if (module != NULL) {
		at = append(joined, at, module, module_size);
		at = append(joined, at, ".", 1);
	}
	append(joined, at, name, name_size);
}

void callbacks_add(uintptr_t function, const char *module, size_t module_size, const char *name,
		   size_t name_size)
{
	char joined[CALLBACKS_NAME];

	callbacks_join(joined, module, module_size, name, name_size);
	if (function == 0 || !lock())
		return;
	add(function, joined);
	atomic_flag_clear_explicit(&self.writing, memory_order_release);
}

bool callbacks_find(uintptr_t function, char name[CALLBACKS_NAME])
{
	const struct callback *known = find(function);

	if (known == NULL || atomic_load_explicit(&known->is_ambiguous, memory_order_relaxed))
		return false;
	memcpy(name, known->name, CALLBACKS_NAME);
	return true;
}
