/* SPDX-License-Identifier: MIT */
/*
 * bytes.c - the hand-over of wasm bytes.
 *
 *   WAITING --our thread--> READING --> DONE
 *      \---host's load call ends first--> DONE (nothing read, or a copy of a middling one)
 *
 * READING takes no lock and waits for nothing, so a host thread that waits for it to end is safe
 * whatever locks the host holds (a load under the dynamic loader's lock, say).
 */
#include "preload/load/bytes.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/load/binfile.h"
#include "preload/load/cache.h"
#include "preload/load/frames.h"
#include "preload/load/load.h"
#include "preload/load/parse.h"
#include "symtab/wasmbin.h"

enum {
	COPY_AT_ONCE = 64 * 1024, /* some 10 us on the host's thread */
	COPY_WHEN_LATE =
		1024 * 1024, /* our thread did not come to it: still cheaper than no names */
	COPY_ALWAYS = 64 << 20,
};

enum bytes_state { BYTES_WAITING, BYTES_READING, BYTES_DONE };

struct load_bytes {
	struct load_bytes *next; /* in the queue */
	atomic_int state;
	const uint8_t *wasm; /* the host's; not touched once DONE */
	size_t size;
	uint8_t *copy;	      /* ours */
	struct binfile *file; /* in which they are; NULL: none */
	struct wasmbin *parsed;
	bool is_new; /* not in the cache yet */
};

static struct {
	pthread_mutex_t lock; /* guards queue */
	struct load_bytes *queue;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_wasm(const uint8_t *wasm, size_t size)
{
	return wasm != NULL && size >= 8 && memcmp(wasm, "\0asm", 4) == 0;
}

static void take_copy(struct load_bytes *bytes)
{
	bytes->copy = malloc(bytes->size);
	if (bytes->copy != NULL)
		memcpy(bytes->copy, bytes->wasm, bytes->size);
	atomic_store_explicit(&bytes->state, BYTES_DONE, memory_order_release);
}

/* Begins the hold. */
static struct load_bytes *begin(const uint8_t *wasm, size_t size)
{
	struct load_bytes *bytes = is_wasm(wasm, size) ? calloc(1, sizeof(*bytes)) : NULL;

	if (bytes == NULL)
		return NULL;
	bytes->wasm = wasm;
	bytes->size = size;
	frames_hold();
	return bytes;
}

struct load_bytes *load_bytes_begin(const uint8_t *wasm, size_t size)
{
	struct load_bytes *bytes = begin(wasm, size);

	if (bytes == NULL)
		return NULL;
	if (size <= COPY_AT_ONCE) {
		take_copy(bytes);
		return bytes;
	}
	pthread_mutex_lock(&self.lock);
	bytes->next = self.queue;
	self.queue = bytes;
	pthread_mutex_unlock(&self.lock);
	if (state.on_watch != NULL)
		state.on_watch();
	if (state.wake != NULL)
		state.wake();
	return bytes;
}

struct load_bytes *load_bytes_in_file(const char *path, uint64_t offset, size_t size)
{
	struct load_bytes *bytes = calloc(1, sizeof(*bytes));

	if (bytes == NULL)
		return NULL;
	atomic_init(&bytes->state, BYTES_DONE);
	bytes->file = binfile_new(path, offset, size);
	if (bytes->file == NULL) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

struct load_bytes *load_bytes_copy(const struct load_bytes *bytes)
{
	struct load_bytes *copy = bytes != NULL ? calloc(1, sizeof(*copy)) : NULL;

	if (copy == NULL)
		return NULL;
	atomic_init(&copy->state, BYTES_DONE);
	copy->size = bytes->size;
	copy->file = binfile_ref(bytes->file);
	copy->parsed = bytes->parsed != NULL ? wasmbin_ref(bytes->parsed) : NULL;
	copy->is_new = bytes->is_new;
	if (bytes->copy != NULL)
		copy->copy = malloc(bytes->size);
	if (copy->copy != NULL)
		memcpy(copy->copy, bytes->copy, bytes->size);
	return copy;
}

struct load_bytes *load_bytes_taken(const uint8_t *wasm, size_t size)
{
	struct load_bytes *bytes = size <= COPY_ALWAYS ? begin(wasm, size) : NULL;

	if (bytes != NULL)
		take_copy(bytes);
	return bytes;
}

static void unqueue(struct load_bytes *bytes)
{
	struct load_bytes **link = &self.queue;

	pthread_mutex_lock(&self.lock);
	while (*link != NULL && *link != bytes)
		link = &(*link)->next;
	if (*link != NULL)
		*link = bytes->next;
	pthread_mutex_unlock(&self.lock);
}

void load_bytes_end(struct load_bytes *bytes)
{
	int expected = BYTES_WAITING;

	if (bytes == NULL)
		return;
	if (atomic_compare_exchange_strong(&bytes->state, &expected, BYTES_READING)) {
		/* Our thread did not come to it. */
		unqueue(bytes);
		if (bytes->size <= COPY_WHEN_LATE)
			take_copy(bytes);
		else
			atomic_store_explicit(&bytes->state, BYTES_DONE, memory_order_release);
	}
	/* acquire: pairs with read_one() */
	while (atomic_load_explicit(&bytes->state, memory_order_acquire) != BYTES_DONE)
		sched_yield();
	bytes->wasm = NULL;
}

void load_bytes_free(struct load_bytes *bytes)
{
	if (bytes == NULL)
		return;
	frames_release();
	binfile_unref(bytes->file);
	wasmbin_unref(bytes->parsed);
	free(bytes->copy);
	free(bytes);
}

static struct load_bytes *next_waiting(void)
{
	struct load_bytes *bytes;
	int expected = BYTES_WAITING;

	pthread_mutex_lock(&self.lock);
	/* The claim is made under the lock: a host thread that comes first has unqueued or will
	 * spin. */
	while ((bytes = self.queue) != NULL) {
		self.queue = bytes->next;
		expected = BYTES_WAITING;
		if (atomic_compare_exchange_strong(&bytes->state, &expected, BYTES_READING))
			break;
	}
	pthread_mutex_unlock(&self.lock);
	return bytes;
}

bool bytes_work(void)
{
	struct load_bytes *bytes = next_waiting();

	if (bytes == NULL)
		return false;
	bytes->parsed = parse_wasm(bytes->wasm, bytes->size, &bytes->is_new);
	/* release: pairs with load_bytes_end(); the object may be gone right after */
	atomic_store_explicit(&bytes->state, BYTES_DONE, memory_order_release);
	return true;
}

bool bytes_are_read(const struct load_bytes *bytes)
{
	return bytes != NULL && bytes->parsed != NULL;
}

struct wasmbin *bytes_parsed(struct load_bytes *bytes)
{
	if (bytes->parsed == NULL && bytes->copy != NULL)
		bytes->parsed = parse_wasm(bytes->copy, bytes->size, &bytes->is_new);
	free(bytes->copy);
	bytes->copy = NULL;
	if (bytes->parsed == NULL && bytes->file != NULL)
		bytes->parsed = binfile_parse(bytes->file);
	if (bytes->parsed == NULL) {
		log_line(LOG_INFO, "wasm bytes (%zu) could not be read: names from the image only",
			 bytes->size);
		return NULL;
	}
	/* not earlier: the host may have waited for the reading, and shall not for the writing */
	if (bytes->is_new)
		cache_keep(bytes->parsed);
	bytes->is_new = false;
	return wasmbin_ref(bytes->parsed);
}

void bytes_fork_prepare(void)
{
	pthread_mutex_lock(&self.lock);
}

void bytes_fork_parent(void)
{
	pthread_mutex_unlock(&self.lock);
}

void bytes_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
	self.queue =
		NULL; /* load calls under way on the parent's other threads do not exist here */
}
