/* SPDX-License-Identifier: MIT */
/* wasmfiles_test.c - of the files that were opened, the one that a module was made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/load/wasmfiles.h"
#include "symtab/symtab.h"

static char folder[] = "/tmp/wasmfiles-XXXXXX";

/* A file of FUNCTIONS empty functions, below 64, behind a custom section of its NAME. */
static char *write_file(const char *name, unsigned int functions)
{
	uint8_t bytes[512] = "\0asm\1\0\0\0";
	size_t size = 8, length = strlen(name);
	char *path;
	FILE *file;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	bytes[size++] = 0;
	bytes[size++] = (uint8_t)(length + 1);
	bytes[size++] = (uint8_t)length;
	memcpy(bytes + size, name, length);
	size += length;
	memcpy(bytes + size, "\1\4\1\x60\0\0\3", 7);
	size += 7;
	bytes[size++] = (uint8_t)(1 + functions);
	bytes[size++] = (uint8_t)functions;
	size += functions;
	bytes[size++] = 10;
	bytes[size++] = (uint8_t)(1 + 3 * functions);
	bytes[size++] = (uint8_t)functions;
	for (unsigned int i = 0; i < functions; i++) {
		memcpy(bytes + size, "\2\0\x0b", 3);
		size += 3;
	}
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

static void opens(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(descriptor >= 0);
	wasmfiles_opened(path, descriptor);
	close(descriptor);
}

/* The last part of the path of what is found for FUNCTIONS, "" for nothing. */
static const char *found(uint32_t functions)
{
	static char name[64];
	char *path = NULL;
	struct wasmbin *wasm = wasmfiles_find(functions, &path);

	name[0] = '\0';
	if (wasm != NULL) {
		assert_int_equal(wasmbin_defined_functions(wasm, 0), functions);
		assert_non_null(path);
		snprintf(name, sizeof(name), "%s", strrchr(path, '/') + 1);
	}
	wasmbin_unref(wasm);
	free(path);
	return name;
}

static void names_that_say_so(void **state)
{
	(void)state;
	assert_true(wasmfiles_is_called_so("/a/b.wasm"));
	assert_true(wasmfiles_is_called_so(".wasm"));
	assert_false(wasmfiles_is_called_so("wasm"));
	assert_false(wasmfiles_is_called_so("a.wasm.gz"));
	assert_false(wasmfiles_is_called_so(""));
	assert_false(wasmfiles_is_called_so(NULL));
}

static void matched_by_count(void **state)
{
	char *three = write_file("three.wasm", 3), *four = write_file("four.wasm", 4);

	(void)state;
	assert_string_equal(found(3), "");
	opens(three);
	opens(four);
	assert_string_equal(found(4), "four.wasm");
	assert_string_equal(found(3), "three.wasm");
	assert_string_equal(found(5), "");
	assert_string_equal(found(UINT32_MAX), "");
	free(three);
	free(four);
}

/* Unused ones in their order; then the one opened last. */
static void ties(void **state)
{
	char *first = write_file("first.wasm", 7), *second = write_file("second.wasm", 7);

	(void)state;
	opens(first);
	opens(second);
	opens(first);
	assert_string_equal(found(7), "first.wasm");
	assert_string_equal(found(7), "second.wasm");
	assert_string_equal(found(7), "first.wasm");
	opens(second);
	assert_string_equal(found(7), "second.wasm");
	free(first);
	free(second);
}

/* What lies at the path now is not what the host opened. */
static void changed_since(void **state)
{
	char *path = write_file("changed.wasm", 9), *other = write_file("other.wasm", 9);

	(void)state;
	opens(path);
	assert_int_equal(rename(other, path), 0);
	assert_string_equal(found(9), "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(found(9), ""); /* and waits for nobody */
	free(path);
	free(other);
}

static void not_wasm(void **state)
{
	static const char *const contents[] = { "", "\0asm", "wasm, but text", "\0asm\1\0\0\0\3",
						"\0asm\1\0\0\0\3\5\xff\xff\xff\xff\xff" };
	static const size_t sizes[] = { 0, 4, 14, 9, 15 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		char path[64];
		FILE *file;

		snprintf(path, sizeof(path), "%s/odd%zu.wasm", folder, i);
		file = fopen(path, "wb");
		assert_non_null(file);
		fwrite(contents[i], 1, sizes[i], file);
		fclose(file);
		opens(path);
	}
	wasmfiles_opened("/dev/null", 0); /* no regular file, or none at all */
	wasmfiles_opened("gone.wasm", -1);
	assert_string_equal(found(11), "");
}

/* Whatever bytes stand where sections should: counting ends. */
static void hostile(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/hostile.wasm", folder);
	srand(7);
	for (int round = 0; round < 300; round++) {
		uint8_t bytes[200] = "\0asm\1\0\0\0";
		FILE *file = fopen(path, "wb");

		for (size_t i = 8; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(rand() % 3 == 0 ? rand() : rand() % 4);
		fwrite(bytes, 1, (size_t)(8 + rand() % 192), file);
		fclose(file);
		opens(path);
		found((uint32_t)(rand() % 20));
	}
}

/* More than are kept: the ones of long ago go. */
static void many(void **state)
{
	char *early = write_file("early.wasm", 13);

	(void)state;
	opens(early);
	for (int i = 0; i < 200; i++) {
		char name[32], *path;

		snprintf(name, sizeof(name), "many%d.wasm", i);
		path = write_file(name, 14);
		opens(path);
		free(path);
	}
	assert_string_equal(found(13), "");
	assert_string_equal(found(14), "many136.wasm");
	free(early);
}

/* A relative path means the file that it meant when it was opened. */
static void relative(void **state)
{
	char *path = write_file("relative.wasm", 21);

	(void)state;
	assert_int_equal(chdir(folder), 0);
	opens("relative.wasm");
	assert_int_equal(chdir("/"), 0);
	assert_string_equal(found(21), "relative.wasm");
	free(path);
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

static bool has_functions(void *context, const struct wasmbin *wasm)
{
	return wasmbin_defined_functions(wasm, 0) == *(const uint32_t *)context;
}

/* Engines that tell names, and no numbers, ask file by file. */
static void matched_by_its_content(void **unused)
{
	char *few = write_file("few.wasm", 41), *more = write_file("more.wasm", 42), *path = NULL;
	struct wasmbin *wasm;
	uint32_t wanted = 42;

	(void)unused;
	opens(few);
	opens(more);
	wasm = wasmfiles_match(has_functions, &wanted, &path);
	assert_non_null(wasm);
	assert_string_equal(path, more);
	wasmbin_unref(wasm);
	free(path);
	wanted = 43;
	assert_null(wasmfiles_match(has_functions, &wanted, &path));
	assert_null(path);
	free(few);
	free(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_say_so),
		cmocka_unit_test(matched_by_count),
		cmocka_unit_test(ties),
		cmocka_unit_test(changed_since),
		cmocka_unit_test(not_wasm),
		cmocka_unit_test(hostile),
		cmocka_unit_test(many),
		cmocka_unit_test(relative),
		cmocka_unit_test(matched_by_its_content),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
