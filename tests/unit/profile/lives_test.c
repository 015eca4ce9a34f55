/* SPDX-License-Identifier: MIT */
/* lives_test.c - when instances begin and end, as chunks tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/lives.h"

enum { START_NS = 1000, KNOWN = 100, MODULE = 7 };

static struct instance_info infos[LIVES_MAX + 10];
static bool is_gone[LIVES_MAX + 10];

bool instance_get(uint32_t id, struct instance_info *info)
{
	*info = infos[id];
	return !is_gone[id];
}

static void begin(struct lives *lives, uint32_t id, uint32_t name)
{
	lives_begin(lives, &infos[id], MODULE, name);
}

static struct chunk next(struct lives *lives, size_t known, uint64_t now_ns)
{
	struct chunk chunk = { 0 };

	lives_fill(lives, &chunk, known, START_NS, now_ns);
	return chunk;
}

static int start(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(infos); i++) {
		infos[i] = (struct instance_info){ .id = i, .created_ns = 2000 + i };
		is_gone[i] = false;
	}
	return 0;
}

static void tells_the_beginning_and_the_end(void **state)
{
	struct lives lives = { 0 };
	struct chunk chunk;

	(void)state;
	begin(&lives, 1, 20);
	begin(&lives, 1, 20); /* again */
	begin(&lives, 2, 21);
	chunk = next(&lives, KNOWN, 5000);
	assert_int_equal(chunk.life_count, 2);
	assert_int_equal(chunk.lives[0].module, MODULE);
	assert_int_equal(chunk.lives[0].instance, 20);
	assert_int_equal(chunk.lives[0].start_ns, 1001);
	assert_int_equal(chunk.lives[0].end_ns, 0);
	assert_int_equal(next(&lives, KNOWN, 6000).life_count, 0);
	infos[2].ended_ns = 6500;
	chunk = next(&lives, KNOWN, 7000);
	assert_int_equal(chunk.life_count, 1);
	assert_int_equal(chunk.lives[0].instance, 21);
	assert_int_equal(chunk.lives[0].end_ns, 5500);
	is_gone[1] = true; /* when, nobody knows any more */
	chunk = next(&lives, KNOWN, 8000);
	assert_int_equal(chunk.life_count, 1);
	assert_int_equal(chunk.lives[0].end_ns, 7000);
	assert_int_equal(lives.count, 0);
	lives_fini(&lives);
}

static void waits_for_the_texts(void **state)
{
	struct lives lives = { 0 };

	(void)state;
	begin(&lives, 1, 20);
	assert_int_equal(next(&lives, 20, 5000).life_count, 0);
	assert_int_equal(next(&lives, 21, 6000).life_count, 1);
	lives_fini(&lives);
}

/* It was there before, and in the file before it was told already. */
static void tells_another_recording_anew(void **state)
{
	struct lives lives = { 0 };
	struct chunk chunk;

	(void)state;
	infos[1].created_ns = START_NS - 500;
	begin(&lives, 1, 20);
	assert_int_equal(next(&lives, KNOWN, 5000).lives[0].start_ns, 0);
	lives_restart(&lives);
	chunk = next(&lives, KNOWN, 6000);
	assert_int_equal(chunk.life_count, 1);
	assert_int_equal(chunk.lives[0].end_ns, 0);
	lives_fini(&lives);
}

static void is_bounded(void **state)
{
	struct lives lives = { 0 };

	(void)state;
	for (uint32_t i = 1; i < LIVES_MAX + 10; i++)
		begin(&lives, i, 20 + i);
	assert_int_equal(lives.count, LIVES_MAX);
	lives_fini(&lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tells_the_beginning_and_the_end, start),
		cmocka_unit_test_setup(waits_for_the_texts, start),
		cmocka_unit_test_setup(tells_another_recording_anew, start),
		cmocka_unit_test_setup(is_bounded, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
