/* SPDX-License-Identifier: MIT */
/*
 * codequeue.c - records in chunks under one lock, and the granules that were published.
 *
 * The handler searches a sorted array of ranges, which is copied at each change: tens of thousands
 * of functions cannot each have one there. So the memory around a function is published in granules
 * of 256 KiB, the size and alignment of V8's pages of code, and once.
 */
#include "preload/load/codequeue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/clock.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/publish.h"
#include "preload/load/registry.h"
#include "preload/sig/interpreted.h"

enum {
	GRANULE_LOG2 = 18,
	GRANULES_MAX = 8192, /* 2 GiB of code */
	GRANULE_SLOTS = 2 * GRANULES_MAX,
	CHUNK = 64 << 10,
	NAME_MAX_LENGTH = 1024,
	/* while nobody has run a guest, which may never be; and afterwards */
	ASLEEP_BYTES = 8 << 20,
	AWAKE_BYTES = 32 << 20,
	WAKE_BYTES = 1 << 20, /* that our thread should not let pile up */
};
#define GRANULE ((uintptr_t)1 << GRANULE_LOG2)

struct chunk {
	struct chunk *next;
	size_t used;
	_Alignas(8) uint8_t bytes[CHUNK];
};

static struct {
	pthread_mutex_t lock; /* guards all below; taken before the registry's */
	struct chunk *first, *last;
	size_t size;	     /* of all chunks' records */
	uintptr_t *granules; /* open addressing, number + 1; 0: free */
	size_t granule_count;
	struct code_engine engine;
	atomic_bool is_awake; /* a guest was seen */
	atomic_bool waits;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

void codequeue_engine(const char *engine, const char *version, const char *script_module)
{
	pthread_mutex_lock(&self.lock);
	if (self.engine.name == NULL) {
		self.engine.name = engine;
		self.engine.script_module = script_module;
		memcpy(self.engine.version, version,
		       strnlen(version, sizeof(self.engine.version) - 1));
	}
	pthread_mutex_unlock(&self.lock);
}

const struct code_engine *codequeue_told_by(void)
{
	return &self.engine;
}

bool codequeue_waits(void)
{
	return atomic_load_explicit(&self.waits, memory_order_relaxed);
}

/* ---- records --------------------------------------------------------------------------------- */

static void *room_for(size_t size)
{
	struct chunk *chunk = self.last;
	size_t limit = atomic_load_explicit(&self.is_awake, memory_order_relaxed) ? AWAKE_BYTES
										  : ASLEEP_BYTES;

	if (self.size + size > limit)
		return NULL;
	if (chunk == NULL || sizeof(chunk->bytes) - chunk->used < size) {
		chunk = malloc(sizeof(*chunk));
		if (chunk == NULL)
			return NULL;
		chunk->next = NULL;
		chunk->used = 0;
		if (self.last != NULL)
			self.last->next = chunk;
		else
			self.first = chunk;
		self.last = chunk;
	}
	self.size += size;
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

static size_t record_size(size_t name_length)
{
	return (sizeof(struct code_record) + name_length + 1 + 7) & ~(size_t)7;
}

static void append(const struct code_event *event, uint64_t born)
{
	size_t length = event->name_length < NAME_MAX_LENGTH ? event->name_length : NAME_MAX_LENGTH;
	struct code_record *record = room_for(record_size(length));
	char *name;

	if (record == NULL) {
		stat_count(STAT_CODE_DROPPED);
		return;
	}
	name = (char *)(record + 1);
	*record = (struct code_record){
		.event = *event,
		.time_ns = event->time_ns != 0 ? event->time_ns : clock_ns(CLOCK_MONOTONIC),
		.born = born,
	};
	record->event.name = name;
	record->event.name_length = length;
	if (event->shown_start > length)
		record->event.shown_start = length;
	if (event->shown_length > length - record->event.shown_start)
		record->event.shown_length = length - record->event.shown_start;
	if (length > 0)
		memcpy(name, event->name, length);
	name[length] = '\0';
	atomic_store_explicit(&self.waits, true, memory_order_relaxed);
}

static struct chunk *take_chunks(void)
{
	struct chunk *first;

	pthread_mutex_lock(&self.lock);
	first = self.first;
	self.first = self.last = NULL;
	self.size = 0;
	atomic_store_explicit(&self.waits, false, memory_order_relaxed);
	pthread_mutex_unlock(&self.lock);
	return first;
}

void codequeue_take(void (*visit)(void *context, const struct code_record *record), void *context)
{
	struct chunk *chunk = take_chunks(), *next;

	for (; chunk != NULL; chunk = next) {
		for (size_t at = 0; at < chunk->used;) {
			const struct code_record *record =
				(const struct code_record *)(const void *)(chunk->bytes + at);

			visit(context, record);
			at += record_size(record->event.name_length);
		}
		next = chunk->next;
		free(chunk);
	}
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Cuts [*START, *END) down to what is around AT and in no range that is there. */
static void cut_to_free(uintptr_t at, uintptr_t *start, uintptr_t *end)
{
	const struct ranges *ranges = ranges_current();

	for (size_t i = 0; ranges != NULL && i < ranges->count; i++) {
		const struct range *range = &ranges->range[i];

		if (range->end <= at && range->end > *start)
			*start = range->end;
		else if (range->start > at && range->start < *end)
			*end = range->start;
	}
}

/*
 * Publishes what of [*START, *END) around AT is nobody's yet, and says what that is. Returns its
 * number; 0: AT is in a range (*IS_KNOWN), or memory is short.
 */
static uint32_t publish_free(enum code_kind kind, uintptr_t at, uintptr_t *start, uintptr_t *end,
			     bool *is_known)
{
	struct code_event event = { .what = CODE_RANGE, .kind = kind };
	struct range range = { .has_frame_pointers = kind != CODE_JIT };
	uint64_t born = 0;

	registry_lock();
	*is_known = ranges_find(ranges_current(), at) != NULL;
	if (!*is_known) {
		cut_to_free(at, start, end);
		range.start = *start;
		range.end = *end;
		range.id = registry_new_id();
		born = publish_add(&range);
	}
	registry_unlock();
	if (born == 0)
		return 0;
	event.start = *start;
	event.to = *end;
	event.index = range.id;
	append(&event, born);
	return range.id;
}

/* The same of an engine's own. False: memory is short. */
static bool publish_around(uintptr_t at, uintptr_t start, uintptr_t end)
{
	bool is_known;

	return publish_free(CODE_SCRIPT, at, &start, &end, &is_known) != 0 || is_known;
}

/* The slot of granule NUMBER, or the free one where it belongs. */
static uintptr_t *granule_slot(uintptr_t number)
{
	uint64_t hash = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 40);

	while (self.granules[at % GRANULE_SLOTS] != 0 &&
	       self.granules[at % GRANULE_SLOTS] != number + 1)
		at++;
	return &self.granules[at % GRANULE_SLOTS];
}

static void cover(uintptr_t start, size_t size)
{
	uintptr_t number = start >> GRANULE_LOG2, last = (start + size - 1) >> GRANULE_LOG2;

	if (self.granules == NULL)
		self.granules = calloc(GRANULE_SLOTS, sizeof(*self.granules));
	if (self.granules == NULL || size == 0 || last < number || last - number > GRANULES_MAX)
		return;
	for (; number <= last; number++) {
		uintptr_t *slot = granule_slot(number), low = number << GRANULE_LOG2;

		if (*slot != 0 || self.granule_count >= GRANULES_MAX)
			continue;
		if (!publish_around(low > start ? low : start, low, low + GRANULE))
			continue;
		*slot = number + 1;
		self.granule_count++;
	}
}

void codequeue_range(uintptr_t start, uintptr_t end)
{
	if (start >= end)
		return;
	pthread_mutex_lock(&self.lock);
	publish_around(start, start, end);
	pthread_mutex_unlock(&self.lock);
}

uint32_t codequeue_jit_range(uintptr_t at, uintptr_t *start, uintptr_t *end)
{
	bool is_known;
	uint32_t id;

	pthread_mutex_lock(&self.lock);
	id = publish_free(CODE_JIT, at, start, end, &is_known);
	pthread_mutex_unlock(&self.lock);
	return id;
}

void codequeue_jit_range_gone(uint32_t id)
{
	struct code_event event = { .what = CODE_RANGE_GONE, .kind = CODE_JIT, .index = id };
	uint64_t died;

	pthread_mutex_lock(&self.lock);
	registry_lock();
	died = publish_remove(id);
	registry_unlock();
	/* Without memory the range stays. */
	if (died != 0)
		append(&event, died);
	pthread_mutex_unlock(&self.lock);
}

void codequeue_interpreter(uintptr_t start, uintptr_t end, uint32_t below_fp)
{
	pthread_mutex_lock(&self.lock);
	interpreted_add(start, end, below_fp);
	pthread_mutex_unlock(&self.lock);
}

/* ---- the host's threads ---------------------------------------------------------------------- */

void codequeue_tell(const struct code_event *event)
{
	bool is_first = event->what == CODE_ADDED &&
			(event->kind == CODE_WASM || event->kind == CODE_JIT) &&
			!atomic_load_explicit(&self.is_awake, memory_order_relaxed);
	size_t size;

	pthread_mutex_lock(&self.lock);
	if (is_first)
		is_first = !atomic_exchange(&self.is_awake, true);
	if (!event->is_covered && event->what == CODE_ADDED)
		cover(event->start, event->size);
	else if (!event->is_covered && event->what == CODE_MOVED)
		cover(event->to, event->size == 0 ? 1 : event->size);
	append(event, 0);
	size = self.size;
	pthread_mutex_unlock(&self.lock);
	if (is_first && state.on_first_guest != NULL)
		state.on_first_guest();
	if ((is_first || size > WAKE_BYTES) && state.wake != NULL &&
	    atomic_load_explicit(&self.is_awake, memory_order_relaxed))
		state.wake();
}

void codequeue_fork_prepare(void)
{
	pthread_mutex_lock(&self.lock);
}

void codequeue_fork_parent(void)
{
	pthread_mutex_unlock(&self.lock);
}

void codequeue_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
}
