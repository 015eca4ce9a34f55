/* SPDX-License-Identifier: MIT */
/* objsyms_test.c - this program's own symbols, a library's, and files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/objsyms.h"

/* Where addresses of this program are counted from. */
static uintptr_t own_base(void)
{
	Dl_info info;

	assert_int_not_equal(dladdr((void *)own_base, &info), 0);
	return (uintptr_t)info.dli_fbase;
}

static void test_own_functions(void **state)
{
	uintptr_t base = own_base();
	struct objsyms *objsyms = objsyms_open("/proc/self/exe", (const uint8_t *)base);

	(void)state;
	assert_non_null(objsyms);
	assert_true(objsyms_count(objsyms) > 10);
	assert_string_equal(objsyms_find(objsyms, (uintptr_t)own_base - base), "own_base");
	assert_string_equal(objsyms_find(objsyms, (uintptr_t)test_own_functions + 20 - base),
			    "test_own_functions");
	assert_null(objsyms_find(objsyms, 1));
	assert_null(objsyms_find(objsyms, UINT64_MAX));
	objsyms_close(objsyms);
}

/* Without .symtab the dynamic symbols do. */
static void test_library(void **state)
{
	void *function = dlsym(RTLD_DEFAULT, "qsort");
	struct objsyms *objsyms;
	const char *name;
	Dl_info info;

	(void)state;
	assert_int_not_equal(dladdr(function, &info), 0);
	objsyms = objsyms_open(info.dli_fname, (const uint8_t *)info.dli_fbase);
	assert_non_null(objsyms);
	name = objsyms_find(objsyms, (uintptr_t)function - (uintptr_t)info.dli_fbase);
	assert_non_null(name);
	assert_non_null(strstr(name, "qsort"));
	objsyms_close(objsyms);
}

static void test_another_file(void **state)
{
	uint8_t header[OBJSYMS_HEADER];

	(void)state;
	memcpy(header, (const void *)own_base(), sizeof(header));
	header[40] ^= 1; /* the section headers are elsewhere */
	assert_null(objsyms_open("/proc/self/exe", header));
	assert_int_equal(errno, ESTALE);
	assert_null(objsyms_open("/nowhere", NULL));
	assert_int_equal(errno, ENOENT);
	assert_null(objsyms_open("/proc/self/cmdline", NULL));
	assert_int_equal(errno, EINVAL);
}

static uint8_t *read_own(size_t *size)
{
	FILE *file = fopen("/proc/self/exe", "rb");
	uint8_t *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void open_and_ask(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	struct objsyms *objsyms;
	uint64_t address;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	objsyms = objsyms_open(path, NULL);
	for (address = 0; objsyms != NULL && address < 1 << 16; address += 997)
		(void)objsyms_find(objsyms, address);
	objsyms_close(objsyms);
}

/* Cut anywhere, or with any byte of its headers changed: less is found, nothing breaks. */
static void test_damage(void **state)
{
	char path[] = "/tmp/objsyms_test.XXXXXX";
	int fd = mkstemp(path);
	size_t size, i;
	uint8_t *bytes = read_own(&size);
	ElfW(Ehdr) header;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	memcpy(&header, bytes, sizeof(header));
	for (i = 0; i < 64; i++)
		open_and_ask(path, bytes, size / 64 * i);
	for (i = 0; i < 400; i++) {
		size_t at = i % 2 == 0 ? i / 2 % 64 : header.e_shoff + (size_t)rand() % 2000;
		uint8_t before;

		if (at >= size)
			continue;
		before = bytes[at];
		bytes[at] = (uint8_t)rand();
		open_and_ask(path, bytes, size);
		bytes[at] = before;
	}
	unlink(path);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_functions),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_another_file),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
