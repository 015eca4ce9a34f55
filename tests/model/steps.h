/* SPDX-License-Identifier: MIT */
/*
 * steps.h - included in front of the code under test: its atomic operations, locks and frees become
 * steps that explore.h puts in every order.
 *
 * What only counts (base/stats.h) is no part of a protocol and stays as it is, which is why it is
 * included first. Only for gcc.
 */
#ifndef TESTS_MODEL_STEPS_H
#define TESTS_MODEL_STEPS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "tests/model/explore.h"

#define MODEL_AT(place, what, kind) explore_step((place), what " " #place, kind, __FILE__, __LINE__)

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit

#define atomic_load(p) (MODEL_AT(p, "load", EXPLORE_READ), __atomic_load_n((p), __ATOMIC_SEQ_CST))
#define atomic_load_explicit(p, order) atomic_load(p)
#define atomic_store(p, v) \
	(MODEL_AT(p, "store", EXPLORE_WRITE), __atomic_store_n((p), (v), __ATOMIC_SEQ_CST))
#define atomic_store_explicit(p, v, order) atomic_store(p, v)
#define atomic_exchange(p, v) \
	(MODEL_AT(p, "exchange", EXPLORE_WRITE), __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define atomic_exchange_explicit(p, v, order) atomic_exchange(p, v)
#define atomic_fetch_add(p, v) \
	(MODEL_AT(p, "add to", EXPLORE_WRITE), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define atomic_fetch_add_explicit(p, v, order) atomic_fetch_add(p, v)
#define atomic_fetch_sub(p, v) \
	(MODEL_AT(p, "take from", EXPLORE_WRITE), __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST))
#define atomic_fetch_sub_explicit(p, v, order) atomic_fetch_sub(p, v)
#define atomic_compare_exchange_strong(p, e, v)              \
	(MODEL_AT(p, "compare and exchange", EXPLORE_WRITE), \
	 __atomic_compare_exchange_n((p), (e), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_strong_explicit(p, e, v, yes, no) \
	atomic_compare_exchange_strong(p, e, v)

/* Counted users of a loading: `users++` on an _Atomic is no macro; it is only done under a lock. */
#define pthread_mutex_lock(lock) MODEL_AT(lock, "lock", EXPLORE_LOCK)
#define pthread_mutex_unlock(lock) MODEL_AT(lock, "unlock", EXPLORE_UNLOCK)
#define sched_yield() explore_step(NULL, "wait for a change", EXPLORE_WAIT, __FILE__, __LINE__)
#define free(block) explore_free((block), __FILE__, __LINE__)

#endif /* TESTS_MODEL_STEPS_H */
