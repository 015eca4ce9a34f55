/* SPDX-License-Identifier: MIT */
/* doctor_test.c - what is said of programs, by their files: kinds, scripts, wrappers, engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/command.h"
#include "preload/cmd/doctor/doctor.h"
#include "tests/unit/cmd/elves.h"
#include "tests/unit/encode/scratch.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#define GLIBC "/lib64/ld-linux-x86-64.so.2"

static struct doctor doctor;
static char *no_environment[] = { NULL };

static void begin(void)
{
	doctor = (struct doctor){ .environment = no_environment };
}

/* The row about WHAT; NULL. */
static const struct doctor_row *row_of(const char *what)
{
	for (size_t i = 0; i < doctor.row_count; i++) {
		if (strcmp(doctor.rows[i].what, what) == 0)
			return &doctor.rows[i];
	}
	return NULL;
}

static void expect_row(const char *what, enum doctor_verdict verdict, const char *why)
{
	const struct doctor_row *row = row_of(what);

	assert_non_null(row);
	assert_int_equal(row->verdict, verdict);
	if (strstr(row->why, why) == NULL)
		fail_msg("\"%s\" has no \"%s\"", row->why, why);
}

static void look_at(const char *name)
{
	struct elffile file;

	begin();
	if (doctor_program(&doctor, name, &file))
		elffile_close(&file);
}

static void expect_kind(const struct elf *elf, enum doctor_verdict verdict, const char *why)
{
	elf_write("program", elf);
	look_at("./program");
	expect_row("program", verdict, why);
}

static void tells_kinds_of_programs(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	expect_kind(&elf, DOCTOR_OK, "dynamically linked");
	elf = elf_new(NULL);
	expect_kind(&elf, DOCTOR_NO, "statically linked");
	elf = elf_new("/lib/ld-musl-x86_64.so.1");
	expect_kind(&elf, DOCTOR_NO, "musl");
	elf = elf_new("/no/such/ld-linux-x86-64.so.2");
	expect_kind(&elf, DOCTOR_NO, "cannot start here");
	elf = elf_new(GLIBC);
	elf.header.e_machine = EM_AARCH64;
	expect_kind(&elf, DOCTOR_NO, "is for aarch64");
	elf = elf_new(GLIBC);
	elf.header.e_machine = EM_386;
	elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	expect_kind(&elf, DOCTOR_NO, "32-bit program");
	elf = elf_new(GLIBC);
	elf.header.e_phoff = UINT64_MAX - 8;
	expect_kind(&elf, DOCTOR_LIMIT, "lead outside the file");
	look_at("no-such-program-anywhere");
	expect_row("program", DOCTOR_NO, "not in PATH");
	look_at("sh");
	expect_row("program", DOCTOR_OK, "dynamically linked");
}

static void tells_privileges(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	elf_write("setuid", &elf);
	chmod("setuid", 04755);
	look_at("./setuid");
	expect_row("privileges", DOCTOR_OK, "not for this one");
	if (geteuid() != 0 || chown("setuid", 65534, 65534) != 0)
		skip();
	chmod("setuid", 04755);
	look_at("./setuid");
	expect_row("privileges", DOCTOR_NO, "is setuid");
	chmod("setuid", 02755);
	look_at("./setuid");
	expect_row("privileges", DOCTOR_NO, "is setgid");
	/* Without the right to run it for the group, that bit means something else. */
	chmod("setuid", 02745);
	look_at("./setuid");
	expect_row("privileges", DOCTOR_OK, "not for this one");
}

static void write_script(const char *line)
{
	free(write_bytes("script", line, strlen(line)));
	chmod("script", 0755);
}

static void follows_scripts(void **state)
{
	struct elf elf = elf_new(NULL);

	(void)state;
	write_script("#!/bin/sh -e\nexit 0\n");
	look_at("./script");
	expect_row("script", DOCTOR_OK, "/bin/sh runs");
	assert_string_equal(doctor.program, "/bin/sh");
	write_script("#! /usr/bin/env -S A=b sh -e\n");
	look_at("./script");
	expect_row("program", DOCTOR_OK, "dynamically linked");
	elf_write("static", &elf);
	write_script("#!./static");
	look_at("./script");
	expect_row("program", DOCTOR_NO, "./static is statically linked");
	write_script("#!/no/such/thing\n");
	look_at("./script");
	expect_row("script", DOCTOR_NO, "not there");
	write_script("#!\n");
	look_at("./script");
	expect_row("script", DOCTOR_NO, "not there");
	/* Around in a circle. */
	write_script("#!./script\n");
	look_at("./script");
	assert_non_null(row_of("program"));
	write_script("exit 0 # no first line\n");
	look_at("./script");
	expect_row("program", DOCTOR_LIMIT, "no ELF file");
}

static void knows_wrappers(void **state)
{
	(void)state;
	begin();
	strcpy(doctor.program, "/usr/bin/env");
	assert_true(doctor_wrapper(&doctor));
	expect_row("wrapper", DOCTOR_LIMIT, "starts other programs");
	begin();
	strcpy(doctor.program, "docker");
	assert_true(doctor_wrapper(&doctor));
	expect_row("wrapper", DOCTOR_NO, "service");
	begin();
	strcpy(doctor.program, "/opt/env/server");
	assert_false(doctor_wrapper(&doctor));
	assert_int_equal(doctor.row_count, 0);
}

static void look_for_engines(const struct elf *elf, const char *path, bool in_program)
{
	struct elffile file;

	begin();
	elf_write(path, elf);
	assert_int_equal(elffile_open(&file, path), 0);
	doctor_engine_look(&doctor, &file, path, in_program);
	elffile_close(&file);
	doctor_engine_tell(&doctor);
}

static void finds_engines(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	mkdir("wasmtime-v44.0.1-x86_64-linux-c-api", 0755);
	look_for_engines(&elf, "wasmtime-v44.0.1-x86_64-linux-c-api/lib.so", false);
	expect_row("engine", DOCTOR_OK, "wasmtime 44.0.1");
	assert_string_equal(doctor.engines[0].seen_by, "calls");
	/* The same inside a program is not called through a table. */
	strcpy(elf.text, "/index/wasmtime-43.0.2/src/runtime/func.rs");
	look_for_engines(&elf, "program", true);
	expect_row("engine", DOCTOR_OK, "wasmtime 43.0.2 inside");
	expect_row("instances", DOCTOR_LIMIT, "not told apart");
	assert_string_equal(doctor.engines[0].seen_by, "registration");
	strcpy(elf.strings + WANTED_AT, "another");
	look_for_engines(&elf, "program", true);
	assert_string_equal(doctor.engines[0].seen_by, "scan");
}

static void is_not_deceived_by_paths(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	strcpy(elf.strings + DEFINED_AT, "another");
	strcpy(elf.strings + PATH_AT, "/opt/wasmtime-50.0.1");
	strcpy(elf.text, "/opt/wasmtime-wasi-36.0.2/src/preview1.rs");
	look_for_engines(&elf, "program", true);
	assert_int_equal(doctor.engine_count, 0);
	expect_row("engine", DOCTOR_LIMIT, "none in the program");
}

static void names_engines_that_are_not_seen(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	strcpy(elf.strings + DEFINED_AT, "m3_NewEnvironment");
	look_for_engines(&elf, "libm3.so", false);
	expect_row("engine", DOCTOR_NO, "wasm3: it interprets");
	/* Beside one that is seen. */
	strcpy(elf.text, "crates/wasmtime/src/runtime.rs");
	look_for_engines(&elf, "both.so", false);
	assert_int_equal(doctor_worst(&doctor), DOCTOR_LIMIT);
}

static void sees_wasmedge_by_its_calls(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	strcpy(elf.strings + DEFINED_AT, "WasmEdge_VersionGet");
	look_for_engines(&elf, "libwasmedge.so", false);
	expect_row("engine", DOCTOR_OK, "WasmEdge of a version that it does not say");
	expect_row("interpreter", DOCTOR_LIMIT, "WasmEdge interprets");
}

static void finds_wasmer(void **state)
{
	struct elf elf = elf_new(GLIBC);

	(void)state;
	strcpy(elf.strings + DEFINED_AT, "wasmer_version");
	look_for_engines(&elf, "libwasmer.so", false);
	expect_row("engine", DOCTOR_OK, "wasmer of a version that it does not say");
	/* linked in, and of its own sources; it registers nothing */
	strcpy(elf.strings + DEFINED_AT, "another");
	strcpy(elf.strings + WANTED_AT, "another");
	strcpy(elf.text, "wasmer_vm_memory32_grow");
	look_for_engines(&elf, "program", true);
	expect_row("engine", DOCTOR_NO, "wasmer inside program registers no unwind tables");
}

static void finds_packages_of_python(void **state)
{
	static char home[] = "HOME=/no/such/home", path[] = "PYTHONPATH=:extra:";
	static char *environment[] = { home, path, NULL };
	static char first[] = "python3", script[] = "app.py", *words[] = { first, script, NULL };
	struct elf elf = elf_new(GLIBC);

	(void)state;
	assert_int_equal(system("mkdir -p venv/bin venv/lib/python3.11/site-packages/wasmtime/"
				"linux-x86_64 venv/lib/python3.11/site-packages/"
				"wasmtime-36.0.0.dist-info extra && touch venv/pyvenv.cfg app.py "
				"python3.11 && ln -s ../../python3.11 venv/bin/python3"),
			 0);
	elf_write("venv/lib/python3.11/site-packages/wasmtime/linux-x86_64/_libwasmtime.so", &elf);
	begin();
	doctor.environment = environment;
	doctor.command = words;
	strcpy(doctor.program, "venv/bin/python3");
	doctor_python(&doctor);
	doctor_engine_tell(&doctor);
	assert_int_equal(doctor.engine_count, 1);
	expect_row("engine", DOCTOR_OK, "wasmtime 36.0.0");
	assert_int_equal(rename("venv/lib/python3.11/site-packages/wasmtime", "extra/wasmtime"), 0);
	begin();
	doctor.environment = environment;
	doctor.command = words;
	strcpy(doctor.program, "venv/bin/python3");
	doctor_python(&doctor);
	assert_int_equal(doctor.engine_count, 1);
	assert_string_equal(doctor.engines[0].version, "");
}

static void says_why_nothing_is_seen(void **state)
{
	struct elf elf = elf_new(NULL);
	char *why;

	(void)state;
	elf_write("static", &elf);
	why = doctor_why_nothing("./static");
	assert_non_null(why);
	assert_non_null(strstr(why, "statically linked"));
	free(why);
	assert_null(doctor_why_nothing("sh"));
}

static void rows_are_bounded(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 2 * DOCTOR_ROWS_MAX; i++)
		doctor_add(&doctor, DOCTOR_OK, "row", NULL, "%4000d", i);
	assert_int_equal(doctor.row_count, DOCTOR_ROWS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_kinds_of_programs),
		cmocka_unit_test(tells_privileges),
		cmocka_unit_test(follows_scripts),
		cmocka_unit_test(knows_wrappers),
		cmocka_unit_test(finds_engines),
		cmocka_unit_test(is_not_deceived_by_paths),
		cmocka_unit_test(names_engines_that_are_not_seen),
		cmocka_unit_test(sees_wasmedge_by_its_calls),
		cmocka_unit_test(finds_wasmer),
		cmocka_unit_test(finds_packages_of_python),
		cmocka_unit_test(says_why_nothing_is_seen),
		cmocka_unit_test(rows_are_bounded),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
