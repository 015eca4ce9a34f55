/* SPDX-License-Identifier: MIT */
/* apart_test.c - what the child answers is what lines_find() says; it may die. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/lines/apart.h"
#include "tests/unit/lines/fixture.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct lines_place place;

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void expect_text(const char *found, const char *expected)
{
	if (expected == NULL)
		assert_null(found);
	else
		assert_string_equal(found, expected);
}

static void expect_answer(const struct apart_answer *answer, int error)
{
	assert_int_equal(answer->is_known, error == 0);
	assert_int_equal(answer->is_damaged, place.is_damaged);
	assert_int_equal(answer->frame_count, place.frame_count);
	if (error == 0)
		assert_int_equal(answer->function, place.function);
	for (size_t i = 0; i < place.frame_count; i++) {
		expect_text(answer->frames[i].name, place.frames[i].name);
		expect_text(answer->frames[i].file, place.frames[i].file);
		assert_int_equal(answer->frames[i].line, place.frames[i].line);
		assert_int_equal(answer->frames[i].column, place.frames[i].column);
		assert_int_equal(answer->frames[i].start_line, place.frames[i].start_line);
	}
}

static void answers_as_lines_find_does(void **state)
{
	struct bytes file = fixture_read("shapes.wasm");
	struct lines *lines = lines_copy(file.bytes, file.size);
	uint64_t *positions = calloc(file.size, sizeof(*positions));
	int before = count_descriptors();
	struct apart apart;

	(void)state;
	for (size_t i = 0; i < file.size; i++)
		positions[i] = i;
	assert_int_equal(apart_find(&apart, lines, positions, file.size), 0);
	assert_string_equal(apart.problem, "");
	assert_int_equal(apart.count, file.size);
	for (size_t i = 0; i < file.size; i++)
		expect_answer(&apart.answers[i], lines_find(lines, i, &place));
	apart_free(&apart);
	assert_int_equal(apart_find(&apart, lines, positions, 0), 0);
	apart_free(&apart);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	free(positions);
	lines_close(lines);
	free(file.bytes);
}

/* The child has no memory where the last positions are: it dies of a fault, as libdw might. */
static void a_crash_costs_what_was_not_answered(void **state)
{
	enum { PAGE = 4096, COUNT = 2 * PAGE / sizeof(uint64_t) };
	struct bytes file = fixture_read("inline-4.wasm");
	struct lines *lines = lines_copy(file.bytes, file.size);
	size_t size, code = fixture_section(&file, 10, NULL, &size), known = 0;
	uint64_t *positions =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct apart apart;

	(void)state;
	assert_true(positions != MAP_FAILED);
	for (size_t i = 0; i < COUNT; i++)
		positions[i] = code + 0x48;
	assert_int_equal(madvise((uint8_t *)positions + PAGE, PAGE, MADV_DONTFORK), 0);
	assert_int_equal(apart_find(&apart, lines, positions, COUNT), 0);
	assert_true(apart.problem[0] != '\0');
	assert_non_null(strstr(apart.problem, "reading it"));
	for (size_t i = 0; i < COUNT; i++) {
		known += apart.answers[i].is_known;
		assert_true(apart.answers[i].frame_count == 0 || apart.answers[i].frame_count == 3);
		assert_int_equal(apart.answers[i].is_known, apart.answers[i].frame_count == 3);
	}
	assert_true(known <= COUNT / 2);
	apart_free(&apart);
	munmap(positions, 2 * PAGE);
	lines_close(lines);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_as_lines_find_does),
		cmocka_unit_test(a_crash_costs_what_was_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
