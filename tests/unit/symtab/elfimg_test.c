/* SPDX-License-Identifier: MIT */
/*
 * elfimg_test.c - images of real engines are found, and hostile ones refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/elfimg.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/fixture.h"

static int probe(struct bytes *image, struct image_layout *layout)
{
	struct memory memory = memory_of(image);

	return image_probe(&memory, (uintptr_t)image->bytes, layout);
}

static void reads_real_images(void **state)
{
	static const struct {
		const char *file, *version;
		bool is_component;
	} cases[] = {
		{ "guest-25.cwasm", "25.0.0", false }, { "guest-36.cwasm", "36.0.0", false },
		{ "guest-43.cwasm", "43", false },     { "guest-50.cwasm", "50", false },
		{ "component-50.cwasm", "50", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes file = bytes_of_file(cases[i].file);
		uintptr_t base = (uintptr_t)file.bytes;
		struct image_layout layout;

		assert_int_equal(probe(&file, &layout), 0);
		assert_int_equal(layout.base, base);
		assert_int_equal(layout.size, file.size);
		assert_int_equal(layout.text, base + 0x1000);
		assert_int_equal(layout.eh_frame, layout.text + layout.text_size);
		assert_string_equal(layout.engine_version, cases[i].version);
		assert_int_equal(layout.is_component, cases[i].is_component);
		assert_false(layout.is_bytecode);
		assert_false(layout.has_guest_debug);
		bytes_free(&file);
	}
}

static void copies_the_tables(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct memory memory = memory_of(&file);
	struct image_layout layout;
	struct image_tables *tables;

	(void)state;
	assert_int_equal(probe(&file, &layout), 0);
	tables = image_copy(&memory, &layout);
	assert_non_null(tables);
	assert_int_equal(tables->eh_frame_address, layout.eh_frame);
	assert_int_equal(tables->eh_frame.size, layout.eh_frame_size);
	assert_memory_equal(tables->eh_frame.bytes, (const void *)layout.eh_frame,
			    layout.eh_frame_size);
	assert_int_equal(tables->symtab.size % sizeof(Elf64_Sym), 0);
	assert_int_equal(tables->strtab.bytes[0], 0);
	assert_memory_equal(tables->names.bytes, "tickleaf", 8);
	assert_true(tables->info.size > 0 && tables->addrmap.size > 0);
	image_tables_free(tables);
	image_tables_free(NULL);
	bytes_free(&file);
}

static struct bytes small_image(const char *extra, uint64_t text_flags, uint32_t flags)
{
	struct image_section sections[] = {
		{ .name = ".text", .type = SHT_PROGBITS, .flags = text_flags },
		{ .name = ".wasmtime.engine", .type = SHT_PROGBITS },
		{ .name = extra, .type = SHT_PROGBITS },
	};

	bytes_add(&sections[0].body, "code", 4);
	bytes_add(&sections[1].body, "\0\3v 1rest", 9);
	bytes_add(&sections[2].body, "x", 1);
	return build_image(sections, ARRAY_SIZE(sections), flags);
}

static void tells_kinds_of_images(void **state)
{
	struct bytes image = small_image(".wasmtime.frames", 6, 1);
	struct image_layout layout;

	(void)state;
	assert_int_equal(probe(&image, &layout), 0);
	assert_true(layout.has_guest_debug);
	assert_int_equal(layout.text_size, 4);
	assert_int_equal(layout.eh_frame, 0);
	assert_string_equal(layout.engine_version, ""); /* "v 1" cannot be shown in one word */
	bytes_free(&image);
	image = small_image(".other", 7, 1); /* not executed: an interpreter's code */
	assert_int_equal(probe(&image, &layout), 0);
	assert_true(layout.is_bytecode);
	assert_false(layout.has_guest_debug);
	bytes_free(&image);
	image = small_image(".other", 6, 9); /* pulley64 */
	assert_int_equal(probe(&image, &layout), 0);
	assert_true(layout.is_bytecode);
	bytes_free(&image);
}

/* Changes one field of a good image; the result must be refused. */
static void check_refused(size_t offset, size_t size, uint64_t value)
{
	struct bytes image = small_image(".other", 6, 1);
	struct image_layout layout;

	memcpy(image.bytes + offset, &value, size);
	assert_true(probe(&image, &layout) < 0);
	bytes_free(&image);
}

static size_t section_field(unsigned int section, size_t field)
{
	struct bytes image = small_image(".other", 6, 1);
	uint64_t offset;

	memcpy(&offset, image.bytes + offsetof(Elf64_Ehdr, e_shoff), sizeof(offset));
	bytes_free(&image);
	return offset + section * sizeof(Elf64_Shdr) + field;
}

static void refuses_contradictions(void **state)
{
	(void)state;
	check_refused(0, 1, 0x7e);
	check_refused(EI_CLASS, 1, ELFCLASS32);
	check_refused(EI_DATA, 1, ELFDATA2MSB);
	check_refused(EI_OSABI, 1, ELFOSABI_LINUX);
	check_refused(offsetof(Elf64_Ehdr, e_type), 2, ET_DYN);
	check_refused(offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX - 8);
	check_refused(offsetof(Elf64_Ehdr, e_shoff), 8, 0);
	check_refused(offsetof(Elf64_Ehdr, e_shoff), 8, 1 << 20); /* -EFAULT */
	check_refused(offsetof(Elf64_Ehdr, e_shnum), 2, 0);
	check_refused(offsetof(Elf64_Ehdr, e_shnum), 2, 0xffff);
	check_refused(offsetof(Elf64_Ehdr, e_shentsize), 2, 0);
	check_refused(offsetof(Elf64_Ehdr, e_shstrndx), 2, 5);
	check_refused(offsetof(Elf64_Ehdr, e_shstrndx), 2, 1); /* .text is no string table */
	check_refused(section_field(1, offsetof(Elf64_Shdr, sh_name)), 4, 0xfffffff);
	check_refused(section_field(1, offsetof(Elf64_Shdr, sh_name)), 4, 0); /* no .text */
	check_refused(section_field(1, offsetof(Elf64_Shdr, sh_size)), 8, UINT64_MAX);
	check_refused(section_field(1, offsetof(Elf64_Shdr, sh_offset)), 8, UINT64_MAX);
}

static void copying_fails_when_a_table_is_not_there(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct memory memory = memory_of(&file);
	struct image_layout layout;

	(void)state;
	assert_int_equal(probe(&file, &layout), 0);
	file.size = 0x2100; /* the host unmapped the rest */
	errno = 0;
	assert_null(image_copy(&memory, &layout));
	assert_int_equal(errno, EFAULT);
	file.size = 0;
	assert_int_equal(probe(&file, &layout), -EFAULT);
	bytes_free(&file);
}

static void survives_any_header_byte_being_wrong(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct memory memory = memory_of(&file);
	uint64_t table;
	size_t at, i;

	(void)state;
	memcpy(&table, file.bytes + offsetof(Elf64_Ehdr, e_shoff), sizeof(table));
	for (at = 0; at < file.size; at = at == sizeof(Elf64_Ehdr) - 1 ? table : at + 1) {
		uint8_t was = file.bytes[at];

		for (i = 0; i < ARRAY_SIZE(values); i++) {
			struct image_layout layout;

			file.bytes[at] = values[i];
			if (probe(&file, &layout) == 0)
				image_tables_free(image_copy(&memory, &layout));
		}
		file.bytes[at] = was;
	}
	bytes_free(&file);
}

static void reports_short_memory(void **state)
{
	struct bytes file;
	struct memory memory = memory_of(&file);
	struct image_tables *tables;
	struct image_layout layout;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	file = bytes_of_file("guest-50.cwasm");
	assert_int_equal(probe(&file, &layout), 0);
	for (nth = 1;; nth++) {
		failing_start(nth);
		tables = image_copy(&memory, &layout);
		if (!failing_stop())
			break;
		assert_null(tables);
		assert_int_equal(errno, ENOMEM);
	}
	assert_int_equal(nth, 8); /* the object and six tables */
	image_tables_free(tables);
	bytes_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_real_images),
		cmocka_unit_test(copies_the_tables),
		cmocka_unit_test(tells_kinds_of_images),
		cmocka_unit_test(refuses_contradictions),
		cmocka_unit_test(copying_fails_when_a_table_is_not_there),
		cmocka_unit_test(survives_any_header_byte_being_wrong),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
