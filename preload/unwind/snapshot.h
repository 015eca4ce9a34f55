/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the loader's list of objects, copied.
 *
 * The loader holds its lock while it calls back, and a host thread may wait for it in dlopen: the
 * callback copies numbers and names into memory that is there already, and nothing else.
 */
#ifndef PRELOAD_UNWIND_SNAPSHOT_H
#define PRELOAD_UNWIND_SNAPSHOT_H

#include "preload/unwind/object.h"
#include "symtab/base.h"

struct snapshot_entry {
	struct object_place place;
	size_t name; /* offset in names */
};

struct snapshot {
	unsigned long long added, removed; /* the loader's counters */
	struct snapshot_entry *entries;	   /* sorted by place.low */
	size_t count, capacity;
	char *names;
	size_t names_size, names_capacity;
};

/* 1: SNAPSHOT was renewed; 0: the loader's counters stand as in it; -ENOMEM. */
int snapshot_take(struct snapshot *snapshot);

/* How many objects were ever removed, now. */
unsigned long long snapshot_removed(void);

#endif /* PRELOAD_UNWIND_SNAPSHOT_H */
