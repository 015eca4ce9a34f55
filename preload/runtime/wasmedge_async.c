/* SPDX-License-Identifier: MIT */
/* wasmedge_async.c - what a call hands to the thread that goes on with it. */
#include "preload/runtime/wasmedge_async.h"

#include <stdlib.h>
#include <string.h>

#include "preload/hook/hook.h"
#include "preload/load/load.h"

struct carried {
	struct inheritance is; /* first */
	uint32_t id;
	bool has_call;
	struct runtime_wasmedge call;	/* its bytes and path are ours */
	struct runtime_wasmedge *maker; /* on the stack of a thread that waits for this one */
};

static void drop(struct carried *carried)
{
	load_bytes_free(carried->call.bytes);
	free((char *)carried->call.path);
	free(carried);
}

/* The module that MAKER's thread has made: where it is not code, it is interpreted. */
static void know_module(struct runtime_wasmedge *maker)
{
	if (maker->loading == 0)
		runtime_wasmedge_interpreted(maker, maker);
	load_release();
	runtime_wasmedge_instance(maker->store, maker->loading);
}

static struct activation enter(const struct carried *carried, void *frame)
{
	struct activation activation = { 0 };

	if (!hook_begin())
		return activation;
	if (carried->maker != NULL)
		know_module(carried->maker);
	activation = guest_enter(carried->id, (uintptr_t)frame, 0, NULL, 0);
	hook_end();
	return activation;
}

static void *run(struct inheritance *self, void *(*function)(void *), void *argument)
{
	struct carried *carried = (struct carried *)self;
	bool has_begun =
		carried->has_call && runtime_wasmedge_begin(&carried->call, carried->call.real);
	struct activation activation = enter(carried, __builtin_frame_address(0));
	void *result = function(argument);

	guest_leave(activation);
	if (has_begun)
		runtime_wasmedge_end(&carried->call);
	drop(carried);
	return result;
}

static struct carried *carry(uint32_t id)
{
	struct carried *carried = calloc(1, sizeof(*carried));

	if (carried == NULL)
		return NULL;
	carried->is.run = run;
	carried->id = id;
	wasmedge_async_end();
	state_inheritance = &carried->is;
	return carried;
}

void wasmedge_async_begin(uint32_t id)
{
	if (id == 0 || !hook_begin())
		return;
	carry(id);
	hook_end();
}

void wasmedge_async_make(struct wasmedge_making *making)
{
	struct carried *carried;

	if (making->id == 0 || !hook_begin())
		return;
	/* another thread makes code of them, and the host may give them back behind this call */
	load_bytes_end(making->call.bytes);
	carried = carry(making->id);
	if (carried != NULL) {
		carried->has_call = true;
		carried->call = making->call;
		carried->call.bytes = load_bytes_copy(making->call.bytes);
		carried->call.path = making->call.path != NULL ? strdup(making->call.path) : NULL;
	}
	hook_end();
}

void wasmedge_async_follow(struct wasmedge_making *making)
{
	struct carried *carried;

	if (making->id == 0 || !hook_begin())
		return;
	carried = carry(making->id);
	if (carried != NULL)
		carried->maker = &making->call;
	hook_end();
}

void wasmedge_async_end(void)
{
	struct inheritance *left = state_inheritance;

	state_inheritance = NULL;
	/* nobody else makes any */
	if (left != NULL)
		drop((struct carried *)left);
}
