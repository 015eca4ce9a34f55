/* SPDX-License-Identifier: MIT */
/* lines_test.c - positions become the frames that LLVM gives; dead and damaged information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/lines/lines.h"
#include "preload/lines/sections.h"
#include "tests/unit/lines/fixture.h"

#include <errno.h>

enum { CODE = 10, CORE_MODULE = 1, COMPONENT = 4 };

static const char *const files[] = { "inline-4.wasm", "inline-5.wasm", "shapes.wasm",
				     "lines-only.wasm" };
static struct lines_place place;

/* ---- what LLVM says ---------------------------------------------------------------------------
 */

/* `NAME FILE:LINE:COLUMN|...` of PLACE, the leaf's line as LLVM has it where it has none. */
static void format_place(char *out, size_t size, bool has_line)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < place.frame_count && used < size; i++) {
		const struct lines_frame *frame = &place.frames[i];
		bool is_known = i != 0 || has_line;

		used += (size_t)snprintf(out + used, size - used, "%s%s %s:%u:%u",
					 i != 0 ? "|" : "",
					 frame->name != NULL ? frame->name : "??",
					 frame->file != NULL ? frame->file : "??",
					 is_known ? frame->line : 0, is_known ? frame->column : 0);
	}
}

/* Sets the column of a leaf without a line to 0, for we give the line before it. Its line: 0 or
 * not. */
static bool read_expected(char *expected)
{
	char *end = strchr(expected, '|'), *column, *line, *rest;

	if (end == NULL)
		end = expected + strlen(expected);
	for (column = end; column[-1] != ':'; column--)
		;
	for (line = column - 1; line[-1] != ':'; line--)
		;
	if (line[0] != '0')
		return true;
	rest = strdup(end);
	assert_non_null(rest);
	strcpy(column, "0");
	strcat(column, rest);
	free(rest);
	return false;
}

static void check_line(struct lines *lines, char *text, uint64_t code)
{
	char found[4096], *expected;
	uint64_t address = strtoull(text, &expected, 16);
	bool has_line;

	expected += strspn(expected, " ");
	expected[strcspn(expected, "\n")] = '\0';
	if (strncmp(expected, "??", 2) == 0) {
		int error = lines_find(lines, code + address, &place);

		assert_true(error == -ENOENT || place.frame_count == 0);
		return;
	}
	assert_int_equal(lines_find(lines, code + address, &place), 0);
	assert_false(place.is_damaged);
	has_line = read_expected(expected);
	/* without a line of its own: that of the row before it, in the same call and file, or none
	 */
	format_place(found, sizeof(found), has_line);
	assert_string_equal(found, expected);
}

/* All that LLVM says of NAME, asked of LINES, where NAME's code begins at CODE. */
static void check_all(struct lines *lines, const char *name, uint64_t code)
{
	char path[64];
	struct bytes golden;
	char *line, *rest = NULL;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s.symbolizer", name);
	golden = fixture_read(path);
	bytes_byte(&golden, 0);
	for (line = strtok_r((char *)golden.bytes, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest), count++) {
		char copy[4096];

		snprintf(copy, sizeof(copy), "%s", line);
		check_line(lines, copy, code);
	}
	assert_true(count > 50);
	free(golden.bytes);
}

static void agrees_with_llvm(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[64];
		struct bytes file = fixture_read(files[i]);
		struct lines *lines;
		size_t size;

		snprintf(path, sizeof(path), "tests/data/lines/%s", files[i]);
		lines = lines_open(path);
		assert_non_null(lines);
		assert_true(lines_has_debug(lines));
		check_all(lines, files[i], fixture_section(&file, CODE, NULL, &size));
		lines_close(lines);
		free(file.bytes);
	}
}

/* 0x52 from the code section on is in `mix`, in `twice`, in `run`. */
static void gives_names_lines_and_declarations(void **state)
{
	struct bytes file = fixture_read("inline-5.wasm");
	struct lines *lines = lines_copy(file.bytes, file.size);
	size_t size, code = fixture_section(&file, CODE, NULL, &size);

	(void)state;
	assert_non_null(lines);
	assert_int_equal(lines_find(lines, code + 0x48, &place), 0);
	assert_int_equal(place.core, 0);
	assert_int_equal(place.function, 0);
	assert_int_equal(place.frame_count, 3);
	assert_string_equal(place.frames[0].name, "mix");
	assert_string_equal(place.frames[0].file, "/src/inline.c");
	assert_int_equal(place.frames[0].line, 5);
	assert_int_equal(place.frames[0].start_line, 3);
	assert_string_equal(place.frames[1].name, "twice");
	assert_int_equal(place.frames[1].line, 13);
	assert_int_equal(place.frames[1].start_line, 10);
	assert_string_equal(place.frames[2].name, "run");
	assert_int_equal(place.frames[2].line, 38);
	assert_int_equal(place.frames[2].column, 7);
	lines_close(lines);
	free(file.bytes);
}

/* LLVM gives register traffic no line; a profile wants the line it belongs to. */
static void code_without_a_line_has_that_before_it(void **state)
{
	struct bytes file = fixture_read("inline-4.wasm");
	struct lines *lines = lines_copy(file.bytes, file.size);
	size_t size, code = fixture_section(&file, CODE, NULL, &size);

	(void)state;
	assert_int_equal(lines_find(lines, code + 0x18, &place), 0);
	assert_int_equal(place.frame_count, 1);
	assert_int_equal(place.frames[0].line, 37);
	/* in `mix` (5:4), and not a line of whoever called it */
	assert_int_equal(lines_find(lines, code + 0x4b, &place), 0);
	assert_int_equal(place.frame_count, 3);
	assert_int_equal(place.frames[0].line, 5);
	lines_close(lines);
	free(file.bytes);
}

static void positions_outside_of_code_have_no_place(void **state)
{
	struct bytes file = fixture_read("inline-4.wasm");
	struct lines *lines = lines_copy(file.bytes, file.size);
	size_t size, code = fixture_section(&file, CODE, NULL, &size);
	const uint64_t outside[] = { 0, 8, code - 1, code, code + size, file.size, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		assert_int_equal(lines_find(lines, outside[i], &place), -ENOENT);
	lines_close(lines);
	free(file.bytes);
}

/* ---- components -------------------------------------------------------------------------------
 */

static void begin_component(struct bytes *component)
{
	static const uint8_t preamble[] = { 0, 'a', 's', 'm', 0x0d, 0, 1, 0 };

	bytes_add(component, preamble, sizeof(preamble));
}

/* Positions count from the component's start, addresses from the right core module's code. */
static void finds_core_modules_in_components(void **state)
{
	struct bytes first = fixture_read("inline-4.wasm"), second = fixture_read("shapes.wasm");
	struct bytes outer = { 0 }, inner = { 0 };
	size_t size, first_at, second_at;
	struct lines *lines;

	(void)state;
	begin_component(&inner);
	bytes_section(&inner, CORE_MODULE, &second);
	begin_component(&outer);
	bytes_custom(&outer, "padding", files, sizeof(files));
	bytes_section(&outer, CORE_MODULE, &first);
	first_at = outer.size - first.size;
	bytes_section(&outer, COMPONENT, &inner);
	second_at = outer.size - second.size;
	lines = lines_copy(outer.bytes, outer.size);
	assert_non_null(lines);
	for (int round = 0; round < 2; round++) { /* to and fro */
		check_all(lines, "inline-4.wasm",
			  first_at + fixture_section(&first, CODE, NULL, &size));
		assert_int_equal(place.core, 0);
		check_all(lines, "shapes.wasm",
			  second_at + fixture_section(&second, CODE, NULL, &size));
		assert_int_equal(place.core, 1);
	}
	lines_close(lines);
	free(outer.bytes);
	free(inner.bytes);
	free(first.bytes);
	free(second.bytes);
}

/* ---- dead code --------------------------------------------------------------------------------
 */

/* Replaces every word FROM of the debug sections. Returns how many there were. */
static size_t replace_words(struct bytes *file, uint32_t from, uint32_t to)
{
	size_t count = 0;

	for (int i = 0; i < DEBUG_COUNT; i++) {
		size_t size, at;

		if (i != DEBUG_INFO && i != DEBUG_LINE)
			continue;
		at = fixture_section(file, 0, sections_names[i], &size);
		for (size_t end = at + size - 4; at <= end; at++) {
			if (memcmp(file->bytes + at, &from, 4) != 0)
				continue;
			memcpy(file->bytes + at, &to, 4);
			count++;
			at += 3;
		}
	}
	return count;
}

/*
 * The linker drops `dead`, and marks its addresses -1; older ones left 0, over the code of `run`;
 * others the end of the address space for ranges. None of it may change an answer.
 */
static void dead_functions_are_never_shown(void **state)
{
	static const uint32_t marks[] = { 0, 0xfffffffe, 0x80000000 };
	struct bytes file = fixture_read("inline-4.wasm");
	size_t size, code = fixture_section(&file, CODE, NULL, &size);
	uint32_t before = UINT32_MAX;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		struct lines *lines;

		assert_true(replace_words(&file, before, marks[i]) >= 2 || before == 0);
		lines = lines_copy(file.bytes, file.size);
		assert_non_null(lines);
		check_all(lines, "inline-4.wasm", code);
		lines_close(lines);
		free(file.bytes);
		file = fixture_read("inline-4.wasm");
	}
	free(file.bytes);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* Every position of the code can be asked for, and is in a function by name. */
static size_t ask_everywhere(const struct bytes *file, size_t *damaged)
{
	struct lines *lines = lines_copy(file->bytes, file->size);
	size_t size, code = fixture_section(file, CODE, NULL, &size), known = 0;

	assert_non_null(lines);
	*damaged = 0;
	for (uint64_t at = code; at < code + size; at++) {
		if (lines_find(lines, at, &place) != 0)
			continue;
		known++;
		*damaged += place.is_damaged;
		for (size_t i = 0; i < place.frame_count; i++) {
			assert_true(place.frames[i].name == NULL ||
				    place.frames[i].name[0] != '\0');
			assert_true(place.frames[i].file == NULL ||
				    place.frames[i].file[0] != '\0');
		}
	}
	lines_close(lines);
	return known;
}

static void damaged_sections_leave_names(void **state)
{
	static const int damaged[] = { DEBUG_INFO, DEBUG_ABBREV, DEBUG_LINE };

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
			struct bytes file = fixture_read(files[f]);
			size_t size, problems, whole = ask_everywhere(&file, &problems);
			size_t at = fixture_section(&file, 0, sections_names[damaged[i]], &size);

			assert_true(whole > 200);
			assert_int_equal(problems, 0);
			memset(file.bytes + at, 0xff, size);
			assert_int_equal(ask_everywhere(&file, &problems), whole);
			/* the linker's own function has no debug information, damaged or not */
			assert_in_range(problems, whole - 2, whole);
			free(file.bytes);
		}
	}
}

/* One byte changed, anywhere in the debug sections. */
static void survives_any_changed_byte(void **state)
{
	struct bytes whole = fixture_read("inline-5.wasm");
	size_t size, first = fixture_section(&whole, 0, ".debug_abbrev", &size), known, problems;

	(void)state;
	known = ask_everywhere(&whole, &problems);
	for (size_t at = first; at < whole.size; at++) {
		uint8_t before = whole.bytes[at];

		whole.bytes[at] ^= (uint8_t)(1 + at % 255);
		assert_int_equal(ask_everywhere(&whole, &problems), known);
		whole.bytes[at] = before;
	}
	free(whole.bytes);
}

/* ---- references -------------------------------------------------------------------------------
 */

static void tells_references(void **state)
{
	static const char url[] = "\x12https://a.b/c.map!", path[] = "\x09/dev/zero";
	struct bytes file = { 0 };
	char text[LINES_REFERENCE_MAX];
	struct lines *lines;

	(void)state;
	bytes_add(&file, "\0asm\1\0\0\0", 8);
	bytes_custom(&file, "sourceMappingURL", url, sizeof(url) - 1);
	bytes_custom(&file, "external_debug_info", path, sizeof(path) - 1);
	lines = lines_copy(file.bytes, file.size);
	assert_non_null(lines);
	assert_false(lines_has_debug(lines));
	assert_true(lines_reference(lines, LINES_SOURCE_MAP, text));
	assert_string_equal(text, "https://a.b/c.map!");
	assert_true(lines_reference(lines, LINES_EXTERNAL_DEBUG_INFO, text));
	assert_string_equal(text, "/dev/zero");
	lines_close(lines);
	free(file.bytes);
}

static void refuses_what_is_not_wasm(void **state)
{
	(void)state;
	errno = 0;
	assert_null(lines_copy((const uint8_t *)"(module)", 8));
	assert_int_equal(errno, EINVAL);
	assert_null(lines_copy((const uint8_t *)"", 0));
	assert_int_equal(errno, EINVAL);
	assert_null(lines_open("/nowhere/app.wasm"));
	assert_int_equal(errno, ENOENT);
	assert_null(lines_open("tests"));
	assert_int_equal(errno, EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_llvm),
		cmocka_unit_test(gives_names_lines_and_declarations),
		cmocka_unit_test(code_without_a_line_has_that_before_it),
		cmocka_unit_test(positions_outside_of_code_have_no_place),
		cmocka_unit_test(finds_core_modules_in_components),
		cmocka_unit_test(dead_functions_are_never_shown),
		cmocka_unit_test(damaged_sections_leave_names),
		cmocka_unit_test(survives_any_changed_byte),
		cmocka_unit_test(tells_references),
		cmocka_unit_test(refuses_what_is_not_wasm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
