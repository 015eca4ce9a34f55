/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - our thread's own descriptor table. Threads: ours.
 *
 * What it opens is invisible to a host that closes or reuses descriptors, and so is what the host
 * opens to it.
 */
#ifndef PRELOAD_DESCRIPTORS_H
#define PRELOAD_DESCRIPTORS_H

#include "symtab/base.h"

/*
 * From now on the calling thread has a table of its own, in which only the standard streams are
 * taken, by what nothing can be written to. False with errno set where the system refuses: then it
 * is still the host's.
 */
bool descriptors_own(void);

/* Empties it: whoever runs on this thread from now on finds no file of ours by its number. */
void descriptors_close(void);

#endif /* PRELOAD_DESCRIPTORS_H */
