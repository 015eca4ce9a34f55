/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - known chains of calls, captured, unwound and compared; code made at run time.
 *
 * For the test programs of unwind(), each of which includes <cmocka.h> first.
 */
#ifndef TESTS_UNIT_UNWIND_STACKS_H
#define TESTS_UNIT_UNWIND_STACKS_H

#include <stdlib.h>
#include <sys/mman.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/capture.h"
#include "tests/unit/unwind/tables.h"

enum { FRAMES = 256, MAX_EXPECTED = 16 };

/* Return addresses as the functions themselves saw them, innermost first. */
static struct {
	uint64_t expected[MAX_EXPECTED];
	size_t count;
	struct capture capture;
	struct unwind_frame frames[FRAMES];
	size_t frame_count;
	bool may_differ; /* what no compiler makes, each unwinder takes in its own way */
} self;

/* Where main() returns to: set by main. */
static uint64_t main_return;

#define CALLED_FROM() \
	((uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static inline void expect_frame(uint64_t pc)
{
	memmove(&self.expected[1], &self.expected[0], self.count * sizeof(self.expected[0]));
	self.expected[0] = pc;
	self.count++;
}

/* With libunwind, and again without: what the one finds the other must find too. */
static inline enum unwind_end unwind_capture(uint64_t generation)
{
	struct unwind_input input = capture_input(&self.capture, generation);
	static struct unwind_frame frames[FRAMES];
	enum unwind_end end, end_without;
	size_t count, i;

	end = unwind(&input, self.frames, FRAMES, &self.frame_count);
	unwind_choose(UNWINDER_CFI);
	end_without = unwind(&input, frames, FRAMES, &count);
	unwind_choose(UNWINDER_LIBUNWIND);
	if (end != UNWIND_COMPLETE || self.may_differ)
		return end;
	assert_int_equal(end_without, end);
	assert_int_equal(count, self.frame_count);
	for (i = 0; i < count; i++) {
		assert_int_equal(frames[i].pc, self.frames[i].pc);
		assert_int_equal(frames[i].cfa, self.frames[i].cfa);
	}
	return end;
}

static inline bool has_frame(uint64_t pc)
{
	size_t i;

	for (i = 0; i < self.frame_count; i++) {
		if (self.frames[i].pc == pc)
			return true;
	}
	return false;
}

/* Every expected return address is there, in order, and so is main's caller. */
static inline void assert_chain(void)
{
	size_t i, at = 0;

	for (i = 0; i < self.frame_count && at < self.count; i++) {
		if (self.frames[i].pc == self.expected[at])
			at++;
	}
	assert_int_equal(at, self.count);
	assert_true(has_frame(main_return));
}

static __attribute__((noinline, unused)) void level_one(void)
{
	expect_frame(CALLED_FROM());
	capture_here(&self.capture);
	KEEP_FRAME();
}

static __attribute__((noinline, unused)) void level_two(void)
{
	expect_frame(CALLED_FROM());
	level_one();
	KEEP_FRAME();
}

static __attribute__((noinline, unused)) void level_three(void (*inner)(void))
{
	expect_frame(CALLED_FROM());
	inner();
	KEEP_FRAME();
}

static inline int begin(void **state)
{
	(void)state;
	self.count = 0;
	self.frame_count = 0;
	return unwind_start();
}

struct jit {
	uint8_t *memory;
	uint64_t text, tables;
};

static inline struct jit jit_map(void)
{
	struct jit jit = { 0 };

	jit.memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(jit.memory, MAP_FAILED);
	jit.text = (uintptr_t)jit.memory;
	jit.tables = (uintptr_t)jit.memory + 4096;
	return jit;
}

/* Writes code with SPACE bytes of frame, adds its tables as image ID born at BORN. */
static inline void jit_fill(struct jit *jit, uint32_t id, uint8_t space, uint8_t encoding,
			    uint64_t born)
{
	struct bytes code = { 0 }, tables = { 0 };

	put_code(&code, space);
	memcpy(jit->memory, code.at, code.size);
	put_tables(&tables, space, encoding, jit->text, jit->tables);
	assert_int_equal(unwind_add_image(id, jit->text, CODE_SIZE, tables.at, tables.size,
					  jit->tables, born),
			 0);
}

static __attribute__((noinline, unused)) void call_jit(const struct jit *jit)
{
	void (*function)(void (*)(void)) = (void (*)(void (*)(void)))jit->text;

	expect_frame(CALLED_FROM());
	function(level_two);
	KEEP_FRAME();
}

/* Makes the capture one of frame INDEX's own moment of return: its frame is gone, on the ret. */
static inline void rewind_to_return(size_t index, uint64_t pc)
{
	uint64_t stack = self.frames[index].cfa - 8;
	size_t skipped = stack - self.capture.registers[7];

	memmove(self.capture.slice, self.capture.slice + skipped, self.capture.size - skipped);
	self.capture.size -= skipped;
	self.capture.registers[7] = stack;
	/* the tests are built with frame pointers: the caller's is two words below its CFA */
	self.capture.registers[6] = self.frames[index + 1].cfa - 16;
	self.capture.registers[16] = pc;
}

#endif /* TESTS_UNIT_UNWIND_STACKS_H */
