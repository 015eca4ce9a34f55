/* SPDX-License-Identifier: MIT */
/* unwind_fiber_test.c - from a fiber's stack to the stack of whoever resumed it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/stacks.h"

enum { FIBER_SIZE = 256 * 1024 };

/*
 * As wasmtime's fibers do it (x86_64): the resumer's registers on its own stack, its stack pointer
 * 16 bytes below the fiber's top. switch_to_fiber(TOP, CODE, FUNCTION) jumps to CODE there.
 */
void switch_to_fiber(uint8_t *top, const void *code, void (*function)(void));
__asm__(".text\n"
	"switch_to_fiber:\n"
	".cfi_startproc\n"
	"push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
	"mov %rsp, -16(%rdi)\n"
	"lea -16(%rdi), %rsp\n"
	"mov %rdx, %rdi\n"
	"jmp *%rsi\n"
	".cfi_endproc\n");

/* call *%rdi; mov (%rsp),%rsp; pop %r15 ... %rbp; ret */
static const uint8_t fiber_code[] = {
	0xff, 0xd7, 0x48, 0x8b, 0x24, 0x24, 0x41, 0x5f, 0x41,
	0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, 0xc3,
};
/* def_cfa_offset 0; def_cfa_expression reg7, deref, plus_uconst 56; rip, rbp, rbx, r12 to r15 */
static const uint8_t fiber_program[] = {
	0x0e, 0,    0x0f, 4,	0x57, 0x06, 0x23, 56,	0x90, 1,    0x86,
	2,    0x83, 3,	  0x8c, 4,    0x8d, 5,	  0x8e, 6,    0x8f, 7,
};

static uint8_t *fiber_top;
static uint8_t resumer[CAPTURE_SLICE];
static size_t resumer_size;
static uint64_t resumer_sp;

/* On the fiber. Sanitizers do not like whole stacks to be copied. */
__attribute__((no_sanitize("address", "thread"))) static void capture_both(void)
{
	uintptr_t end;

	expect_frame(CALLED_FROM());
	capture_other_end = 0;
	end = capture_stack_end();
	memcpy(&resumer_sp, fiber_top - 16, sizeof(resumer_sp));
	resumer_size = end - resumer_sp < sizeof(resumer) ? end - resumer_sp : sizeof(resumer);
	resumer_size &= ~(size_t)7;
	for (size_t i = 0; i < resumer_size; i += 8)
		*(uint64_t *)(resumer + i) = *(const volatile uint64_t *)(resumer_sp + i);
	capture_other_end = (uintptr_t)fiber_top;
	level_one();
	capture_other_end = 0;
	KEEP_FRAME();
}

static __attribute__((noinline)) void resume(const struct jit *jit)
{
	expect_frame(CALLED_FROM());
	switch_to_fiber(fiber_top, (const void *)jit->text, capture_both);
	KEEP_FRAME();
}

static void make_fiber(struct jit *jit)
{
	struct bytes tables = { 0 };
	struct fde fde = {
		.encoding = 0x1b,
		.augmented = true,
		.start = jit->text,
		.size = sizeof(fiber_code),
		.program = fiber_program,
		.program_size = sizeof(fiber_program),
	};
	uint8_t *stack =
		mmap(NULL, FIBER_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(stack, MAP_FAILED);
	fiber_top = stack + FIBER_SIZE;
	memcpy(jit->memory, fiber_code, sizeof(fiber_code));
	fde.cie = put_cie(&tables, "zR", 0x1b);
	put_fde(&tables, &fde, jit->tables);
	put_u32(&tables, 0);
	assert_int_equal(unwind_add_image(70, jit->text, sizeof(fiber_code), tables.at, tables.size,
					  jit->tables, 1),
			 0);
}

static void test_fiber(void **state)
{
	struct jit jit = jit_map();
	struct unwind_input input;
	enum unwinder unwinder;

	(void)state;
	make_fiber(&jit);
	resume(&jit);
	for (unwinder = UNWINDER_LIBUNWIND; unwinder <= UNWINDER_CFI; unwinder++) {
		unwind_choose(unwinder);
		input = capture_input(&self.capture, 1);
		/* without the other stack it ends there, and says where that is */
		assert_int_equal(unwind(&input, self.frames, FRAMES, &self.frame_count),
				 UNWIND_SLICE_END);
		assert_in_range(unwind_missing(), resumer_sp, resumer_sp + 56);
		assert_int_equal(unwind_missing(), 0);
		assert_false(has_frame(main_return));
		input.resumer = resumer;
		input.resumer_address = resumer_sp;
		input.resumer_size = resumer_size;
		assert_int_equal(unwind(&input, self.frames, FRAMES, &self.frame_count),
				 UNWIND_COMPLETE);
		assert_chain();
	}
	unwind_choose(UNWINDER_LIBUNWIND);
	unwind_retire_image(70, 2);
	unwind_forget_images(2);
}

/* The first frame may be a caller's, of which only pc, frame and stack pointer are known. */
static void test_from_a_caller(void **state)
{
	uint64_t registers[UNWIND_REGISTERS] = { 0 };
	struct unwind_input input;
	size_t i;

	(void)state;
	self.count = 0;
	level_three(level_two);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	for (i = 0; self.frames[i].pc != self.expected[0]; i++)
		;
	registers[16] = self.expected[0];
	registers[7] = self.frames[i - 1].cfa;
	/* the tests are built with frame pointers */
	registers[6] = self.frames[i].cfa - 16;
	input = capture_input(&self.capture, 1);
	input.registers = registers;
	input.is_caller = true;
	assert_int_equal(unwind(&input, self.frames, FRAMES, &self.frame_count), UNWIND_COMPLETE);
	assert_int_equal(self.frames[0].pc, self.expected[0]);
	assert_chain();
}

/* push %rbx; sub $0x20,%rsp; call *%rdi; test %eax,%eax; jne 1f; ud2; 1: add $0x20,%rsp; pop %rbx;
 * ret */
static void test_code_tells_its_frame(void **state)
{
	static const uint8_t code[] = {
		0x53, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd7, 0x85, 0xc0, 0x75,
		0x02, 0x0f, 0x0b, 0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3,
	};
	struct jit jit = jit_map();

	(void)state;
	memcpy(jit.memory, code, sizeof(code));
	/* the callee's result is not defined: both ways must be right, one traps */
	jit.memory[9] = 0xeb;
	assert_int_equal(unwind_add_image(71, jit.text, sizeof(code), NULL, 0, 0, 1), 0);
	self.count = 0;
	call_jit(&jit);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	assert_int_equal(self.expected[1], jit.text + 7);
	jit.memory[9] = 0x75;
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	unwind_retire_image(71, 2);
	unwind_forget_images(2);
	munmap(jit.memory, 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_fiber, begin),
		cmocka_unit_test_setup(test_from_a_caller, begin),
		cmocka_unit_test_setup(test_code_tells_its_frame, begin),
	};

	main_return = CALLED_FROM();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
