/* SPDX-License-Identifier: MIT */
/*
 * jitspace.c - whose memory a function is in, and a range for it where it is nobody's.
 *
 * Ranges are of whole mappings: code of a JIT comes in thousands of pieces, and each publication
 * copies all ranges. /proc/self/maps is read once for many functions, and only when one of them is
 * in no range.
 */
#include "preload/load/jitspace.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/stats.h"
#include "preload/load/codequeue.h"
#include "preload/load/mapping.h"
#include "preload/load/registry.h"
#include "preload/sig/ranges.h"

enum { SPANS_MAX = 4096, MISSES_MAX = 2 };
#define CHECK_NS UINT64_C(1000000000) /* between looks whether our ranges are there yet */

struct span {
	uintptr_t start, end;
};

struct published {
	struct span span;
	uint32_t id;
	uint32_t misses; /* looks, one after another, that did not find it */
};

static struct {
	struct span *spans; /* executable mappings in no object, ascending; NULL: none read yet */
	size_t count;
	bool is_current;
	struct published *published; /* SPANS_MAX of them; NULL: none yet */
	size_t published_count;
	uint64_t now_ns, next_check_ns;
	uint64_t next_read_ns; /* after one in vain: whoever tells of nothing shall not cost much */
} self;

/* ---- mappings -------------------------------------------------------------------------------- */

static bool note_mapping(void *context, const struct mapping *mapping)
{
	Dl_info info;

	(void)context;
	/* "[vdso]", but "[anon:NAME]" is what the host calls memory of its own */
	if (mapping->rights[2] == 'x' &&
	    (mapping->path[0] != '[' || strncmp(mapping->path, "[anon", 5) == 0) &&
	    dladdr((const void *)mapping->start, &info) == 0)
		self.spans[self.count++] = (struct span){ mapping->start, mapping->end };
	return self.count < SPANS_MAX;
}

static void read_mappings(void)
{
	if (self.spans == NULL)
		self.spans = calloc(SPANS_MAX, sizeof(*self.spans));
	self.count = 0;
	self.is_current = true;
	if (self.spans != NULL)
		mapping_each(note_mapping, NULL);
}

static const struct span *span_at(uintptr_t address)
{
	size_t low = 0, high = self.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (self.spans[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self.count && self.spans[low].start <= address ? &self.spans[low] : NULL;
}

/* Makes the mapping around ADDRESS known. False when there is none of a JIT's. */
static bool publish(uintptr_t address)
{
	const struct span *around;
	struct published fresh;

	if (!self.is_current && self.now_ns >= self.next_read_ns)
		read_mappings();
	around = span_at(address);
	if (around == NULL) {
		self.next_read_ns = self.now_ns + CHECK_NS;
		return false;
	}
	if (self.published == NULL)
		self.published = calloc(SPANS_MAX, sizeof(*self.published));
	if (self.published == NULL || self.published_count == SPANS_MAX) {
		stat_count(STAT_CODE_DROPPED);
		return false;
	}
	fresh = (struct published){ .span = *around };
	fresh.id = codequeue_jit_range(address, &fresh.span.start, &fresh.span.end);
	if (fresh.id != 0)
		self.published[self.published_count++] = fresh;
	return fresh.id != 0;
}

/*
 * Ends ranges of mappings that are gone: what comes to be there may be the host's own code. Once is
 * not enough, for JITs take the right to execute away while they write.
 */
static void end_vanished(void)
{
	size_t kept = 0;

	read_mappings();
	for (size_t i = 0; i < self.published_count; i++) {
		struct published *published = &self.published[i];
		const struct span *around = span_at(published->span.start);
		bool is_there = around != NULL && around->end >= published->span.end;

		published->misses = is_there ? 0 : published->misses + 1;
		if (published->misses < MISSES_MAX)
			self.published[kept++] = *published;
		else
			codequeue_jit_range_gone(published->id);
	}
	self.published_count = kept;
}

void jitspace_look_again(uint64_t now_ns)
{
	self.is_current = false;
	self.now_ns = now_ns;
	if (self.published_count == 0 || now_ns < self.next_check_ns)
		return;
	self.next_check_ns = now_ns + CHECK_NS;
	end_vanished();
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Whether code in the range with ID may be named from here. */
static bool is_open(uint32_t id)
{
	const struct loading *loading;
	bool is_there, is_bare = false;

	registry_lock();
	loading = registry_by_id(id);
	is_there = loading != NULL;
	if (is_there)
		is_bare = loading->layout.is_bare && loading->engine == NULL;
	registry_unlock();
	/* in no loading: a range of ours, or one of the engine that tells of its code */
	return is_there ? is_bare : codequeue_told_by()->name == NULL;
}

/* The range that holds ADDRESS, made if it may be; NULL. */
static const struct range *range_at(uintptr_t address)
{
	const struct range *range = ranges_find(ranges_current(), address);

	if (range == NULL && codequeue_told_by()->name == NULL && publish(address))
		range = ranges_find(ranges_current(), address);
	return range != NULL && is_open(range->id) ? range : NULL;
}

bool jitspace_add(const struct jit_function *function)
{
	const struct range *range = range_at(function->start);

	if (range == NULL)
		return false;
	codequeue_tell(&(struct code_event){
		.what = CODE_ADDED,
		.kind = CODE_JIT,
		.is_covered = true,
		.owner = jitspace_owner(range->id),
		.index = UINT32_MAX,
		.start = function->start,
		.size = function->size,
		.time_ns = function->time_ns,
		.name = function->name,
		.name_length = function->name_length,
		.shown_length = function->name_length,
	});
	return true;
}

void jitspace_move(uintptr_t start, uintptr_t to, size_t size)
{
	/* of an engine's own code nobody else may say that */
	if (codequeue_told_by()->name != NULL || range_at(to) == NULL)
		return;
	codequeue_tell(&(struct code_event){
		.what = CODE_MOVED,
		.kind = CODE_JIT,
		.is_covered = true,
		.start = start,
		.to = to,
		.size = size,
	});
}
