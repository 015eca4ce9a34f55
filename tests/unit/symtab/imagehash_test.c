/* SPDX-License-Identifier: MIT */
/*
 * imagehash_test.c - the identity of an image: of all that it says, and of nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/module_fixture.h"

static void identity_of(struct bytes *image, char identity[IDENTITY_SIZE])
{
	struct module *module = module_of_bytes(image, NULL, NULL);

	assert_non_null(module);
	memcpy(identity, module_identity_all(module)->image, IDENTITY_SIZE);
	assert_string_equal(module_identity(module), identity);
	module_unref(module);
}

static size_t text_offset(struct bytes *image, size_t *size)
{
	struct memory memory = memory_of(image);
	struct image_layout layout;

	assert_int_equal(image_probe(&memory, (uintptr_t)image->bytes, &layout), 0);
	*size = layout.text_size;
	return layout.text - layout.base;
}

static void depends_on_the_code(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	char first[IDENTITY_SIZE], other[IDENTITY_SIZE];
	size_t size, text = text_offset(&file, &size), at;

	(void)state;
	identity_of(&file, first);
	assert_int_equal(strlen(first), 64);
	for (at = 0; at < size; at += 97) {
		file.bytes[text + at] ^= 1;
		identity_of(&file, other);
		assert_string_not_equal(first, other);
		file.bytes[text + at] ^= 1;
	}
	identity_of(&file, other);
	assert_string_equal(first, other);
	bytes_free(&file);
}

static void does_not_depend_on_the_place(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm"), copy = { 0 };
	char first[IDENTITY_SIZE], other[IDENTITY_SIZE];

	(void)state;
	bytes_add(&copy, file.bytes, file.size);
	identity_of(&file, first);
	identity_of(&copy, other);
	assert_string_equal(first, other);
	bytes_free(&file);
	bytes_free(&copy);
}

static void names_count(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	char first[IDENTITY_SIZE], other[IDENTITY_SIZE];
	uint8_t *name = memmem(file.bytes, file.size, "leaf", 4);

	(void)state;
	identity_of(&file, first);
	assert_non_null(name);
	name[0] = 'L';
	identity_of(&file, other);
	assert_string_not_equal(first, other);
	bytes_free(&file);
}

/* Memory that lets nothing be read but the headers and tables. */
struct window {
	struct bytes *image;
	uintptr_t text, end;
};

static int read_outside(void *context, uintptr_t address, void *out, size_t size)
{
	const struct window *window = context;

	if (address < window->end && address + size > window->text)
		return -EFAULT;
	return read_bytes(window->image, address, out, size);
}

static void works_without_the_code(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct window window = { .image = &file };
	struct memory memory = { .read = read_outside, .context = &window };
	struct module_source source = { .engine = "wasmtime" };
	char whole[IDENTITY_SIZE];
	struct module *module;

	(void)state;
	assert_int_equal(image_probe(&memory, (uintptr_t)file.bytes, &source.layout), 0);
	window.text = source.layout.text;
	window.end = source.layout.text + source.layout.text_size;
	source.tables = image_copy(&memory, &source.layout);
	assert_non_null(source.tables);
	image_hash(source.tables, &memory, &source.layout);
	module = module_new(&source);
	assert_int_equal(strlen(module_identity(module)), 64);
	identity_of(&file, whole);
	assert_string_not_equal(module_identity(module), whole);
	module_unref(module);
	bytes_free(&file);
}

/* An image whose code takes SIZE bytes, and all of it but one byte is the same. */
static struct bytes large(size_t size, size_t odd)
{
	struct image_section sections[] = { { ".text", SHT_PROGBITS, SHF_EXECINSTR, { 0 } } };
	uint8_t *code = calloc(1, size);
	struct bytes image;

	code[odd] = 1;
	bytes_add(&sections[0].body, code, size);
	free(code);
	image = build_image(sections, 1, 1);
	return image;
}

static void reads_large_code_in_part(void **state)
{
	static const size_t size = 9 << 20;
	static const size_t odd[] = { 0, 1000, (9 << 20) - 1 };
	struct bytes plain = large(size, size / 2);
	char first[IDENTITY_SIZE], other[IDENTITY_SIZE];
	size_t i;

	(void)state;
	identity_of(&plain, first);
	/* the beginning and the end are always among what is read; and its size */
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		struct bytes image = large(size, odd[i]);

		identity_of(&image, other);
		assert_string_not_equal(first, other);
		bytes_free(&image);
	}
	bytes_free(&plain);
	plain = large(size + 1, size / 2);
	identity_of(&plain, other);
	assert_string_not_equal(first, other);
	bytes_free(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depends_on_the_code),
		cmocka_unit_test(does_not_depend_on_the_place),
		cmocka_unit_test(names_count),
		cmocka_unit_test(works_without_the_code),
		cmocka_unit_test(reads_large_code_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
