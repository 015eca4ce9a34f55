/* SPDX-License-Identifier: MIT */
/*
 * resolve_test.c - what each kind of sample becomes, in each of the three depths of stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/resolve.h"
#include "tests/unit/profile/fakes.h"

enum { HOST_PC = 0x400100 };

static struct resolved resolved;
static uintptr_t code; /* text of the module at hand */

/* Resolves and frees SAMPLE. The stack as one line, leaf first: kinds and offsets. */
static const char *stack_of(struct sample *sample, enum stacks stacks)
{
	static const char *const kinds[] = { "", "host", "builtin", "glue", "jit" };
	static char line[1000];
	size_t used = 0;

	line[0] = '\0';
	if (!resolve_sample(NULL, stacks, sample, &resolved))
		snprintf(line, sizeof(line), "none");
	for (size_t i = 0; line[0] != 'n' && i < resolved.count; i++) {
		const struct frame *frame = &resolved.frames[i];

		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s%llx",
					 i == 0 ? "" : " ", kinds[frame->kind],
					 (unsigned long long)frame->address);
	}
	free(sample);
	return line;
}

static int start(void **unused)
{
	forget_fakes(unused);
	code = fake_module("a.wasm", "aa");
	return 0;
}

/* ---- in the guest ---------------------------------------------------------------------------- */

static void test_leaf_and_callers(void **unused)
{
	(void)unused;
	/* The leaf is where it is; a caller's call ends just before its return address. */
	assert_string_equal(stack_of(GUEST_SAMPLE(code + WORK, code + WORK), STACKS_HOSTCALLS),
			    "200 1ff");
	assert_int_equal(resolved.frames[0].symbol->function, 6);
	assert_int_equal(resolved.frames[1].symbol->function, 5);
	assert_int_equal(resolved.state, STATE_GUEST);
	assert_false(resolved.is_truncated);
}

static void test_the_generation_counts(void **unused)
{
	struct sample *sample = GUEST_SAMPLE(code + WORK);
	uintptr_t other;

	(void)unused;
	fake.entries[0].died = 5;
	other = fake_module("b.wasm", "bb");
	fake.entries[1].text = code;
	fake.entries[1].born = 5;
	assert_true(other != code);
	stack_of(sample, STACKS_GUEST);
	assert_string_equal(module_name(resolved.frames[0].entry->module), "b.wasm");
	sample = GUEST_SAMPLE(code + WORK);
	sample->generation = 4;
	stack_of(sample, STACKS_GUEST);
	assert_string_equal(module_name(resolved.frames[0].entry->module), "a.wasm");
}

static void test_glue_is_for_full_stacks(void **unused)
{
	uint64_t pcs[] = { code + WORK + 4, code + MAIN + 8, code + ENTRY + 8 };

	(void)unused;
	assert_string_equal(stack_of(make_sample(SAMPLE_GUEST, 0, pcs, 3, NULL, 0), STACKS_GUEST),
			    "204 107");
	assert_string_equal(
		stack_of(make_sample(SAMPLE_GUEST, 0, pcs, 3, NULL, 0), STACKS_HOSTCALLS),
		"204 107");
	assert_string_equal(stack_of(make_sample(SAMPLE_GUEST, 0, pcs, 3, NULL, 0), STACKS_FULL),
			    "204 107 glue7");
	assert_string_equal(
		stack_of(GUEST_SAMPLE(code + TRAMPOLINE + 1, code + MAIN + 8), STACKS_HOSTCALLS),
		"107");
	assert_int_equal(resolved.state, STATE_GUEST);
	/* Nothing but glue: it is shown rather than lost. */
	assert_string_equal(stack_of(GUEST_SAMPLE(code + ENTRY + 1), STACKS_GUEST), "glue1");
}

static void test_activations_are_separated(void **unused)
{
	uint64_t pcs[] = { code + WORK, code + ENTRY + 8, 0, code + MAIN + 8, code + ENTRY + 8 };

	(void)unused;
	assert_string_equal(
		stack_of(make_sample(SAMPLE_GUEST, 0, pcs, 5, NULL, 0), STACKS_HOSTCALLS),
		"200 host0 107");
	assert_string_equal(stack_of(make_sample(SAMPLE_GUEST, 0, pcs, 5, NULL, 0), STACKS_GUEST),
			    "200 107");
	/* At the ends and in a row they say nothing. */
	assert_string_equal(
		stack_of(GUEST_SAMPLE(code + WORK, 0, 0, code + MAIN + 8, 0), STACKS_HOSTCALLS),
		"200 host0 107");
}

static void test_builtin_leaf(void **unused)
{
	(void)unused;
	assert_string_equal(
		stack_of(GUEST_SAMPLE(code + BUILTIN + 4, code + WORK + 9), STACKS_HOSTCALLS),
		"builtin404 208");
	assert_int_equal(resolved.state, STATE_BUILTIN);
}

static void test_code_without_a_description(void **unused)
{
	(void)unused;
	assert_string_equal(stack_of(GUEST_SAMPLE(code + NOTHING, code + MAIN + 1), STACKS_GUEST),
			    "500 100");
	assert_null(resolved.frames[0].symbol);
	assert_string_equal(stack_of(GUEST_SAMPLE(0x1234567), STACKS_GUEST), "jit1234567");
	assert_string_equal(stack_of(make_sample(SAMPLE_GUEST, 0, NULL, 0, NULL, 0), STACKS_GUEST),
			    "none");
	assert_string_equal(stack_of(make_sample(SAMPLE_PAD, 0, NULL, 0, NULL, 0), STACKS_GUEST),
			    "none");
}

static void test_truncated(void **unused)
{
	uint64_t pcs[] = { code + WORK };

	(void)unused;
	stack_of(make_sample(SAMPLE_GUEST, SAMPLE_TRUNCATED, pcs, 1, NULL, 0), STACKS_GUEST);
	assert_true(resolved.is_truncated);
}

/* ---- in the host, with the engine's exit record ---------------------------------------------- */

static struct sample *exit_sample(const uint64_t *slice, size_t words)
{
	uint64_t pcs[] = { code + WORK + 0x10, code + MAIN + 8, code + ENTRY + 8 };

	return make_sample(SAMPLE_HOST, SAMPLE_EXIT_RECORD, pcs, 3, slice, words);
}

static void test_host_call(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	fake_unwind(UNWIND_COMPLETE,
		    WORDS(HOST_PC, HOST_PC + 0x10, code + TRAMPOLINE + 8, code + WORK + 0x10, 0));
	assert_string_equal(stack_of(exit_sample(slice, 4), STACKS_HOSTCALLS), "host0 20f 107");
	assert_int_equal(resolved.state, STATE_HOST);
	assert_true(fake_unwinder.was_stopped);
	assert_string_equal(stack_of(exit_sample(slice, 4), STACKS_GUEST), "20f 107");
	assert_int_equal(resolved.state, STATE_HOST);
	/* Every host frame, the leaf's pc as it is; the trampoline, and the guest once. */
	assert_string_equal(stack_of(exit_sample(slice, 4), STACKS_FULL),
			    "host400100 host40010f glue307 20f 107 glue7");
	assert_false(resolved.is_truncated);
}

/* What the unwinder guessed is a guess in the result, what it found is not. */
static void test_guesses(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	fake_unwind(UNWIND_COMPLETE,
		    WORDS(HOST_PC, HOST_PC + 0x10, code + TRAMPOLINE + 8, code + WORK + 0x10, 0));
	stack_of(exit_sample(slice, 4), STACKS_FULL);
	assert_false(resolved.is_guessed);
	fake_unwinder.frames[1].is_guess = true;
	stack_of(exit_sample(slice, 4), STACKS_FULL);
	assert_true(resolved.is_guessed);
	for (size_t i = 0; i < resolved.count; i++)
		assert_int_equal(resolved.frames[i].is_guess, i == 1);
	fake_unwinder.frames[1].is_guess = false;
}

static void test_builtin_call(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST_PC, code + BUILTIN + 8, code + WORK + 0x10, 0));
	assert_string_equal(stack_of(exit_sample(slice, 4), STACKS_HOSTCALLS),
			    "builtin407 20f 107");
	assert_int_equal(resolved.state, STATE_BUILTIN);
	assert_string_equal(stack_of(exit_sample(slice, 4), STACKS_FULL),
			    "host400100 builtin407 20f 107 glue7");
	assert_int_equal(resolved.state, STATE_BUILTIN);
}

/* Without an unwinder the slice still says by what the guest called out. */
static void test_builtin_without_unwinder(void **unused)
{
	uint64_t slice[] = {
		1, code + MAIN + 1, 7, code + BUILTIN + 8, 9, 0, code + WORK + 0x10, 3
	};

	(void)unused;
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_HOSTCALLS),
			    "builtin407 20f 107");
	assert_int_equal(resolved.state, STATE_BUILTIN);
	/* it may be a dead word, the rest is the guest's own chain */
	assert_true(resolved.frames[0].is_guess && resolved.is_guessed);
	assert_false(resolved.frames[1].is_guess);
	slice[3] = code + TRAMPOLINE + 8;
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_HOSTCALLS), "host0 20f 107");
	/* A return into the guest nearer than the builtin: that one was left long ago. */
	slice[3] = code + BUILTIN + 8;
	slice[4] = code + MAIN + 0x20;
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_HOSTCALLS), "host0 20f 107");
	/* GUESTPROF_STACKS=guest copies no slice at all. */
	assert_string_equal(stack_of(exit_sample(NULL, 0), STACKS_GUEST), "20f 107");
}

/* An unwinder that stepped over the builtin does not hide it. */
static void test_builtin_that_the_unwinder_missed(void **unused)
{
	uint64_t slice[] = { 1, 2, 7, code + BUILTIN + 8, 9, 0, code + WORK + 0x10, 3 };

	(void)unused;
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST_PC, code + WORK + 0x10, code + ENTRY + 8, 0));
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_HOSTCALLS),
			    "builtin407 20f 107");
	assert_int_equal(resolved.state, STATE_BUILTIN);
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_FULL),
			    "host400100 builtin407 20f 107 glue7");
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, 0, NULL, 0, slice, 8), STACKS_HOSTCALLS),
		"builtin407 20f");
	slice[3] = 0;
	assert_string_equal(stack_of(exit_sample(slice, 8), STACKS_HOSTCALLS), "host0 20f 107");
}

/* The guest's own call instruction is certain: dead words in the slice do not count against it. */
static void test_the_call_site_decides(void **unused)
{
	uint64_t slice[] = { 1, code + TRAMPOLINE + 8, 7, 9, 0, code + WORK + 0x10, 3 };
	int32_t offset = BUILTIN - (WORK + 0x10);
	uint8_t call[5] = { 0xe8 };

	(void)unused;
	memcpy(call + 1, &offset, sizeof(offset));
	fake_call(code + WORK + 0x10, call, sizeof(call));
	resolve_forget();
	assert_string_equal(stack_of(exit_sample(slice, 7), STACKS_HOSTCALLS),
			    "builtin400 20f 107");
	assert_int_equal(resolved.state, STATE_BUILTIN);
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST_PC, code + WORK + 0x10, code + ENTRY + 8, 0));
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, 0, NULL, 0, slice, 7), STACKS_HOSTCALLS),
		"builtin400 20f");
	assert_string_equal(stack_of(exit_sample(slice, 7), STACKS_FULL),
			    "host400100 builtin400 20f 107 glue7");
	/* No slice and no exit record, as with GUESTPROF_STACKS=guest at first. */
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, 0, WORDS(code + WORK + 0x10), 1, NULL, 0),
			 STACKS_GUEST),
		"builtin400 20f");
	/* Through a pointer: a function of the host's. */
	slice[1] = code + BUILTIN + 8;
	fake_call(code + WORK + 0x10, "\xff\xd0", 2);
	resolve_forget();
	assert_string_equal(stack_of(exit_sample(slice, 7), STACKS_HOSTCALLS), "host0 20f 107");
	/* To another function of the guest: that has returned, and says nothing. */
	offset = MAIN - (WORK + 0x10);
	memcpy(call + 1, &offset, sizeof(offset));
	fake_call(code + WORK + 0x10, call, sizeof(call));
	resolve_forget();
	assert_string_equal(stack_of(exit_sample(slice, 7), STACKS_HOSTCALLS),
			    "builtin407 20f 107");
}

static void test_trap(void **unused)
{
	uint64_t pcs[] = { code + WORK, code + MAIN + 8 };

	(void)unused;
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, SAMPLE_TRAP, pcs, 2, NULL, 0), STACKS_HOSTCALLS),
		"host0 200 107");
	assert_int_equal(resolved.state, STATE_HOST);
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, SAMPLE_TRAP, pcs, 2, NULL, 0), STACKS_GUEST),
		"200 107");
}

/* ---- in the host, without one ---------------------------------------------------------------- */

static struct sample *host_sample(const uint64_t *slice, size_t words)
{
	return make_sample(SAMPLE_HOST, SAMPLE_NO_ENTRY, NULL, 0, slice, words);
}

static void test_the_whole_stack_is_unwound(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	fake_unwind(UNWIND_SLICE_END, WORDS(HOST_PC, code + TRAMPOLINE + 8, code + WORK + 0x10,
					    code + ENTRY + 8, HOST_PC + 0x30, code + TRAMPOLINE + 8,
					    code + MAIN + 8, code + ENTRY + 8, HOST_PC + 0x50, 0));
	assert_string_equal(stack_of(host_sample(slice, 4), STACKS_HOSTCALLS),
			    "host0 20f host0 107");
	assert_int_equal(resolved.state, STATE_HOST);
	assert_false(resolved.is_truncated);
	assert_false(fake_unwinder.was_stopped);
	assert_string_equal(stack_of(host_sample(slice, 4), STACKS_GUEST), "20f 107");
	assert_string_equal(stack_of(host_sample(slice, 4), STACKS_FULL),
			    "host400100 glue307 20f glue7 host40012f glue307 107 glue7 host40014f");
}

static void test_builtin_unwound(void **unused)
{
	static const uint64_t slice[4];

	(void)unused;
	fake_unwind(UNWIND_SLICE_END,
		    WORDS(HOST_PC, code + BUILTIN + 8, code + WORK + 0x10, code + ENTRY + 8, 0));
	assert_string_equal(stack_of(host_sample(slice, 4), STACKS_HOSTCALLS), "builtin407 20f");
	assert_int_equal(resolved.state, STATE_BUILTIN);
}

/* A slice of a stack as compilers with frame pointers make it; A: its address. */
enum { A = 0x7ffd0000 };
#define LINKED                                                                            \
	{                                                                                 \
		0x11, A + 0x28, code + TRAMPOLINE + 8, 0x22, 0x33, /* 0x00 */             \
			A + 0x40, code + WORK + 0x10, 0x44,	   /* 0x28 */             \
			A + 0x50, code + MAIN + 8,		   /* 0x40 */             \
			A + 0x70, code + ENTRY + 8, 0x55, 0x66,	   /* 0x50 */             \
			0x7ffd9999, 0x12345			   /* 0x70: the host's */ \
	}

static void test_no_unwinder(void **unused)
{
	uint64_t slice[] = LINKED;

	(void)unused;
	assert_string_equal(stack_of(host_sample(slice, ARRAY_SIZE(slice)), STACKS_HOSTCALLS),
			    "host0 20f 107");
	assert_false(resolved.is_truncated);
	assert_int_equal(resolved.state, STATE_HOST);
	slice[2] = code + BUILTIN + 8;
	assert_string_equal(stack_of(host_sample(slice, ARRAY_SIZE(slice)), STACKS_HOSTCALLS),
			    "builtin407 20f 107");
	assert_int_equal(resolved.state, STATE_BUILTIN);
}

/* The unwinder found the guest, and could not go on there. */
static void test_unwinder_gives_up_in_the_guest(void **unused)
{
	uint64_t slice[] = LINKED;
	static const uint64_t nothing[4];

	(void)unused;
	fake_unwind(UNWIND_NO_TABLE, WORDS(HOST_PC, code + TRAMPOLINE + 8, code + WORK + 0x10, 0));
	assert_string_equal(stack_of(host_sample(slice, ARRAY_SIZE(slice)), STACKS_HOSTCALLS),
			    "host0 20f 107");
	assert_false(resolved.is_truncated);
	assert_string_equal(stack_of(host_sample(nothing, 4), STACKS_HOSTCALLS), "host0 20f");
	assert_true(resolved.is_truncated);
}

static void test_no_guest_at_all(void **unused)
{
	static const uint64_t slice[64];

	(void)unused;
	assert_string_equal(stack_of(host_sample(slice, 64), STACKS_HOSTCALLS), "none");
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST_PC, HOST_PC + 5, 0));
	assert_string_equal(stack_of(host_sample(slice, 64), STACKS_FULL), "none");
	assert_string_equal(stack_of(host_sample(NULL, 0), STACKS_HOSTCALLS), "none");
}

/* Whatever is in a slice: an answer, and no step outside. */
static void test_noise(void **unused)
{
	uint64_t slice[64], noise = 1;

	(void)unused;
	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(slice); i++) {
			noise = noise * 6364136223846793005 + 1442695040888963407;
			slice[i] = noise >> 63 ? A + (noise >> 40) % 0x240
					       : code + (noise >> 40) % 0x600;
		}
		stack_of(host_sample(slice, 1 + (noise >> 33) % 64), STACKS_HOSTCALLS);
	}
}

#define RESOLVE_TEST(test) cmocka_unit_test_setup(test, start)

/* ---- functions that were told one by one ----------------------------------------------------- */

enum { TOLD_PC = 0x7000100, TOLD_OBJECT = 0x9000 };

static void test_told_code_is_where_its_module_has_it(void **unused)
{
	(void)unused;
	fake_told.pc = TOLD_PC;
	fake_told.place = code + WORK;
	assert_string_equal(stack_of(GUEST_SAMPLE(TOLD_PC, code + WORK), STACKS_HOSTCALLS),
			    "200 1ff");
	/* memory for such code, and nobody told what is there */
	fake_told.space = &fake.entries[0];
	stack_of(GUEST_SAMPLE(code + WORK), STACKS_HOSTCALLS);
	assert_int_equal(resolved.frames[0].kind, FRAME_JIT);
	assert_int_equal(resolved.frames[0].address, code + WORK);
	memset(&fake_told, 0, sizeof(fake_told));
}

/* The interpreter's frame gives way to the function that it is of, if that is known. */
static void test_marked_words_name_interpreted_functions(void **unused)
{
	const uint64_t marked = SAMPLE_MARK | (TOLD_OBJECT + 1);

	(void)unused;
	assert_string_equal(
		stack_of(GUEST_SAMPLE(code + WORK, code + WORK, marked), STACKS_HOSTCALLS),
		"200 1ff");
	fake_told.object = TOLD_OBJECT;
	fake_told.place = code + WORK + 8;
	assert_string_equal(
		stack_of(GUEST_SAMPLE(code + WORK, code + WORK, marked), STACKS_HOSTCALLS),
		"200 208");
	memset(&fake_told, 0, sizeof(fake_told));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESOLVE_TEST(test_leaf_and_callers),
		RESOLVE_TEST(test_told_code_is_where_its_module_has_it),
		RESOLVE_TEST(test_marked_words_name_interpreted_functions),
		RESOLVE_TEST(test_the_generation_counts),
		RESOLVE_TEST(test_glue_is_for_full_stacks),
		RESOLVE_TEST(test_activations_are_separated),
		RESOLVE_TEST(test_builtin_leaf),
		RESOLVE_TEST(test_code_without_a_description),
		RESOLVE_TEST(test_truncated),
		RESOLVE_TEST(test_host_call),
		RESOLVE_TEST(test_guesses),
		RESOLVE_TEST(test_builtin_call),
		RESOLVE_TEST(test_builtin_without_unwinder),
		RESOLVE_TEST(test_builtin_that_the_unwinder_missed),
		RESOLVE_TEST(test_the_call_site_decides),
		RESOLVE_TEST(test_trap),
		RESOLVE_TEST(test_the_whole_stack_is_unwound),
		RESOLVE_TEST(test_builtin_unwound),
		RESOLVE_TEST(test_no_unwinder),
		RESOLVE_TEST(test_unwinder_gives_up_in_the_guest),
		RESOLVE_TEST(test_no_guest_at_all),
		RESOLVE_TEST(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
