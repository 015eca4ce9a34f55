/* SPDX-License-Identifier: MIT */
/*
 * hostcalls.c - names and counters of host calls: two tables that are filled without a lock.
 *
 * A name's place is claimed by its text, a counter's by its key, each with one compare-and-swap;
 * neither is ever given back. What finds no place is counted as HOSTCALLS_OTHER.
 */
#include "preload/load/hostcalls.h"

#include <string.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/load/instance.h"
#include "preload/load/spans.h"

enum { COUNTERS = 8192, WINDOW = 32, CALLERS = 8, NAME_FREE = 0, NAME_BEING_WRITTEN, NAME_READY };

struct counter {
	atomic_ullong key; /* loading + 1 in the upper half, name in the lower; 0: free */
	atomic_ullong count, total_ns, longest_ns;
};

struct name {
	atomic_int state; /* release to NAME_READY; pairs with is_name() */
	char text[CALLBACKS_NAME];
};

static struct counter counters[COUNTERS];
static struct counter overflow; /* of all for which there was no place */
static struct name names[HOSTCALLS_NAMES];

/* Instances of which this thread knows the module: asking takes a lock. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
	uint32_t instance, loading;
} callers[CALLERS];

bool hostcalls_are_exact(void)
{
	const struct config *config = config_current();

	return config != NULL && config->exact_hostcalls;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text != '\0'; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

/* Does NAME hold TEXT? Makes it so where the place is free. */
static bool is_name(struct name *name, const char *text)
{
	int state = NAME_FREE;

	if (atomic_compare_exchange_strong_explicit(&name->state, &state, NAME_BEING_WRITTEN,
						    memory_order_acquire, memory_order_acquire)) {
		memcpy(name->text, text, CALLBACKS_NAME);
		atomic_store_explicit(&name->state, NAME_READY, memory_order_release);
		return true;
	}
	/* Being written, perhaps in the parent of a fork: a place further on is as good. */
	return state == NAME_READY && strcmp(name->text, text) == 0;
}

uint32_t hostcalls_name(const char *module, size_t module_size, const char *name, size_t name_size)
{
	char text[CALLBACKS_NAME];
	uint32_t hash;

	callbacks_join(text, module, module_size, name, name_size);
	hash = hash_text(text);
	for (uint32_t step = 0; step < WINDOW; step++) {
		uint32_t index = (hash + step) % HOSTCALLS_NAMES;

		if (index > HOSTCALLS_OTHER && is_name(&names[index], text))
			return index;
	}
	return HOSTCALLS_OTHER;
}

const char *hostcalls_text(uint32_t name)
{
	if (name == HOSTCALLS_NO_NAME)
		return "(host function)";
	if (name == HOSTCALLS_OTHER || name >= HOSTCALLS_NAMES ||
	    atomic_load_explicit(&names[name].state, memory_order_acquire) != NAME_READY)
		return "(other)";
	return names[name].text;
}

/* ---- counters -------------------------------------------------------------------------------- */

uint32_t hostcalls_caller(void)
{
	const struct thread *thread = sig_self;
	uint32_t depth = thread != NULL ? thread->depth : 0, instance;
	struct instance_info info;

	if (depth == 0 || depth > ENTRY_DEPTH)
		return 0;
	instance = thread->entries[depth - 1].instance;
	if (instance == 0)
		return 0;
	if (callers[instance % CALLERS].instance != instance) {
		/* Not kept while it is unknown: a start function runs before it is known. */
		if (!instance_get(instance, &info) || info.loading == 0)
			return 0;
		callers[instance % CALLERS].instance = instance;
		callers[instance % CALLERS].loading = info.loading;
	}
	return callers[instance % CALLERS].loading;
}

static struct counter *counter_of(uint32_t name, uint32_t loading)
{
	uint64_t key = ((uint64_t)loading + 1) << 32 | name;
	uint64_t hash = (key * 0x9e3779b97f4a7c15u) >> 32;

	for (uint32_t step = 0; step < WINDOW; step++) {
		struct counter *counter = &counters[(hash + step) % COUNTERS];
		unsigned long long found =
			atomic_load_explicit(&counter->key, memory_order_relaxed);

		if (found == 0 && atomic_compare_exchange_strong_explicit(&counter->key, &found,
									  key, memory_order_relaxed,
									  memory_order_relaxed))
			return counter;
		if (found == key)
			return counter;
	}
	return &overflow;
}

void hostcalls_count(uint32_t name, uint32_t loading, uint64_t start_ns)
{
	struct counter *counter = counter_of(name, loading);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	unsigned long long taken_ns = now_ns > start_ns ? now_ns - start_ns : 0;
	unsigned long long longest =
		atomic_load_explicit(&counter->longest_ns, memory_order_relaxed);

	atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counter->total_ns, taken_ns, memory_order_relaxed);
	while (taken_ns > longest &&
	       !atomic_compare_exchange_weak_explicit(&counter->longest_ns, &longest, taken_ns,
						      memory_order_relaxed, memory_order_relaxed))
		continue;
	spans_add(name, start_ns, taken_ns);
}

static void collect(struct counter *counter, uint32_t name, uint32_t loading,
		    void (*visit)(void *context, const struct hostcalls_sum *sum), void *context)
{
	struct hostcalls_sum sum = {
		.name = name,
		.loading = loading,
		.count = atomic_exchange_explicit(&counter->count, 0, memory_order_relaxed),
		.total_ns = atomic_exchange_explicit(&counter->total_ns, 0, memory_order_relaxed),
		.longest_ns =
			atomic_exchange_explicit(&counter->longest_ns, 0, memory_order_relaxed),
	};

	/* A call that is just being counted may be split over two looks: the sums are right. */
	if (sum.count != 0 || sum.total_ns != 0)
		visit(context, &sum);
}

void hostcalls_collect(void (*visit)(void *context, const struct hostcalls_sum *sum), void *context)
{
	for (struct counter *counter = counters; counter < counters + COUNTERS; counter++) {
		uint64_t key = atomic_load_explicit(&counter->key, memory_order_relaxed);

		if (key != 0)
			collect(counter, (uint32_t)key, (uint32_t)(key >> 32) - 1, visit, context);
	}
	collect(&overflow, HOSTCALLS_OTHER, 0, visit, context);
}

static void drop(void *context, const struct hostcalls_sum *sum)
{
	(void)context, (void)sum;
}

void hostcalls_forget(void)
{
	hostcalls_collect(drop, NULL);
	spans_collect(NULL, NULL);
}

void hostcalls_fork_child(void)
{
	hostcalls_collect(drop, NULL);
	spans_fork_child();
}
