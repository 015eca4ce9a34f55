/* SPDX-License-Identifier: MIT */
/*
 * gdb_jit.c - the lists are walked for a while after each registration of frames.
 *
 * Nothing can be interposed: JITs call __jit_debug_register_code within their own object. The host
 * changes the list while we walk it, so every word comes by a guarded read, and what contradicts
 * itself ends the walk. New entries come first (LLVM), so those are always read: an entry at an
 * address where we have seen one may be another.
 */
#include "preload/runtime/gdb_jit.h"

#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/hook/hook.h"
#include "preload/load/jitspace.h"
#include "preload/runtime/register_frame.h"
#include "symtab/jitelf.h"

enum {
	LISTS = 4,	       /* objects with a list of their own */
	ENTRIES_MAX = 1024,    /* of a list that are looked at */
	ALWAYS_READ = 4,       /* at its beginning */
	LOOKS = 12,	       /* after a registration */
	FILE_MAX = 16 << 20,   /* one object file */
	TURN_BYTES = 64 << 20, /* of one walk */
	VERSION = 1,
};
#define MILLISECOND_NS UINT64_C(1000000)

/* struct jit_descriptor and struct jit_code_entry, as the manual has them */
struct descriptor {
	uint32_t version, action;
	uintptr_t relevant, first;
};

struct entry {
	uintptr_t next, previous, file;
	uint64_t size;
};

struct seen {
	uintptr_t entry, file;
	uint64_t size;
};

struct list {
	uintptr_t descriptor; /* its address; 0: a free place */
	size_t seen_count;
	struct seen *seen; /* at the last walk */
};

static struct {
	uint32_t registrations; /* seen so far */
	struct list lists[LISTS];
	int looks_left;
	uint64_t next_ns, interval_ns;
} self;

/* ---- one object file ------------------------------------------------------------------------- */

static void tell(void *context, const struct jitelf_function *function)
{
	(void)context;
	jitspace_add(&(struct jit_function){
		.start = function->start,
		.size = function->size,
		.name = function->name,
		.name_length = function->name_length,
	});
}

/* Returns how much was read. */
static size_t read_file(const struct entry *entry)
{
	uint8_t *bytes;

	if (entry->size == 0 || entry->size > FILE_MAX)
		return 0;
	bytes = malloc(entry->size);
	if (bytes != NULL && guarded_read(entry->file, bytes, entry->size) == 0)
		jitelf_functions(bytes, entry->size, tell, NULL);
	free(bytes);
	return entry->size;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool was_seen(const struct list *list, const struct seen *entry)
{
	for (size_t i = 0; i < list->seen_count; i++)
		if (memcmp(&list->seen[i], entry, sizeof(*entry)) == 0)
			return true;
	return false;
}

static void walk(struct list *list)
{
	struct seen *seen = calloc(ENTRIES_MAX, sizeof(*seen));
	struct descriptor descriptor;
	size_t count = 0, bytes = 0;
	struct entry entry;
	uintptr_t at;

	if (seen == NULL || guarded_read(list->descriptor, &descriptor, sizeof(descriptor)) != 0 ||
	    descriptor.version != VERSION) {
		free(seen);
		return;
	}
	for (at = descriptor.first; at != 0 && count < ENTRIES_MAX && bytes < TURN_BYTES;
	     at = entry.next) {
		if (guarded_read(at, &entry, sizeof(entry)) != 0)
			break;
		seen[count] = (struct seen){ at, entry.file, entry.size };
		if (count < ALWAYS_READ || !was_seen(list, &seen[count]))
			bytes += read_file(&entry);
		count++;
	}
	free(list->seen);
	list->seen = seen;
	list->seen_count = count;
}

/*
 * The list of the object that holds CALLER. Asking for data takes the loader's lock, which a host
 * may hold for long: only where there is the function that goes with it.
 */
static void find_list(const void *caller)
{
	uintptr_t found;

	if (hook_sibling(caller, "__jit_debug_register_code") == NULL)
		return;
	found = (uintptr_t)hook_symbol_near(caller, "__jit_debug_descriptor");
	for (size_t i = 0; found != 0 && i < LISTS; i++) {
		if (self.lists[i].descriptor == found)
			return;
		if (self.lists[i].descriptor != 0)
			continue;
		self.lists[i].descriptor = found;
		log_line(LOG_DEBUG, "a list for debuggers at %#lx", (unsigned long)found);
		return;
	}
}

void runtime_gdb_jit_work(uint64_t now_ns)
{
	const void *caller;

	if (runtime_registered_anew(&self.registrations, &caller)) {
		find_list(caller);
		self.looks_left = self.lists[0].descriptor != 0 ? LOOKS : 0;
		self.interval_ns = MILLISECOND_NS;
		self.next_ns = now_ns;
	}
	if (self.looks_left == 0 || now_ns < self.next_ns)
		return;
	self.looks_left--;
	self.next_ns = now_ns + self.interval_ns;
	self.interval_ns *= 2;
	for (size_t i = 0; i < LISTS && self.lists[i].descriptor != 0; i++)
		walk(&self.lists[i]);
}

uint64_t runtime_gdb_jit_next_ns(void)
{
	return self.looks_left != 0 ? self.next_ns : UINT64_MAX;
}
