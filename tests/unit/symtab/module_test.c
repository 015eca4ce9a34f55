/* SPDX-License-Identifier: MIT */
/*
 * module_test.c - modules of real images: identity, functions, kinds, positions, damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/module_fixture.h"

struct kinds {
	unsigned int of[5];
};

static struct kinds count_kinds(const struct module *module)
{
	struct kinds kinds = { { 0 } };
	const struct symbol *symbol;
	uint64_t offset = 0;

	while (offset < 0x10000) {
		symbol = module_find(module, offset);
		if (symbol != NULL)
			kinds.of[symbol->kind]++;
		offset = symbol != NULL ? symbol->end : offset + 1;
	}
	return kinds;
}

static void knows_functions_of_every_version(void **state)
{
	static const struct {
		const char *file, *version;
		unsigned int entries, trampolines, builtins;
	} cases[] = {
		{ "guest-25.cwasm", "25.0.0", 6, 4, 4 },
		{ "guest-36.cwasm", "36.0.0", 6, 4, 4 },
		{ "guest-43.cwasm", "43", 6, 4, 4 },
		{ "guest-50.cwasm", "50", 6, 4, 3 },
		{ "guest-49-nosymbols.cwasm", "49", 6, 4, 3 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct module *module = module_of_file(cases[i].file, NULL, NULL);
		struct kinds kinds = count_kinds(module);

		assert_string_equal(module_engine(module), "wasmtime");
		assert_string_equal(module_engine_version(module), cases[i].version);
		assert_int_equal(module_function_count(module), 7);
		assert_int_equal(kinds.of[SYMBOL_GUEST], 7);
		assert_int_equal(kinds.of[SYMBOL_ENTRY], cases[i].entries);
		assert_int_equal(kinds.of[SYMBOL_TRAMPOLINE], cases[i].trampolines);
		assert_int_equal(kinds.of[SYMBOL_BUILTIN], cases[i].builtins);
		assert_int_equal(module_symbol_count(module),
				 7 + cases[i].entries + cases[i].trampolines + cases[i].builtins);
		module_unref(module);
	}
}

static void maps_code_to_the_wasm_binary(void **state)
{
	static const char *const files[] = { "guest-25.cwasm", "guest-50.cwasm",
					     "guest-49-nosymbols.cwasm" };
	const struct symbol *symbol;
	uint64_t position;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct module *module = module_of_file(files[i], NULL, NULL);

		/* the body of function 2 (leaf) and its end, as wasm-objdump shows them */
		symbol = symbol_of(module, 0, 2);
		assert_non_null(symbol);
		assert_true(module_wasm_offset(module, symbol->start, &position));
		assert_in_range(position, 150, 181);
		assert_true(module_wasm_offset(module, symbol->end - 1, &position));
		assert_int_equal(position, 181);
		symbol = symbol_of(module, 0, 8);
		assert_true(module_wasm_offset(module, symbol->end - 1, &position));
		assert_int_equal(position, 248);
		/* glue has none, nor has what lies outside */
		assert_false(module_wasm_offset(module, symbol->end, &position));
		assert_false(module_wasm_offset(module, UINT64_MAX, &position));
		module_unref(module);
	}
}

static void tells_adapters_from_core_modules(void **state)
{
	struct module *module = module_of_file("component-36.cwasm", "component.wasm", NULL);

	(void)state;
	assert_int_equal(module_function_count(module), 6);
	assert_int_equal(count_kinds(module).of[SYMBOL_GUEST], 6);
	assert_non_null(symbol_of(module, 3, 2));
	assert_null(symbol_of(module, 4, 4));
	assert_string_equal(module_core_name(module, 1), "text");
	module_unref(module);
	/* without the bytes, by positions that begin again */
	module = module_of_file("component-36.cwasm", NULL, NULL);
	assert_int_equal(module_function_count(module), 6);
	assert_string_equal(module_core_name(module, 1), "");
	module_unref(module);
}

static void has_an_identity(void **state)
{
	struct module *by_wasm = module_of_file("guest-50.cwasm", "guest.wasm", NULL);
	struct module *old = module_of_file("guest-25.cwasm", "guest.wasm", NULL);
	struct module *by_image = module_of_file("guest-50.cwasm", NULL, NULL);
	struct module *again = module_of_file("guest-50.cwasm", NULL, "other name");
	struct module *other = module_of_file("guest-36.cwasm", NULL, NULL);

	(void)state;
	assert_true(module_identity_is_wasm(by_wasm));
	assert_int_equal(strlen(module_identity(by_wasm)), 64);
	assert_string_equal(module_identity(by_wasm), module_identity(old));
	assert_false(module_identity_is_wasm(by_image));
	assert_string_equal(module_identity(by_image), module_identity(again));
	assert_string_not_equal(module_identity(by_image), module_identity(by_wasm));
	assert_string_not_equal(module_identity(by_image), module_identity(other));
	module_unref(by_wasm);
	module_unref(old);
	module_unref(by_image);
	module_unref(again);
	module_unref(other);
}

static void check_name(const char *file, const char *wasm, const char *given,
		       enum name_origin origin, const char *begin)
{
	struct module *module = module_of_file(file, wasm, given);
	size_t length = strlen(begin);
	char expected[128];

	assert_int_equal(module_name_origin(module), origin);
	assert_memory_equal(module_name(module), begin, length);
	if (origin == NAME_GUEST)
		snprintf(expected, sizeof(expected), "%s@%.6s", begin, module_identity(module));
	else if (origin == NAME_HASH)
		snprintf(expected, sizeof(expected), "%.12s", module_identity(module));
	else
		snprintf(expected, sizeof(expected), "%s", begin);
	assert_string_equal(module_name(module), expected);
	module_unref(module);
}

static void names_say_where_they_come_from(void **state)
{
	(void)state;
	check_name("guest-50.cwasm", NULL, "resize", NAME_GIVEN, "resize");
	check_name("guest-50.cwasm", NULL, "re\nsize", NAME_GIVEN, "re\\x0asize");
	check_name("guest-50.cwasm", NULL, NULL, NAME_GUEST, "tiny-guest");
	check_name("guest-25.cwasm", NULL, "", NAME_GUEST, "tiny-guest");
	check_name("guest-25.cwasm", "guest.wasm", NULL, NAME_GUEST, "tiny-guest");
	check_name("component-50.cwasm", "component.wasm", NULL, NAME_GUEST, "parts");
	check_name("component-50.cwasm", NULL, NULL, NAME_HASH, "");
}

static void a_file_names_what_nobody_else_does(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/srv/acme/resize.cwasm", "resize.cwasm" },
		{ "resize.cwasm", "resize.cwasm" },
		{ "/srv/a\nb", "a\\x0ab" },
		{ "/srv/", "/srv/" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct module_source source = { .path = cases[i].path };
		struct module *module = module_new(&source);

		assert_int_equal(module_name_origin(module), NAME_FILE);
		assert_string_equal(module_name(module), cases[i].name);
		assert_non_null(strstr(module_path(module), cases[i].name));
		module_unref(module);
		source.given_name = "given";
		module = module_new(&source);
		assert_int_equal(module_name_origin(module), NAME_GIVEN);
		assert_string_equal(module_name(module), "given");
		module_unref(module);
	}
}

static void keeps_the_unwind_tables(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct module *module = module_of_bytes(&file, NULL, NULL);
	const uint8_t *table;
	uintptr_t address;
	size_t size;

	(void)state;
	table = module_eh_frame(module, &size, &address);
	assert_non_null(table);
	assert_memory_equal(table, (const void *)address, size);
	assert_ptr_not_equal(table, (const void *)address);
	module_unref(module_ref(module));
	module_unref(module);
	module_unref(NULL);
	bytes_free(&file);
}

static void works_without_any_image(void **state)
{
	struct module *module = module_new(&(struct module_source){ .given_name = NULL });
	uint64_t position;
	uintptr_t address;
	size_t size;

	(void)state;
	assert_non_null(module);
	assert_string_equal(module_engine(module), "");
	assert_string_equal(module_path(module), "");
	assert_string_equal(module_engine_version(module), "");
	assert_int_equal(module_name_origin(module), NAME_HASH);
	assert_int_equal(module_function_count(module), 0);
	assert_null(module_find(module, 0));
	assert_false(module_wasm_offset(module, 0, &position));
	assert_null(module_eh_frame(module, &size, &address));
	module_unref(module);
}

/* Whatever an image says, its module answers for every offset. */
static void use(struct module *module)
{
	const struct symbol *symbol;
	uint64_t offset, position;

	if (module == NULL)
		return;
	for (offset = 0; offset < 0x1000; offset += 61) {
		symbol = module_find(module, offset);
		module_wasm_offset(module, offset, &position);
		if (symbol == NULL)
			continue;
		assert_true(symbol->start <= offset && offset < symbol->end);
		assert_true(symbol->id < module_symbol_count(module));
		module_symbol_system_name(module, symbol);
	}
	module_unref(module);
}

static void survives_any_word_being_wrong(void **state)
{
	static const char *const files[] = { "guest-50.cwasm", "component-36.cwasm",
					     "guest-49-nosymbols.cwasm" };
	size_t i, at;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes file = bytes_of_file(files[i]);

		for (at = 0; at + 4 <= file.size; at += at < 0x2000 && at >= 0x400 ? 0x100 : 7) {
			uint32_t was, wrong = 0xffffffff;

			memcpy(&was, file.bytes + at, 4);
			memcpy(file.bytes + at, &wrong, 4);
			use(module_of_bytes(&file, NULL, NULL));
			wrong = was ^ 1;
			memcpy(file.bytes + at, &wrong, 4);
			use(module_of_bytes(&file, NULL, NULL));
			memcpy(file.bytes + at, &was, 4);
		}
		bytes_free(&file);
	}
}

static void survives_being_cut_anywhere(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	size_t size;

	(void)state;
	for (size = 0; size < file.size; size += 37) {
		struct bytes cut = { .bytes = malloc(size + 1), .size = size };

		memcpy(cut.bytes, file.bytes, size);
		use(module_of_bytes(&cut, NULL, NULL));
		bytes_free(&cut);
	}
	bytes_free(&file);
}

static void reports_short_memory(void **state)
{
	static const char *const files[] = { "guest-50.cwasm", "component-49-nosymbols.cwasm" };
	struct module *module;
	size_t i;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes file = bytes_of_file(files[i]);

		for (nth = 1;; nth++) {
			failing_start(nth);
			errno = 0;
			module = module_of_bytes(&file, NULL, NULL);
			if (!failing_stop())
				break;
			if (module == NULL)
				assert_int_equal(errno, ENOMEM);
			module_unref(module); /* giving back spare room may fail unseen */
		}
		assert_non_null(module);
		assert_true(nth > 8);
		module_unref(module);
		bytes_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_functions_of_every_version),
		cmocka_unit_test(maps_code_to_the_wasm_binary),
		cmocka_unit_test(tells_adapters_from_core_modules),
		cmocka_unit_test(has_an_identity),
		cmocka_unit_test(names_say_where_they_come_from),
		cmocka_unit_test(a_file_names_what_nobody_else_does),
		cmocka_unit_test(keeps_the_unwind_tables),
		cmocka_unit_test(works_without_any_image),
		cmocka_unit_test(survives_any_word_being_wrong),
		cmocka_unit_test(survives_being_cut_anywhere),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
