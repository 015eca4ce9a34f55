/* SPDX-License-Identifier: MIT */
/*
 * match_test.c - what a wasm file is the file of, and above all what it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/cursor.h"
#include "symtab/match.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/module_fixture.h"

/* ---- files that are made of others ---------------------------------------------------------- */

static struct wasmbin *parse(const struct bytes *bytes)
{
	struct wasmbin *bin = wasmbin_parse_bodies(bytes->bytes, bytes->size);

	assert_non_null(bin);
	return bin;
}

static struct wasmbin *parse_file(const char *name)
{
	struct bytes file = bytes_of_file(name);
	struct wasmbin *bin = parse(&file);

	bytes_free(&file);
	return bin;
}

/* WASM without its custom sections, and with a new one of SIZE bytes in front of the rest. */
static struct bytes stripped(const struct bytes *wasm, size_t size)
{
	struct cursor cursor = cursor_of(wasm->bytes, wasm->size);
	struct bytes out = { 0 }, body = { 0 };

	bytes_add(&out, cursor_bytes(&cursor, 8), 8);
	if (size > 0) {
		bytes_name(&body, "x");
		while (body.size < size)
			bytes_byte(&body, 0);
		wasm_section(&out, 0, &body);
	}
	while (cursor_left(&cursor) > 0) {
		size_t start = cursor.at;
		uint8_t id = cursor_u8(&cursor);

		cursor_bytes(&cursor, cursor_uleb32(&cursor));
		if (id != 0)
			bytes_add(&out, wasm->bytes + start, cursor.at - start);
	}
	return out;
}

/* Core module NUMBER of the component that has it at its top level. */
static struct bytes core_of(const struct bytes *component, unsigned int number)
{
	struct cursor cursor = cursor_of(component->bytes, component->size);
	struct bytes out = { 0 };

	cursor_bytes(&cursor, 8);
	while (cursor_left(&cursor) > 0) {
		uint8_t id = cursor_u8(&cursor);
		uint32_t size = cursor_uleb32(&cursor);
		const uint8_t *body = cursor_bytes(&cursor, size);

		if (id == 1 && number-- == 0)
			bytes_add(&out, body, size);
	}
	assert_true(out.size > 0);
	return out;
}

/* COUNT functions; function NUMBER has one instruction more (`nop`). */
static struct bytes small_wasm(unsigned int count, unsigned int number)
{
	struct bytes wasm = { 0 }, code = { 0 };
	unsigned int i;

	bytes_add(&wasm, WASM_PREAMBLE, 8);
	wasm_functions(&wasm, count);
	bytes_uleb(&code, count);
	for (i = 0; i < count; i++) {
		bytes_uleb(&code, i == number ? 4 : 3);
		bytes_add(&code, "\0\1\1", i == number ? 3 : 2);
		bytes_byte(&code, 0x0b);
	}
	wasm_section(&wasm, 10, &code);
	return wasm;
}

static void check(const struct match *match, enum match_strength strength, const char *why)
{
	if (match->strength != strength || strstr(match->why, why) == NULL)
		fail_msg("%s: %s; not %s: %s", match_strength_name(match->strength), match->why,
			 match_strength_name(strength), why);
}

/* ---- images --------------------------------------------------------------------------------- */

static const char *const images[] = { "guest-25.cwasm", "guest-36.cwasm", "guest-43.cwasm",
				      "guest-50.cwasm", "guest-49-nosymbols.cwasm" };

static void finds_the_file_of_an_image(void **state)
{
	struct wasmbin *file = parse_file("guest.wasm");
	struct match match;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(images); i++) {
		struct module *module = module_of_file(images[i], NULL, NULL);

		match_module(file, module, &match);
		check(&match, MATCH_BY_LAYOUT, "7 functions: 7 by position, 0 by body, 5 by name");
		assert_int_equal(match.cores[0].core, 0);
		assert_true(match.cores[0].shift_is_known);
		assert_int_equal(match.cores[0].shift, 0);
		module_unref(module);
		module = module_of_file(images[i], "guest.wasm", NULL);
		match_module(file, module, &match);
		check(&match, MATCH_EXACT, "the same bytes");
		module_unref(module);
	}
	wasmbin_unref(file);
}

static void finds_a_stripped_and_shifted_file(void **state)
{
	struct bytes file = bytes_of_file("guest.wasm"), moved = stripped(&file, 1000);
	struct wasmbin *bin = parse(&moved);
	struct match match;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(images); i++) {
		struct module *module = module_of_file(images[i], NULL, NULL);

		match_module(bin, module, &match);
		check(&match, MATCH_BY_LAYOUT, "7 by position, 0 by body, 0 by name");
		assert_true(match.cores[0].shift_is_known);
		assert_int_equal(match.cores[0].shift, -1003);
		module_unref(module);
		/* its bytes were seen: the code is the same, wherever it lies */
		module = module_of_file(images[i], "guest.wasm", NULL);
		match_module(bin, module, &match);
		check(&match, MATCH_EXACT, "the same code section");
		assert_int_equal(match.cores[0].shift, -1003);
		module_unref(module);
	}
	wasmbin_unref(bin);
	bytes_free(&file);
	bytes_free(&moved);
}

/* Replaces TEXT, which is in the file as a name. */
static void rename_in(struct bytes *file, const char *text, const char *other)
{
	uint8_t *at = memmem(file->bytes, file->size, text, strlen(text));

	assert_non_null(at);
	memcpy(at, other, strlen(other));
}

static void refuses_another_build(void **state)
{
	struct bytes file = bytes_of_file("guest.wasm");
	struct module *module = module_of_file("guest-50.cwasm", NULL, NULL);
	struct wasmbin *bin;
	struct match match;

	(void)state;
	rename_in(&file, "leaf", "loaf");
	bin = parse(&file);
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "function[2] `loaf` is `leaf` in what ran");
	wasmbin_unref(bin);
	bytes_free(&file);
	/* the size of leaf's body: its last byte is the next function's, whose own are then too few
	 */
	file = bytes_of_file("guest.wasm");
	assert_memory_equal(file.bytes + 0x9a, "\x01\x01\x7f\x03\x40", 5);
	file.bytes[0x99]--;
	bin = parse(&file);
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "function[2] `leaf` ");
	wasmbin_unref(bin);
	bytes_free(&file);
	module_unref(module);
}

static void refuses_other_counts(void **state)
{
	struct module *module = module_of_file("guest-50.cwasm", NULL, NULL);
	struct bytes small = small_wasm(3, 9), large = small_wasm(12, 99);
	struct wasmbin *bin = parse(&small);
	struct match match;

	(void)state;
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "function[2] is shorter than what ran");
	wasmbin_unref(bin);
	bin = parse(&large);
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "function[2] is shorter than what ran");
	wasmbin_unref(bin);
	bytes_free(&small);
	bytes_free(&large);
	module_unref(module);
}

/* ---- components ----------------------------------------------------------------------------- */

static const char *const components[] = { "component-36.cwasm", "component-43.cwasm",
					  "component-50.cwasm" };

static void finds_the_file_of_a_component(void **state)
{
	struct wasmbin *file = parse_file("component.wasm");
	struct match match;
	size_t i;
	unsigned int core;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(components); i++) {
		struct module *module = module_of_file(components[i], NULL, NULL);

		match_module(file, module, &match);
		if (match.strength == MATCH_NONE)
			fail_msg("%s: %s", components[i], match.why);
		for (core = 0; core < wasmbin_core_count(file); core++) {
			assert_int_equal(match.cores[core].core, core);
			assert_int_equal(match.cores[core].shift, 0);
		}
		module_unref(module);
	}
	wasmbin_unref(file);
}

static void finds_a_core_module_in_its_component(void **state)
{
	struct bytes file = bytes_of_file("component.wasm"), core = core_of(&file, 2);
	struct wasmbin *whole = parse(&file), *bin = parse(&core);
	struct module *module = module_of_file("component-50.cwasm", NULL, NULL);
	uint64_t inside, alone, end;
	struct match match;

	(void)state;
	match_module(bin, module, &match);
	check(&match, MATCH_BY_LAYOUT, "1 by name");
	assert_int_equal(match.cores[0].core, 3); /* the nested one comes before it */
	assert_true(wasmbin_body(whole, 3, 2, &inside, &end));
	assert_true(wasmbin_body(bin, 0, 2, &alone, &end));
	assert_int_equal(match.cores[0].shift, inside - alone);
	module_unref(module);
	match_wasm(bin, whole, &match);
	check(&match, MATCH_EXACT, "the same code section");
	assert_int_equal(match.cores[0].core, 3);
	assert_int_equal(match.cores[0].shift, inside - alone);
	/* a whole component is not one of its parts */
	match_wasm(whole, bin, &match);
	check(&match, MATCH_NONE, "the file has 4 core modules, what ran 1");
	wasmbin_unref(bin);
	wasmbin_unref(whole);
	bytes_free(&core);
	bytes_free(&file);
}

static void refuses_another_component(void **state)
{
	struct bytes file = bytes_of_file("component.wasm");
	struct module *module = module_of_file("component-50.cwasm", NULL, NULL);
	struct wasmbin *bin = parse_file("guest.wasm");
	struct match match;

	(void)state;
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "none of its 4 core modules");
	wasmbin_unref(bin);
	rename_in(&file, "last:both", "last:bath");
	bin = parse(&file);
	match_module(bin, module, &match);
	check(&match, MATCH_NONE, "function[2] `last:bath` is `last:both` in what ran");
	assert_int_equal(match.cores[0].core, MATCH_NO_CORE);
	wasmbin_unref(bin);
	bytes_free(&file);
	module_unref(module);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void compares_files(void **state)
{
	struct bytes plain = small_wasm(5, 99), moved = stripped(&plain, 300), more = { 0 };
	struct wasmbin *bin = parse(&plain), *other = parse(&moved);
	struct match match;

	(void)state;
	match_wasm(bin, bin, &match);
	check(&match, MATCH_EXACT, "the same bytes");
	match_wasm(bin, other, &match);
	check(&match, MATCH_EXACT, "the same code section");
	assert_int_equal(match.cores[0].shift, 303);
	wasmbin_unref(other);
	more = small_wasm(5, 3);
	other = parse(&more);
	match_wasm(bin, other, &match);
	check(&match, MATCH_NONE, "function[3] has another body in what ran");
	wasmbin_unref(other);
	bytes_free(&more);
	more = small_wasm(6, 99);
	other = parse(&more);
	match_wasm(bin, other, &match);
	check(&match, MATCH_NONE, "function[5] is only in what ran: 5 functions, 6 in what ran");
	match_wasm(other, bin, &match);
	check(&match, MATCH_NONE, "function[5] is only in the file: 6 functions, 5 in what ran");
	wasmbin_unref(other);
	wasmbin_unref(bin);
	bytes_free(&more);
	bytes_free(&moved);
	bytes_free(&plain);
}

/* ---- recordings ----------------------------------------------------------------------------- */

static const char middle[] = "_ZN5guest6middle17h0123456789abcdefE";

static void finds_the_file_of_a_recording(void **state)
{
	static const struct match_place places[] = {
		{ .function = 3, .name = middle, .position = 190 },
		{ .function = 2, .name = "leaf", .position = 181 },
		{ .function = 2, .name = "leaf", .position = 155 },
	};
	struct match_recorded recorded = { .identity = { .defined_functions = 7 },
					   .places = places,
					   .place_count = 3 };
	struct wasmbin *file = parse_file("guest.wasm");
	struct match match;

	(void)state;
	match_recorded(file, &recorded, &match);
	check(&match, MATCH_BY_LAYOUT, "7 functions: 2 by position, 0 by body, 2 by name");
	/* two functions alone say nothing where their number is another */
	recorded.identity.defined_functions = 8;
	match_recorded(file, &recorded, &match);
	check(&match, MATCH_NONE, "7 functions, 8 in what ran");
	/* nor what has the same places by chance */
	recorded.identity.defined_functions = 7;
	memset(recorded.identity.code, 'a', 64);
	match_recorded(file, &recorded, &match);
	check(&match, MATCH_NONE, "its code section is another");
	wasmbin_identity(file, &recorded.identity);
	recorded.identity.wasm[0] ^= 1;
	recorded.identity.code_offset += 12;
	match_recorded(file, &recorded, &match);
	check(&match, MATCH_EXACT, "the same code section");
	assert_int_equal(match.cores[0].shift, 12);
	recorded.identity.wasm[0] ^= 1;
	match_recorded(file, &recorded, &match);
	check(&match, MATCH_EXACT, "the same bytes");
	wasmbin_unref(file);
}

static void refuses_places_of_another_module(void **state)
{
	static const struct match_place name[] = {
		{ .function = 2, .name = "lead", .position = 155 }
	};
	static const struct match_place far[] = { { .function = 2, .position = 155 },
						  { .function = 4, .position = 260 } };
	static const struct match_place one[] = { { .function = 4, .position = 9000 } };
	static const struct match_place import[] = { { .function = 1, .position = UINT64_MAX } };
	static const struct match_place beyond[] = { { .function = 9, .position = UINT64_MAX } };
	static const struct {
		const struct match_place *places;
		size_t count;
		const char *why;
	} cases[] = {
		{ name, 1, "function[2] `leaf` is `lead` in what ran" },
		{ far, 2, "function[4] `_RNvCs1234_5guest5outer` is not where it was" },
		{ one, 1, "too little is known of what ran: positions of 1, names of 0 of 7" },
		{ import, 1, "function[1] `host.unnamed` is imported in the file" },
		{ beyond, 1, "function[9] is not in the file" },
		{ NULL, 0, "too little is known" },
	};
	struct wasmbin *file = parse_file("guest.wasm");
	struct match match;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct match_recorded recorded = { .identity = { .defined_functions = 7 },
						   .places = cases[i].places,
						   .place_count = cases[i].count };

		match_recorded(file, &recorded, &match);
		check(&match, MATCH_NONE, cases[i].why);
	}
	wasmbin_unref(file);
}

static void reports_short_memory(void **state)
{
	struct match_recorded recorded = { .place_count = 0 };
	struct wasmbin *file;
	struct match match;

	(void)state;
	if (!failing_works)
		skip();
	file = parse_file("guest.wasm");
	failing_start(1);
	match_recorded(file, &recorded, &match);
	assert_true(failing_stop());
	check(&match, MATCH_NONE, "out of memory");
	wasmbin_unref(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_file_of_an_image),
		cmocka_unit_test(finds_a_stripped_and_shifted_file),
		cmocka_unit_test(refuses_another_build),
		cmocka_unit_test(refuses_other_counts),
		cmocka_unit_test(finds_the_file_of_a_component),
		cmocka_unit_test(finds_a_core_module_in_its_component),
		cmocka_unit_test(refuses_another_component),
		cmocka_unit_test(compares_files),
		cmocka_unit_test(finds_the_file_of_a_recording),
		cmocka_unit_test(refuses_places_of_another_module),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
