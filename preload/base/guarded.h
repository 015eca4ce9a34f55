/* SPDX-License-Identifier: MIT */
/*
 * guarded.h - reading memory of our own process that may not be there.
 *
 * process_vm_readv on ourselves: no fault, whatever the address. Not for the handler (sig/probe.h).
 */
#ifndef PRELOAD_BASE_GUARDED_H
#define PRELOAD_BASE_GUARDED_H

#include "symtab/memory.h"

/* Copies SIZE bytes; 0 or -EFAULT. Keeps errno. Falls back to page probes where the call is
 * refused. */
int guarded_read(uintptr_t address, void *out, size_t size);

/* The same as a struct memory. */
extern const struct memory guarded_memory;

#endif /* PRELOAD_BASE_GUARDED_H */
