/* SPDX-License-Identifier: MIT */
/* target_test.c - which programs cannot take a preloaded library, seen in their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/say.h"
#include "preload/cmd/target.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"

#include <elf.h>
#include <sys/stat.h>

/* An ELF file with these bytes as its loader's path, or, when NULL, none. */
static void write_program(const char *name, const char *interpreter)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr program;
		char text[64];
	} file = { .header = { .e_ident = ELFMAG,
			       .e_phoff = sizeof(Elf64_Ehdr),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 1 },
		   .program = { .p_type = PT_LOAD } };

	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	if (interpreter != NULL) {
		file.program.p_type = PT_INTERP;
		file.program.p_offset = sizeof(file.header) + sizeof(file.program);
		file.program.p_filesz = strlen(interpreter) + 1;
		strcpy(file.text, interpreter);
	}
	free(write_bytes(name, &file, sizeof(file)));
	chmod(name, 0755);
}

static void sees_nothing_wrong_with_dynamic_programs(void **state)
{
	(void)state;
	write_program("dynamic", "/lib64/ld-linux-x86-64.so.2");
	assert_null(target_why_unseen("./dynamic"));
	assert_null(target_why_unseen("sh"));
	assert_null(target_why_unseen("no-such-program-anywhere"));
	free(write_bytes("script", "#!/bin/sh\n", 10));
	assert_null(target_why_unseen("./script"));
}

static void sees_what_ignores_a_preload(void **state)
{
	(void)state;
	write_program("static", NULL);
	assert_non_null(strstr(target_why_unseen("./static"), "statically linked"));
	write_program("musl", "/lib/ld-musl-x86_64.so.1");
	assert_non_null(strstr(target_why_unseen("./musl"), "musl"));
	write_program("setuid", "/lib64/ld-linux-x86-64.so.2");
	chmod("setuid", 04755);
	assert_non_null(strstr(target_why_unseen("./setuid"), "setuid"));
}

/* Headers that lead outside the file, or nowhere. */
static void is_not_led_astray(void **state)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_phoff = UINT64_MAX - 8,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 5 };

	(void)state;
	header.e_ident[EI_CLASS] = ELFCLASS64;
	free(write_bytes("broken", &header, sizeof(header)));
	assert_null(target_why_unseen("./broken"));
	header.e_phnum = UINT16_MAX;
	free(write_bytes("broken", &header, sizeof(header)));
	assert_null(target_why_unseen("./broken"));
	free(write_bytes("broken", &header, 20));
	assert_null(target_why_unseen("./broken"));
}

static void writes_numbers_in_threes(void **state)
{
	char text[SAY_COUNT_SIZE];

	(void)state;
	assert_string_equal(say_count(text, 0), "0");
	assert_string_equal(say_count(text, 999), "999");
	assert_string_equal(say_count(text, 4210), "4,210");
	assert_string_equal(say_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_nothing_wrong_with_dynamic_programs),
		cmocka_unit_test(sees_what_ignores_a_preload),
		cmocka_unit_test(is_not_led_astray),
		cmocka_unit_test(writes_numbers_in_threes),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
