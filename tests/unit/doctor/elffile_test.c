/* SPDX-License-Identifier: MIT */
/* elffile_test.c - what ELF files say, and that hostile ones lead nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/doctor/elffile.h"
#include "tests/unit/cmd/elves.h"
#include "tests/unit/encode/scratch.h"

#include <errno.h>

#define GLIBC "/lib64/ld-linux-x86-64.so.2"

static void reads_what_a_program_says(void **state)
{
	struct elf elf = elf_new(GLIBC);
	struct elffile file;

	(void)state;
	elf_write("whole", &elf);
	assert_int_equal(elffile_open(&file, "whole"), 0);
	assert_true(file.is_native && file.has_dynamic && !file.is_damaged && !file.has_symbols);
	assert_string_equal(file.interpreter, GLIBC);
	assert_int_equal(file.needed_count, 1);
	assert_string_equal(file.needed[0], "libneeded.so");
	assert_string_equal(file.search_path, "$ORIGIN/lib");
	assert_int_equal(elffile_symbol(&file, "__register_frame"), ELFFILE_WANTED);
	assert_int_equal(elffile_symbol(&file, "wasmtime_module_new"), ELFFILE_DEFINED);
	assert_int_equal(elffile_symbol(&file, "wasmtime_module"), ELFFILE_ABSENT);
	assert_int_equal(elffile_glibc(&file), 17);
	elffile_close(&file);
}

static void tells_foreign_files_by_their_first_bytes(void **state)
{
	struct elf elf = elf_new(GLIBC);
	struct elffile file;

	(void)state;
	elf.header.e_machine = EM_AARCH64;
	elf_write("foreign", &elf);
	assert_int_equal(elffile_open(&file, "foreign"), 0);
	assert_true(!file.is_native && !file.is_32bit && file.machine == EM_AARCH64);
	elffile_close(&file);
	elf.header.e_machine = __builtin_bswap16(EM_PPC64);
	elf.header.e_ident[EI_DATA] = ELFDATA2MSB;
	elf_write("foreign", &elf);
	assert_int_equal(elffile_open(&file, "foreign"), 0);
	assert_true(!file.is_native && file.machine == EM_PPC64);
	elffile_close(&file);
	elf.header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	elf.header.e_machine = EM_386;
	free(write_bytes("small", &elf, sizeof(Elf32_Ehdr)));
	assert_int_equal(elffile_open(&file, "small"), 0);
	assert_true(file.is_32bit && !file.is_native && file.machine == EM_386);
	elffile_close(&file);
}

static void is_no_elf_file(void **state)
{
	struct elffile file;

	(void)state;
	assert_int_equal(elffile_open(&file, "nowhere"), -ENOENT);
	free(write_bytes("empty", "", 0));
	assert_int_equal(elffile_open(&file, "empty"), -ENOEXEC);
	free(write_bytes("script", "#!/bin/sh\nexit 0; # and more, so that it is long enough", 52));
	assert_int_equal(elffile_open(&file, "script"), -ENOEXEC);
	free(write_bytes("magic", ELFMAG, 4));
	assert_int_equal(elffile_open(&file, "magic"), -ENOEXEC);
	assert_int_equal(elffile_open(&file, "."), -ENOEXEC);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(elffile_open(&file, "fifo"), -ENOEXEC);
}

/* Opens what ELF is as a file, asks all there is to ask. */
static void ask_all(const struct elf *elf, size_t size)
{
	struct elffile file;

	free(write_bytes("hostile", elf, size));
	if (elffile_open(&file, "hostile") != 0)
		return;
	elffile_symbol(&file, "wasmtime_module_new");
	elffile_glibc(&file);
	assert_true(file.needed_count <= ELFFILE_NEEDED_MAX);
	elffile_close(&file);
}

static void is_not_led_astray(void **state)
{
	static const uint64_t values[] = { 0, 1, 0x7fffffff, UINT64_MAX - 8, UINT64_MAX };
	struct elf elf;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		elf = elf_new(GLIBC);
		elf.header.e_phoff = values[i];
		ask_all(&elf, sizeof(elf));
		elf = elf_new(GLIBC);
		elf.header.e_shoff = values[i];
		elf.header.e_shnum = UINT16_MAX;
		ask_all(&elf, sizeof(elf));
		for (int program = LOADED; program <= DYNAMIC; program++) {
			elf = elf_new(GLIBC);
			elf.programs[program].p_offset = values[i];
			ask_all(&elf, sizeof(elf));
			elf = elf_new(GLIBC);
			elf.programs[program].p_filesz = values[i];
			ask_all(&elf, sizeof(elf));
		}
		for (int entry = 0; entry < 5; entry++) {
			elf = elf_new(GLIBC);
			elf.dynamic[entry].d_un.d_val = values[i];
			ask_all(&elf, sizeof(elf));
		}
		elf = elf_new(GLIBC);
		elf.sections[0].sh_size = values[i];
		elf.symbols[2].st_name = (Elf64_Word)values[i];
		ask_all(&elf, sizeof(elf));
	}
	elf = elf_new(GLIBC);
	for (size_t size = 0; size < sizeof(elf); size += 7)
		ask_all(&elf, size);
}

struct found {
	size_t count, longest;
};

static void find_mark(void *context, const uint8_t *bytes, size_t size)
{
	struct found *found = context;

	found->longest = size > found->longest ? size : found->longest;
	found->count += memmem(bytes, size, "a mark in the text", 18) != NULL;
}

/* A mark that lies across the end of a piece is seen, once. */
static void shows_texts_in_pieces(void **state)
{
	enum { SIZE = 3 << 20 };
	uint8_t *bytes = calloc(1, SIZE);
	struct elf elf = elf_new(GLIBC);
	struct found found = { 0 };
	struct elffile file;

	(void)state;
	assert_non_null(bytes);
	elf.programs[LOADED].p_filesz = SIZE;
	memcpy(bytes, &elf, sizeof(elf));
	memcpy(bytes + (1 << 20) - 9, "a mark in the text", 18);
	free(write_bytes("large", bytes, SIZE));
	free(bytes);
	assert_int_equal(elffile_open(&file, "large"), 0);
	assert_int_equal(elffile_texts(&file, 64, find_mark, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(found.longest <= 1 << 20);
	elffile_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_a_program_says),
		cmocka_unit_test(tells_foreign_files_by_their_first_bytes),
		cmocka_unit_test(is_no_elf_file),
		cmocka_unit_test(is_not_led_astray),
		cmocka_unit_test(shows_texts_in_pieces),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
