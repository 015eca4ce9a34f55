/* SPDX-License-Identifier: MIT */
/* wasmtime_layout_test.c - the table against what was measured on real engines; gaps stay gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/runtime/wasmtime_layout.h"

static const struct {
	int version;
	uint16_t exit_fp, exit_pc, entry_fp;
	bool is_trampoline;
} measured[] = {
	{ 14, 24, 32, 40, false }, { 25, 24, 32, 40, false }, { 27, 24, 32, 40, false },
	{ 36, 40, 48, 56, false }, { 37, 40, 48, 56, true },  { 38, 40, 48, 64, true },
	{ 40, 40, 48, 64, true },  { 43, 48, 56, 72, true },  { 47, 48, 56, 72, true },
	{ 50, 48, 56, 72, true },
};

static void measured_versions(void **context)
{
	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++) {
		struct exit_layout layout = { 0 };

		assert_true(runtime_layout_fill(measured[i].version, &layout));
		assert_int_equal(layout.exit_fp, measured[i].exit_fp);
		assert_int_equal(layout.exit_pc, measured[i].exit_pc);
		assert_int_equal(layout.entry_fp, measured[i].entry_fp);
		assert_int_equal(layout.exit_fp_is_trampoline, measured[i].is_trampoline);
		assert_int_equal(layout.offset, -1);
		assert_int_equal(layout.candidate, -1);
		assert_false(layout.hopeless);
	}
}

static void unknown_versions(void **context)
{
	static const int versions[] = { -1, 0, 1, 13, 51, 100 };

	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct exit_layout layout = { .exit_fp = 9 };

		assert_false(runtime_layout_fill(versions[i], &layout));
		assert_int_equal(layout.exit_fp, 9);
	}
}

/* Contexts: only what somebody has looked at, whatever a version calls itself. */
static void contexts(void **context)
{
	static const char *const known[] = { "25", "25.0.0", "36.0.2", "40", "43", "47", "50.0.1" };
	static const char *const unknown[] = { "",
					       "24",
					       "26.0.1",
					       "35",
					       "51",
					       "99",
					       "wip",
					       "-1",
					       "x36",
					       "0x24",
					       "999999999999999999999" };
	struct context_layout layout;

	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_true(runtime_contexts_fill(known[i], &layout));
		assert_int_equal(layout.self, -16);
		assert_int_equal(layout.record, 8);
		assert_int_equal(layout.types, i < 2 ? 0x50 : 0x28);
		assert_int_equal(layout.entry_fp, i < 2 ? 40 : i == 2 ? 56 : i == 3 ? 64 : 72);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		layout.entry_fp = 9;
		assert_false(runtime_contexts_fill(unknown[i], &layout));
		assert_int_equal(layout.entry_fp, 9);
	}
	assert_true(runtime_has_contexts("wasmtime"));
	assert_false(runtime_has_contexts("wasmer"));
	assert_false(runtime_has_contexts(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measured_versions),
		cmocka_unit_test(unknown_versions),
		cmocka_unit_test(contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
