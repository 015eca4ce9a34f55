/* SPDX-License-Identifier: MIT */
/*
 * jit.h - a page of real machine code that behaves like a guest, for tests under a live clock.
 *
 *	outer(n): n times inner(), which calls leaf() twice. leaf does nothing but make and drop its
 *frame, so that most ticks land on push, mov, pop and ret. spin(rbp, flag): keeps RBP as its frame
 *pointer until *FLAG is set.
 */
#ifndef TESTS_UNIT_SIG_JIT_H
#define TESTS_UNIT_SIG_JIT_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/sig/ranges.h"
#include "preload/sig/sample.h"

enum { JIT_SIZE = 4096, JIT_OUTER = 0x100, JIT_INNER = 0x200, JIT_LEAF = 0x300, JIT_SPIN = 0x400 };

struct jit {
	uint8_t *page;
	struct ranges *ranges;
	uintptr_t outer_return, inner_return[2];
	void (*outer)(uint32_t times);
	void (*spin)(uintptr_t frame_pointer, const volatile int *flag);
};

static inline uint8_t *jit_put(uint8_t *at, const void *code, size_t size)
{
	memcpy(at, code, size);
	return at + size;
}

static inline uint8_t *jit_put_call(uint8_t *at, const uint8_t *target)
{
	int32_t distance = (int32_t)(target - (at + 5));

	*at = 0xe8;
	memcpy(at + 1, &distance, sizeof(distance));
	return at + 5;
}

static inline void jit_write(struct jit *jit)
{
	uint8_t *at;

	/* push rbp; mov rbp, rsp; push rbx; push r12; mov ebx, edi */
	at = jit_put(jit->page + JIT_OUTER, "\x55\x48\x89\xe5\x53\x41\x54\x89\xfb", 9);
	at = jit_put_call(at, jit->page + JIT_INNER);
	jit->outer_return = (uintptr_t)at;
	/* dec ebx; jnz to the call; pop r12; pop rbx; pop rbp; ret */
	jit_put(at, "\xff\xcb\x75\xf7\x41\x5c\x5b\x5d\xc3", 9);

	at = jit_put(jit->page + JIT_INNER, "\x55\x48\x89\xe5", 4);
	at = jit_put_call(at, jit->page + JIT_LEAF);
	jit->inner_return[0] = (uintptr_t)at;
	at = jit_put_call(at, jit->page + JIT_LEAF);
	jit->inner_return[1] = (uintptr_t)at;
	jit_put(at, "\x5d\xc3", 2);

	jit_put(jit->page + JIT_LEAF, "\x55\x48\x89\xe5\x5d\xc3", 6);

	/* ... mov rax, rbp; mov rbp, rdi; 1: pause; cmp dword [rsi], 0; je 1b; mov rbp, rax; pop
	 * rbp; ret */
	jit_put(jit->page + JIT_SPIN,
		"\x55\x48\x89\xe5\x48\x89\xe8\x48\x89\xfd\xf3\x90\x83\x3e\x00\x74\xf9\x48\x89\xc5"
		"\x5d\xc3",
		22);
}

/* Makes the code and publishes its range. */
static inline bool jit_make(struct jit *jit)
{
	jit->page =
		mmap(NULL, JIT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	jit->ranges = calloc(1, sizeof(*jit->ranges) + sizeof(jit->ranges->range[0]));
	if (jit->page == MAP_FAILED || jit->ranges == NULL)
		return false;
	memset(jit->page, 0xcc, JIT_SIZE);
	jit_write(jit);
	if (mprotect(jit->page, JIT_SIZE, PROT_READ | PROT_EXEC) != 0)
		return false;
	jit->outer = (void (*)(uint32_t))(uintptr_t)(jit->page + JIT_OUTER);
	jit->spin = (void (*)(uintptr_t, const volatile int *))(uintptr_t)(jit->page + JIT_SPIN);
	jit->ranges->generation = 1;
	jit->ranges->count = 1;
	jit->ranges->range[0] = (struct range){
		.start = (uintptr_t)jit->page,
		.end = (uintptr_t)jit->page + JIT_SIZE,
		.id = 1,
		.has_frame_pointers = 1,
	};
	ranges_publish(jit->ranges);
	return true;
}

/* Whether the sample shows all callers of its pc in outer(), none too many. */
static inline bool jit_is_complete(const struct jit *jit, const struct sample *sample)
{
	uintptr_t expected[3] = { (uintptr_t)sample_pcs(sample)[0] };
	uintptr_t offset = expected[0] - (uintptr_t)jit->page;
	uint32_t count = 1;

	if (offset >= JIT_LEAF) {
		/* Either call of leaf() may be the one. */
		expected[count] =
			sample->pc_count > 1 && sample_pcs(sample)[1] == jit->inner_return[0]
				? jit->inner_return[0]
				: jit->inner_return[1];
		count++;
	}
	if (offset >= JIT_INNER)
		expected[count++] = jit->outer_return;
	if (sample->pc_count != count || (sample->flags & SAMPLE_TRUNCATED) != 0)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (sample_pcs(sample)[i] != expected[i])
			return false;
	}
	return true;
}

#endif /* TESTS_UNIT_SIG_JIT_H */
