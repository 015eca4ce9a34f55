/* SPDX-License-Identifier: MIT */
/*
 * exactcall.c - what the engine calls in place of a host function.
 *
 * Lifetime: an exact_call lives from the definition until the engine runs its finalizer, which is
 * when no store or linker can call it any more; continuations come from a pool. Nothing is kept on
 * the side during a call, so a trap, an exception or a longjmp that unwinds through it leaves
 * nothing behind.
 */
#include "preload/runtime/exactcall.h"

#include <stdlib.h>

#include "preload/base/clock.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"

/*
 * All callbacks of the C APIs take pointers and sizes only, at most nine, and return a pointer or
 * nothing. The caller's ABI lets us pass on more arguments than there are: three words of the stack
 * that belong to the caller's frame are read and not used.
 */
typedef uintptr_t callback_type(void *environment, uintptr_t a, uintptr_t b, uintptr_t c,
				uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h);

struct exact_call {
	void (*callback)(void);
	void *environment;
	void (*finalizer)(void *environment);
	atomic_uint name;
	enum exact_kind kind;
	atomic_bool is_being_defined;
	bool is_finalized; /* while it was being defined */
};

/* crates/c-api/include/wasmtime/async.h, 14 to 50 */
struct continuation {
	bool (*callback)(void *environment);
	void *environment;
	void (*finalizer)(void *environment);
};

enum { CONTINUATIONS = 1024 };

static struct pending {
	atomic_bool is_used;
	bool is_counted;
	uint32_t name, loading;
	uint64_t start_ns;
	struct continuation host;
} pool[CONTINUATIONS];

static atomic_uint pool_next; /* where to look first */

/* ---- continuations --------------------------------------------------------------------------- */

static void count_pending(struct pending *pending)
{
	if (!pending->is_counted)
		hostcalls_count(pending->name, pending->loading, pending->start_ns);
	pending->is_counted = true;
}

static bool on_continue(void *environment)
{
	struct pending *pending = environment;
	bool is_done = pending->host.callback(pending->host.environment);

	if (is_done)
		count_pending(pending);
	return is_done;
}

static void on_continuation_end(void *environment)
{
	struct pending *pending = environment;
	struct continuation host = pending->host;

	/* Given up before it was done: a call all the same. */
	count_pending(pending);
	/* release: pairs with take_pending() */
	atomic_store_explicit(&pending->is_used, false, memory_order_release);
	if (host.finalizer != NULL)
		host.finalizer(host.environment);
}

static struct pending *take_pending(void)
{
	uint32_t first = atomic_load_explicit(&pool_next, memory_order_relaxed);

	for (uint32_t i = 0; i < CONTINUATIONS; i++) {
		struct pending *pending = &pool[(first + i) % CONTINUATIONS];

		if (!atomic_load_explicit(&pending->is_used, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&pending->is_used, true, memory_order_acquire)) {
			atomic_store_explicit(&pool_next, first + i + 1, memory_order_relaxed);
			return pending;
		}
	}
	return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uintptr_t on_call(void *environment, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
			 uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h)
{
	const struct exact_call *call = environment;
	uint32_t name = atomic_load_explicit(&call->name, memory_order_relaxed);
	uint32_t loading = hostcalls_caller();
	struct activation outside = guest_call_out(name, (uintptr_t)__builtin_frame_address(0));
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	uintptr_t result =
		((callback_type *)call->callback)(call->environment, a, b, c, d, e, f, g, h);

	hostcalls_count(name, loading, start_ns);
	guest_leave(outside);
	return result;
}

/* Where the host left a continuation, the call is over when that is. */
static void go_on(const struct exact_call *call, struct continuation *continuation,
		  uint32_t loading, uint64_t start_ns)
{
	struct pending *pending = continuation->callback != NULL ? take_pending() : NULL;
	uint32_t name = atomic_load_explicit(&call->name, memory_order_relaxed);

	if (pending == NULL) {
		hostcalls_count(name, loading, start_ns);
		return;
	}
	pending->is_counted = false;
	pending->name = name;
	pending->loading = loading;
	pending->start_ns = start_ns;
	pending->host = *continuation;
	*continuation = (struct continuation){ on_continue, pending, on_continuation_end };
}

static uintptr_t on_async_call(void *environment, uintptr_t a, uintptr_t b, uintptr_t c,
			       uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h)
{
	const struct exact_call *call = environment;
	uint32_t loading = hostcalls_caller();
	struct activation outside =
		guest_call_out(atomic_load_explicit(&call->name, memory_order_relaxed),
			       (uintptr_t)__builtin_frame_address(0));
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	uintptr_t result =
		((callback_type *)call->callback)(call->environment, a, b, c, d, e, f, g, h);

	guest_leave(outside);
	go_on(call, (struct continuation *)(call->kind == EXACT_ASYNC ? g : h), loading, start_ns);
	return result;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void on_end(void *environment)
{
	struct exact_call *call = environment;

	if (call->finalizer != NULL)
		call->finalizer(call->environment);
	if (atomic_load_explicit(&call->is_being_defined, memory_order_relaxed))
		call->is_finalized = true;
	else
		free(call);
}

void exact_begin(struct exact_function *function, uint32_t name, enum exact_kind kind)
{
	struct exact_call *call = calloc(1, sizeof(*call));

	function->call = call;
	if (call == NULL)
		return;
	call->callback = function->callback;
	call->environment = function->environment;
	call->finalizer = function->finalizer;
	call->kind = kind;
	call->name = name;
	call->is_being_defined = true;
	function->callback = (void (*)(void))(kind == EXACT_PLAIN ? on_call : on_async_call);
	function->environment = call;
	function->finalizer = on_end;
}

void exact_end(const struct exact_function *function, bool is_defined)
{
	struct exact_call *call = function->call;

	if (call == NULL)
		return;
	atomic_store_explicit(&call->is_being_defined, false, memory_order_relaxed);
	if (!is_defined || call->is_finalized)
		free(call);
}

void exact_name(struct exact_call *call, uint32_t name)
{
	unsigned int before = HOSTCALLS_NO_NAME;

	if (!atomic_compare_exchange_strong_explicit(&call->name, &before, name,
						     memory_order_relaxed, memory_order_relaxed) &&
	    before != name)
		atomic_store_explicit(&call->name, HOSTCALLS_OTHER, memory_order_relaxed);
}
