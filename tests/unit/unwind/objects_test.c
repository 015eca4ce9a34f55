/* SPDX-License-Identifier: MIT */
/* objects_test.c - libraries of this process come, go and come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "preload/unwind/objects.h"

#define LIBRARY "libz.so.1"

static void test_what_is_there(void **state)
{
	const struct object *object;

	(void)state;
	objects_refresh();
	assert_true(objects_count() >= 3); /* program, libc, loader */
	object = objects_find_code((uintptr_t)test_what_is_there);
	assert_non_null(object);
	assert_string_equal(object->name, "");
	object = objects_find_code((uintptr_t)dlsym(RTLD_DEFAULT, "qsort"));
	assert_non_null(object);
	assert_true(strstr(object->name, "libc") != NULL || strstr(object->name, "san") != NULL);
	assert_null(objects_find((uintptr_t)&object));
	assert_null(objects_find(0));
	assert_null(objects_find(UINTPTR_MAX));
	assert_false(objects_refresh());
}

static void test_come_and_go(void **state)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	uintptr_t pc, fde = 0;
	size_t count;
	struct object *object;

	(void)state;
	if (library == NULL)
		skip();
	pc = (uintptr_t)dlsym(library, "deflateInit2_");
	objects_refresh();
	count = objects_count();
	object = objects_find_code(pc);
	assert_non_null(object);
	assert_non_null(strstr(object->name, LIBRARY));
	assert_true(object_find_fde(object, pc, &fde));
	object->used = true;
	assert_false(objects_confirm());
	dlclose(library);
	if (dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD) != NULL)
		skip(); /* something else holds it */
	assert_true(objects_refresh());
	objects_flushed();
	assert_false(objects_refresh());
	assert_int_equal(objects_count(), count - 1);
	assert_int_equal(objects_gone(), 1);
	/* samples from before still find it, with what was copied */
	assert_ptr_equal(objects_find_code(pc), object);
	assert_true(object->gone);
	assert_true(object_find_fde(object, pc, &fde));
}

/* Copies made while the library may have been replaced are not kept. */
static void test_unconfirmed(void **state)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	uintptr_t pc, fde = 0;

	(void)state;
	if (library == NULL)
		skip();
	pc = (uintptr_t)dlsym(library, "deflateInit2_");
	objects_refresh();
	object_distrust(objects_find_code(pc));
	assert_true(object_find_fde(objects_find_code(pc), pc, &fde));
	dlclose(library);
	assert_true(objects_confirm());
	assert_false(object_find_fde(objects_find_code(pc), pc, &fde));
}

static void test_many_times(void **state)
{
	size_t pages = 0;
	int round;

	(void)state;
	for (round = 0; round < 200; round++) {
		void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		uintptr_t fde, pc;

		if (library == NULL)
			skip();
		pc = (uintptr_t)dlsym(library, "deflateInit2_");
		if (objects_refresh())
			objects_flushed();
		assert_true(object_find_fde(objects_find_code(pc), pc, &fde));
		dlclose(library);
		if (objects_refresh())
			objects_flushed();
		if (round == 20)
			pages = pages_total();
	}
	assert_true(objects_gone() <= 64);
	assert_true(pages_total() <= pages + 64 * 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_there),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_unconfirmed),
		cmocka_unit_test(test_many_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
