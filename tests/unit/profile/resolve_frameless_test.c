/* SPDX-License-Identifier: MIT */
/* resolve_frameless_test.c - what stands for interpreted guests becomes frames, where it belongs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/load/hostcalls.h"
#include "preload/profile/resolve.h"
#include "preload/profile/tables.h"
#include "tests/unit/profile/fakes.h"

static uintptr_t code;
static uint32_t instance, inner;
static struct resolved resolved;

static const char *stack_of(struct sample *sample, enum stacks stacks)
{
	static const char *const kinds[] = { "", "host", "builtin", "glue", "jit", "interpreter" };
	static char line[1000];
	size_t used = 0;

	line[0] = '\0';
	if (!resolve_sample(NULL, stacks, sample, &resolved))
		snprintf(line, sizeof(line), "none");
	for (size_t i = 0; line[0] != 'n' && i < resolved.count; i++) {
		const struct frame *frame = &resolved.frames[i];

		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
					 i == 0 ? "" : " ", kinds[frame->kind]);
		if (frame->call != NULL)
			used += (size_t)snprintf(line + used, sizeof(line) - used, ":%s",
						 frame->call);
		else if (frame->kind == FRAME_INTERPRETER)
			used += (size_t)snprintf(line + used, sizeof(line) - used, ":%s",
						 module_name(frame->entry->module));
		else
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%llx",
						 (unsigned long long)frame->address);
	}
	free(sample);
	return line;
}

static int start(void **unused)
{
	forget_fakes(unused);
	code = fake_module("native", "aa");
	fake_module("outer", "bb");
	fake_module("inner", "cc");
	instance = fake_instance(2);
	inner = fake_instance(3);
	return 0;
}

static struct sample *frameless(const uint64_t *words, size_t count)
{
	return make_sample(SAMPLE_HOST, SAMPLE_FRAMELESS, words, count, NULL, 0);
}

static void test_it_is_one_frame(void **unused)
{
	const uint64_t words[] = { SAMPLE_ENTRY | instance, SAMPLE_MARK };

	(void)unused;
	assert_string_equal(stack_of(frameless(words, 2), STACKS_HOSTCALLS), "interpreter:outer");
	assert_int_equal(resolved.state, STATE_INTERPRETER);
	assert_string_equal(stack_of(frameless(words, 2), STACKS_GUEST), "interpreter:outer");
	/* an instance of which nothing is known any more */
	fake_instances.is_gone[instance - 1] = true;
	assert_string_equal(stack_of(frameless(words, 2), STACKS_HOSTCALLS), "none");
}

static void test_a_host_call_is_told(void **unused)
{
	uint64_t words[] = { SAMPLE_CALL, SAMPLE_ENTRY | instance, SAMPLE_MARK | 0x1000 };

	(void)unused;
	assert_string_equal(stack_of(frameless(words, 3), STACKS_HOSTCALLS),
			    "host0 interpreter:outer");
	assert_int_equal(resolved.state, STATE_HOST);
	words[0] |= hostcalls_name("env", 3, "log", 3);
	assert_string_equal(stack_of(frameless(words, 3), STACKS_HOSTCALLS),
			    "host:env.log interpreter:outer");
	assert_string_equal(stack_of(frameless(words, 3), STACKS_GUEST), "interpreter:outer");
}

/* Of functions that called the host those that are known stand for the guest. */
static void test_functions_that_called_are_asked_for(void **unused)
{
	uint64_t words[] = { SAMPLE_CALL,
			     SAMPLE_FUNCTION | UINT32_MAX,
			     SAMPLE_FUNCTION | 2,
			     SAMPLE_FUNCTION | 1,
			     SAMPLE_ENTRY | instance,
			     SAMPLE_MARK | 0x1000,
			     0,
			     SAMPLE_CALL,
			     SAMPLE_FUNCTION | 9,
			     SAMPLE_ENTRY | inner,
			     SAMPLE_MARK | 0x2000 };

	(void)unused;
	assert_string_equal(stack_of(frameless(words, 6), STACKS_HOSTCALLS), "host0 2 1");
	assert_int_equal(resolved.state, STATE_HOST);
	assert_string_equal(stack_of(frameless(words, 11), STACKS_GUEST), "2 1 interpreter:inner");
}

static void test_activations_are_separated(void **unused)
{
	uint64_t words[] = { SAMPLE_ENTRY | inner,    SAMPLE_MARK,	   0, SAMPLE_CALL,
			     SAMPLE_ENTRY | instance, SAMPLE_MARK | 0x1000 };
	uint64_t unknown[] = { SAMPLE_ENTRY | inner, SAMPLE_MARK, 0, SAMPLE_ENTRY | instance,
			       SAMPLE_MARK | 0x1000 };
	uint64_t native[] = { code + WORK, 0, SAMPLE_ENTRY | instance, SAMPLE_MARK | 0x1000 };

	(void)unused;
	assert_string_equal(stack_of(frameless(words, 6), STACKS_HOSTCALLS),
			    "interpreter:inner host0 interpreter:outer");
	assert_string_equal(stack_of(frameless(unknown, 5), STACKS_HOSTCALLS),
			    "interpreter:inner host0 interpreter:outer");
	assert_string_equal(
		stack_of(make_sample(SAMPLE_GUEST, 0, native, 4, NULL, 0), STACKS_HOSTCALLS),
		"200 host0 interpreter:outer");
	assert_int_equal(resolved.state, STATE_GUEST);
}

/* The interpreter's frames are its callers; those of a host call come before it. */
static void test_whole_stacks(void **unused)
{
	uint64_t words[] = { SAMPLE_ENTRY | instance, SAMPLE_MARK };
	uint64_t called[] = { SAMPLE_CALL, SAMPLE_ENTRY | instance, SAMPLE_MARK | 0x2800 };
	const uint64_t slice[] = { 0, 0 };

	(void)unused;
	fake_unwinder.end = UNWIND_COMPLETE;
	fake_unwinder.count = 3;
	for (size_t i = 0; i < 3; i++)
		fake_unwinder.frames[i] = (struct unwind_frame){ .pc = 0x400000 + 0x100 * i,
								 .cfa = 0x2000 + 0x500 * i };
	assert_string_equal(stack_of(make_sample(SAMPLE_HOST, SAMPLE_FRAMELESS, words, 2, slice, 2),
				     STACKS_FULL),
			    "interpreter:outer host400000 host4000ff host4001ff");
	assert_int_equal(resolved.state, STATE_INTERPRETER);
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, SAMPLE_FRAMELESS, called, 3, slice, 2),
			 STACKS_FULL),
		"host400000 host4000ff interpreter:outer host4001ff");
	assert_int_equal(resolved.state, STATE_HOST);
	/* Nothing could be unwound. */
	fake_unwinder.count = 0;
	fake_unwinder.end = UNWIND_NO_TABLE;
	assert_string_equal(
		stack_of(make_sample(SAMPLE_HOST, SAMPLE_FRAMELESS, called, 3, slice, 2),
			 STACKS_FULL),
		"interpreter:outer");
	assert_true(resolved.is_truncated);
}

/* It has a function of its own in each module, at no place in the code. */
static void test_it_has_a_name(void **unused)
{
	const struct frame frame = { .kind = FRAME_INTERPRETER, .entry = &fake.entries[1] };
	struct tables tables;
	const struct chunk_location *location;

	(void)unused;
	assert_int_equal(tables_init(&tables, 1 << 20), 0);
	location = &tables.locations[tables_location(&tables, &frame,
						     texts_add(&tables.texts, "outer")) -
				     1];
	assert_int_equal(location->kind, FRAME_INTERPRETER);
	assert_int_equal(location->address, 0);
	assert_false(location->address_is_wasm);
	assert_string_equal(tables.texts.rows[tables.functions[location->function - 1].name],
			    "(interpreter)");
	assert_int_equal(tables.mappings[location->mapping - 1].loading, 2);
	tables_fini(&tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_it_is_one_frame, start),
		cmocka_unit_test_setup(test_a_host_call_is_told, start),
		cmocka_unit_test_setup(test_functions_that_called_are_asked_for, start),
		cmocka_unit_test_setup(test_activations_are_separated, start),
		cmocka_unit_test_setup(test_whole_stacks, start),
		cmocka_unit_test_setup(test_it_has_a_name, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
