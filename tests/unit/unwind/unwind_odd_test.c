/* SPDX-License-Identifier: MIT */
/* unwind_odd_test.c - stacks that do not start or end as usual: signals, fibers, the kernel's
 * library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <signal.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/stacks.h"

/* The kernel's library has no file; its tables are read from memory like everybody's. */
static void test_kernel_library(void **state)
{
	void *library = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = library != NULL ? dlsym(library, "__vdso_clock_gettime") : NULL;
	uintptr_t base;
	size_t at;

	(void)state;
	if (function == NULL)
		skip();
	level_three(level_two);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	for (at = 0; self.frames[at].pc != self.expected[0]; at++)
		;
	rewind_to_return(at, (uintptr_t)function);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frames[1].pc, self.expected[1]);
	assert_true(has_frame(main_return));
	assert_non_null(strstr(unwind_object_name((uintptr_t)function, &base), "vdso"));
}

static struct {
	ucontext_t outside, inside;
	uint8_t stack[64 * 1024];
} fiber;

static void run_on_fiber(void)
{
	level_three(level_two);
	capture_other_end = 0;
	KEEP_FRAME();
}

/* A stack that makecontext made ends where it was made: nobody called its first function. */
static void test_fiber(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(getcontext(&fiber.inside), 0);
	fiber.inside.uc_stack.ss_sp = fiber.stack;
	fiber.inside.uc_stack.ss_size = sizeof(fiber.stack);
	fiber.inside.uc_link = &fiber.outside;
	makecontext(&fiber.inside, run_on_fiber, 0);
	capture_other_end = (uintptr_t)fiber.stack + sizeof(fiber.stack);
	assert_int_equal(swapcontext(&fiber.outside, &fiber.inside), 0);
	/* libc's start of a context has no tables: it is not called the outermost frame, nor shown
	 */
	assert_int_equal(unwind_capture(1), UNWIND_NO_TABLE);
	for (i = 0; i < self.frame_count && self.frames[i].pc != self.expected[2]; i++)
		;
	assert_int_equal(i + 1, self.frame_count);
}

static void capture_on_signal(int number, siginfo_t *info, void *opaque)
{
	ucontext_t *context = opaque;

	(void)info;
	capture_here(&self.capture);
	if (number == SIGILL)
		context->uc_mcontext.gregs[REG_RIP] += 2;
	KEEP_FRAME();
}

static void on_signal(int number, int flags, struct sigaction *saved)
{
	struct sigaction action = { .sa_sigaction = capture_on_signal,
				    .sa_flags = SA_SIGINFO | flags };

	assert_int_equal(sigaction(number, &action, saved), 0);
}

/*
 * Interrupted on the very first instruction that its tables know: an address one less would be
 * nobody's.
 */
static void test_signal_on_first_instruction(void **state)
{
	static const uint8_t code[] = { 0x0f, 0x0b, 0xc3 }; /* ud2; ret */
	struct jit jit = jit_map();
	struct bytes tables = { 0 };
	struct sigaction saved;
	size_t i;

	(void)state;
	memcpy(jit.memory, code, sizeof(code));
	put_program(&tables, 0x1b, jit.text, jit.tables, "", 0);
	assert_int_equal(
		unwind_add_image(50, jit.text, CODE_SIZE, tables.at, tables.size, jit.tables, 1),
		0);
	on_signal(SIGILL, 0, &saved);
	call_jit(&jit);
	sigaction(SIGILL, &saved, NULL);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	for (i = 0; i < self.frame_count && self.frames[i].pc != jit.text; i++)
		;
	assert_in_range(i, 2, self.frame_count - 2);
	unwind_retire_image(50, 2);
	unwind_forget_images(2);
	munmap(jit.memory, 8192);
}

/* On a stack of its own: the slice ends with it, but who was interrupted is known. */
static void test_signal_on_alternate_stack(void **state)
{
	static uint8_t memory[256 * 1024];
	stack_t own = { .ss_sp = memory, .ss_size = sizeof(memory) }, before;
	struct sigaction saved;
	struct unwind_input input;
	size_t i;

	(void)state;
	assert_int_equal(sigaltstack(&own, &before), 0);
	on_signal(SIGUSR1, SA_ONSTACK, &saved);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &saved, NULL);
	sigaltstack(&before, NULL);
	input = capture_input(&self.capture, 1);
	input.slice_size = (uintptr_t)memory + sizeof(memory) - input.slice_address;
	assert_int_equal(unwind(&input, self.frames, FRAMES, &self.frame_count), UNWIND_SLICE_END);
	assert_in_range(self.frame_count, 3, 8); /* more with sanitizers */
	for (i = 1; i < self.frame_count; i++)
		assert_non_null(unwind_object_name(self.frames[i].pc, &(uintptr_t){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kernel_library, begin),
		cmocka_unit_test_setup(test_fiber, begin),
		cmocka_unit_test_setup(test_signal_on_first_instruction, begin),
		cmocka_unit_test_setup(test_signal_on_alternate_stack, begin),
	};

	main_return = CALLED_FROM();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
