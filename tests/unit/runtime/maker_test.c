/* SPDX-License-Identifier: MIT */
/* maker_test.c - which engine an object holds: objects are built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/runtime/maker.h"
#include "symtab/base.h"

static char folder[] = "/tmp/maker-XXXXXX";

/* An object whose constants are TEXT, far behind PADDING bytes; its only function is returned. */
static void *object_with(const char *name, const char *text, size_t padding)
{
	char command[256], path[64];
	void *handle;
	FILE *cc;

	snprintf(path, sizeof(path), "%s/%s.so", folder, name);
	snprintf(command, sizeof(command), "cc -shared -fPIC -xc -o %s -", path);
	cc = popen(command, "w");
	assert_non_null(cc);
	fprintf(cc,
		"const struct { char padding[%zu], text[%zu]; } constants = { \"x\", \"%s\" };\n"
		"void registers(void) { }\n%s",
		padding, strlen(text) + 1, text,
		strcmp(name, "llvm") == 0 ? "void LLVMContextCreate(void) { }\n" : "");
	assert_int_equal(pclose(cc), 0);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	return dlsym(handle, "registers");
}

static void engines_and_versions(void **state)
{
	static const struct {
		const char *text, *engine, *version;
	} cases[] = {
		{ "/cargo/wasmer-vm-7.0.1/src/lib.rs", "wasmer", "7.0.1" },
		{ "wasmer_vm_memory32_grow", "wasmer", "" },
		{ "-wasmer_vm_memory32_grow-/x/wasmer-compiler-8.12/src/", "wasmer", "8.12" },
		{ "wasmer-universal", "wasmer", "" },
		{ "/x/wasmer-vm-seven/src /wasmer-vm- /wasmer-vm-7.0.1", NULL, "" },
		{ "/x/wasmer-vm-1111111111.1111111111.1111111111/src", NULL, "" },
		{ "nothing of that", NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char name[16], version[32] = "before";
		const char *engine;
		void *function;

		snprintf(name, sizeof(name), "case%zu", i);
		/* also across the border of two pieces */
		function = object_with(name, cases[i].text, i == 0 ? (1 << 20) - 0x2010 : 10);
		for (int again = 0; again < 2; again++) {
			engine = runtime_maker(function, version);
			if (cases[i].engine == NULL)
				assert_null(engine);
			else
				assert_string_equal(engine, cases[i].engine);
			assert_string_equal(version, cases[i].version);
		}
	}
}

/* Not looked through, whatever texts it has. */
static void llvm(void **state)
{
	char version[32] = "before";

	(void)state;
	assert_null(runtime_maker(object_with("llvm", "/wasmer-vm-7.0.1/src", 10), version));
	assert_string_equal(version, "");
}

static void no_object(void **state)
{
	char version[32] = "before";
	char here = 0;

	(void)state;
	assert_null(runtime_maker(&here, version));
	assert_string_equal(version, "");
	assert_null(runtime_maker(NULL, version));
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_and_versions),
		cmocka_unit_test(llvm),
		cmocka_unit_test(no_object),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
