/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_async.h - calls that go on in a thread which the engine makes for them.
 *
 * Each makes its own, detached, with std::thread (include/common/async.h, 0.14.1), and has
 * nothing to do with the host's thread behind that.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_ASYNC_H
#define PRELOAD_RUNTIME_WASMEDGE_ASYNC_H

#include "preload/runtime/wasmedge_making.h"

/*
 * The thread that this one makes next is in a guest from its first moment to its last: in instance
 * ID, whose module is known. 0: nothing is carried over.
 */
void wasmedge_async_begin(uint32_t id);

/* The same, and what MAKING is about, which was not entered here, is made in that thread. */
void wasmedge_async_make(struct wasmedge_making *making);

/* The same for what MAKING makes here before; this thread stays in its call until that one ends. */
void wasmedge_async_follow(struct wasmedge_making *making);

/* Nothing was made, or it has taken all. */
void wasmedge_async_end(void);

#endif /* PRELOAD_RUNTIME_WASMEDGE_ASYNC_H */
