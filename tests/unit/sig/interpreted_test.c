/* SPDX-License-Identifier: MIT */
/* interpreted_test.c - frames of an interpreter carry the word that says whose they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>

#include "preload/sig/interpreted.h"
#include "preload/sig/reach.h"
#include "preload/sig/sample.h"
#include "preload/sig/walk.h"
#include "tests/unit/sig/synthetic.h"

enum { BELOW_FP = 16 };

static struct synthetic s;
static struct reach reach;
static uint64_t pcs[64];
static struct walk walk;
static uintptr_t outer_fp;

/* host -> trampoline -> outer, which is the interpreter's, with OBJECT in its frame -> leaf */
static void build(uint64_t object)
{
	synthetic_init(&s);
	walk = synthetic_walk(&s, &reach, pcs, ARRAY_SIZE(pcs));
	synthetic_call(&s, 0x1234, 4);
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 4);
	outer_fp = s.fp;
	*(uint64_t *)(outer_fp - BELOW_FP) = object;
	synthetic_call(&s, synthetic_pc(&s, CODE_OUTER), 2);
}

static enum walk_end go(int offset, uintptr_t fp)
{
	return walk_interrupted(&walk, synthetic_pc(&s, offset), fp, synthetic_sp(&s), true);
}

static void before_any_is_known(void **unused)
{
	(void)unused;
	assert_false(interpreted_are_there());
	build(0x7001);
	assert_int_equal(go(CODE_LEAF, s.fp), WALK_COMPLETE);
	assert_int_equal(walk.count, 3);
}

static void callers(void **unused)
{
	(void)unused;
	build(0x7001);
	interpreted_add(synthetic_pc(&s, CODE_OUTER - 0x10), synthetic_pc(&s, CODE_OUTER + 0x10),
			BELOW_FP);
	assert_true(interpreted_are_there());
	assert_int_equal(go(CODE_LEAF, s.fp), WALK_COMPLETE);
	assert_int_equal(walk.count, 4);
	assert_int_equal(pcs[1], synthetic_pc(&s, CODE_OUTER));
	assert_true(sample_is_marked(pcs[2]));
	assert_int_equal(pcs[2] & (SAMPLE_MARK - 1), 0x7001);
	assert_int_equal(pcs[3], synthetic_pc(&s, CODE_TRAMPOLINE));
	assert_false(sample_is_marked(pcs[1]));
	assert_false(sample_is_marked(UINT64_MAX));
}

static void the_leaf(void **unused)
{
	(void)unused;
	build(0x9001);
	interpreted_add(synthetic_pc(&s, CODE_LEAF), synthetic_pc(&s, CODE_LEAF + 8), BELOW_FP);
	s.top = (size_t)((uint64_t *)outer_fp - s.stack) - 4;
	assert_int_equal(go(CODE_LEAF, outer_fp), WALK_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(pcs[1], SAMPLE_MARK | 0x9001);
	assert_int_equal(pcs[2], synthetic_pc(&s, CODE_TRAMPOLINE));
}

/* A frame pointer that is none, or a word that is not readable: no word, and no fault. */
static void nonsense(void **unused)
{
	struct reach none = { .page = 1 };

	(void)unused;
	build(0x7001);
	assert_int_equal(interpreted_word(&none, synthetic_pc(&s, CODE_LEAF), 0x18), 0);
	assert_int_equal(interpreted_word(&none, synthetic_pc(&s, CODE_LEAF), 8), 0);
	assert_int_equal(interpreted_word(&reach, synthetic_pc(&s, CODE_LEAF), outer_fp + 3), 0);
	assert_int_equal(interpreted_word(&reach, synthetic_pc(&s, CODE_INNER), outer_fp), 0);
	walk.max = 1;
	assert_int_equal(go(CODE_LEAF, outer_fp), WALK_FULL);
	assert_int_equal(walk.count, 1);
}

static void is_bounded(void **unused)
{
	(void)unused;
	for (uintptr_t i = 0; i < 2 * INTERPRETED_MAX; i++)
		interpreted_add(16 * i, 16 * i + 8, BELOW_FP);
	build(0x7001);
	/* the newest stay */
	assert_int_equal(interpreted_word(&reach, 16 * (2 * INTERPRETED_MAX - 1), outer_fp),
			 SAMPLE_MARK | 0x7001);
	assert_int_equal(interpreted_word(&reach, 16, outer_fp), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_any_is_known),
		cmocka_unit_test(callers),
		cmocka_unit_test(the_leaf),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
