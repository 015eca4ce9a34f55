/* SPDX-License-Identifier: MIT */
/*
 * whereabouts.h - which megabytes of the address space hold a loading, asked without a lock.
 *
 * For hosts that register each function by itself, hundreds of thousands of them, of which
 * hardly any is known here: nobody shall walk the registry for the others.
 */
#ifndef PRELOAD_LOAD_WHEREABOUTS_H
#define PRELOAD_LOAD_WHEREABOUTS_H

#include "symtab/base.h"

/* A loading of SIZE bytes at BASE comes into the registry, and leaves it. Under its lock. */
void whereabouts_add(uintptr_t base, size_t size);
void whereabouts_remove(uintptr_t base, size_t size);

/*
 * False: no loading that was added before holds ADDRESS. True is no promise. Any thread; whoever
 * asks about a loading comes after its whereabouts_add() by the host's own order.
 */
bool whereabouts_may_hold(uintptr_t address);

#endif /* PRELOAD_LOAD_WHEREABOUTS_H */
