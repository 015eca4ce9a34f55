/* SPDX-License-Identifier: MIT */
/* hostcall_test.c - which host function a guest is in, by what is known of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "preload/load/callbacks.h"
#include "preload/profile/resolve.h"
#include "tests/unit/profile/fakes.h"

enum { HOST_PC = 0x400100, GUEST_PC = WORK + 0x10 };

static struct resolved resolved;
static uintptr_t code;

static int start(void **unused)
{
	forget_fakes(unused);
	code = fake_module("a.wasm", "aa");
	fake_import = NULL;
	/* leaf, the host function, the trampoline, the guest */
	fake_unwind(UNWIND_COMPLETE, WORDS(HOST_PC, HOST_PC + 0x210, code + TRAMPOLINE + 8,
					   code + GUEST_PC, code + ENTRY + 8, 0));
	return 0;
}

/* The names of the host's frames, leaf first; `-`: none; `*` behind what is surely an import. */
static const char *calls_of(enum stacks stacks, const uint64_t *pcs, size_t count)
{
	static const uint64_t slice[4];
	struct sample *sample = make_sample(SAMPLE_HOST, SAMPLE_EXIT_RECORD, pcs, count, slice, 4);
	static char line[256];

	line[0] = '\0';
	assert_true(resolve_sample(NULL, stacks, sample, &resolved));
	for (size_t i = 0; i < resolved.count; i++) {
		const struct frame *frame = &resolved.frames[i];

		if (frame->kind == FRAME_HOST)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s%s",
				 frame->call != NULL ? frame->call : "-",
				 frame->importer != NULL ? "*" : "");
	}
	free(sample);
	return line;
}

static void test_call_site(void **unused)
{
	uint64_t pcs[] = { code + GUEST_PC, code + ENTRY + 8 };

	(void)unused;
	fake_import = "env.log";
	fake_import_at = GUEST_PC - 1;
	assert_string_equal(calls_of(STACKS_HOSTCALLS, pcs, 2), " env.log*");
	assert_int_equal(resolved.state, STATE_HOST);
	assert_string_equal(calls_of(STACKS_GUEST, pcs, 2), "");
	/* With all of the host's frames it stands between them and the guest. */
	assert_string_equal(calls_of(STACKS_FULL, pcs, 2), " - - env.log*");
}

/* A second activation below: its call is named too. */
static void test_outer_call(void **unused)
{
	uint64_t pcs[] = { code + MAIN + 8, code + ENTRY + 8, 0, code + GUEST_PC,
			   code + ENTRY + 8 };

	(void)unused;
	fake_import = "env.again";
	fake_import_at = GUEST_PC - 1;
	fake_unwind(UNWIND_BROKEN, WORDS(HOST_PC, 0));
	assert_string_equal(calls_of(STACKS_HOSTCALLS, pcs, 5), " - env.again*");
}

/* The outermost frame that is not the engine's, which in this host has a place and no name. */
static void test_host_frame(void **unused)
{
	uint64_t pcs[] = { code + GUEST_PC, code + ENTRY + 8 };

	(void)unused;
	assert_string_equal(calls_of(STACKS_HOSTCALLS, pcs, 2), " host+0x30f");
}

/* As the host gave it to the engine: the fake's functions start at each 256 bytes. */
static void test_given_name(void **unused)
{
	uint64_t pcs[] = { code + GUEST_PC, code + ENTRY + 8 };

	(void)unused;
	callbacks_add(HOST_PC + 0x200, "env", 3, "given", 5);
	assert_string_equal(calls_of(STACKS_HOSTCALLS, pcs, 2), " env.given");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_call_site, start),
		cmocka_unit_test_setup(test_outer_call, start),
		cmocka_unit_test_setup(test_host_frame, start),
		cmocka_unit_test_setup(test_given_name, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
