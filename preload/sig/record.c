/* SPDX-License-Identifier: MIT */
/* record.c - from a tick to bytes in the ring. */
#include "preload/sig/record.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "preload/base/stats.h"
#include "preload/sig/cpu.h"
#include "preload/sig/handler.h"
#include "preload/sig/ring.h"

SIGNAL_SAFE static void wake_our_thread(void)
{
	if (handler_setup.wake_word == NULL)
		return;
	/* release: pairs with our thread, which reads the word before it sleeps on it */
	atomic_fetch_add_explicit(handler_setup.wake_word, 1, memory_order_release);
	cpu_syscall(SYS_futex, (long)handler_setup.wake_word, FUTEX_WAKE_PRIVATE, 1, 0);
}

/* The thread's ring; at its first sample one of the pool's, for which our thread is woken. */
SIGNAL_SAFE static struct ring *ring_of(struct thread *thread)
{
	struct ring *ring = atomic_load_explicit(&thread->ring, memory_order_relaxed);

	for (int i = 0; ring == NULL && i < handler_setup.ring_pool_size; i++) {
		if (atomic_load_explicit(&handler_setup.ring_pool[i], memory_order_relaxed) == NULL)
			continue;
		/* acquire: pairs with the pool's release of a ring that it made ready */
		ring = atomic_exchange_explicit(&handler_setup.ring_pool[i], NULL,
						memory_order_acquire);
		if (ring == NULL)
			continue;
		/* release: pairs with sampler_each_ring() */
		atomic_store_explicit(&thread->ring, ring, memory_order_release);
		wake_our_thread();
	}
	return ring;
}

SIGNAL_SAFE static struct sample *reserve(struct tick *tick, size_t size)
{
	struct ring *ring;
	struct sample *sample;

	if (tick->buffer != NULL)
		return tick->buffer;
	ring = ring_of(tick->thread);
	if (ring == NULL) {
		stat_count(STAT_LOST_NO_RING);
		wake_our_thread();
		return NULL;
	}
	sample = ring_reserve(ring, size);
	if (sample == NULL) {
		stat_count(STAT_LOST_RING_FULL);
		wake_our_thread();
	}
	return sample;
}

SIGNAL_SAFE struct sample *record_open(struct tick *tick, enum sample_kind kind, size_t slice_size)
{
	bool has_registers = kind == SAMPLE_HOST || slice_size != 0;
	size_t words = SAMPLE_MAX_PCS + (has_registers ? SAMPLE_REGISTERS : 0);
	struct sample *sample =
		reserve(tick, sizeof(*sample) + words * sizeof(uint64_t) + slice_size);

	if (sample == NULL)
		return NULL;
	sample->kind = (uint16_t)kind;
	sample->time_ns = tick_clock_ns();
	sample->generation = tick->ranges != NULL ? tick->ranges->generation : 0;
	sample->instance = tick->entry != NULL ? tick->entry->instance : 0;
	sample->weight = tick->weight;
	sample->pc_count = 0;
	sample->slice_size = 0;
	sample->slice_address = 0;
	return sample;
}

SIGNAL_SAFE static void add_slice(struct sample *sample, uintptr_t address, size_t slice_size)
{
	uint64_t *slice = sample->words + sample->pc_count + SAMPLE_REGISTERS;

	cpu_copy_words(slice, address, slice_size / sizeof(*slice));
	sample->slice_size = (uint32_t)slice_size;
	sample->slice_address = address;
}

SIGNAL_SAFE void record_add_slice(struct tick *tick, struct sample *sample, size_t slice_size)
{
	cpu_registers(tick->context, sample->words + sample->pc_count);
	add_slice(sample, tick->sp, slice_size);
}

SIGNAL_SAFE void record_add_caller(struct sample *sample, uintptr_t pc, uintptr_t fp,
				   uintptr_t address, size_t slice_size)
{
	cpu_caller_registers(pc, fp, address, sample->words + sample->pc_count);
	add_slice(sample, address, slice_size);
}

SIGNAL_SAFE void record_add_resumer(struct tick *tick, struct sample *sample, uintptr_t address,
				    size_t size)
{
	uint64_t *head = sample->words + sample->pc_count + SAMPLE_REGISTERS +
			 sample->slice_size / sizeof(*head);

	head[0] = address;
	head[1] = size;
	cpu_copy_words(head + 2, address, size / sizeof(*head));
	tick->flags |= SAMPLE_RESUMER;
}

SIGNAL_SAFE void record_close(struct tick *tick, struct sample *sample)
{
	sample->flags = tick->flags;
	sample->size = (uint32_t)(sample_behind_slices(sample) - (const uint8_t *)sample);
	if (sample_anchor(sample) != NULL)
		sample->size += (uint32_t)sample_anchor_size(sample_anchor(sample));
	if (tick->buffer != NULL)
		return;
	stat_count(STAT_SAMPLES);
	if (ring_commit(atomic_load_explicit(&tick->thread->ring, memory_order_relaxed), sample) ||
	    tick->wakes)
		wake_our_thread();
}
