/* SPDX-License-Identifier: MIT */
/*
 * libc_test.c - symbol tables of real objects: ours says what the libc's own dlsym says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include "preload/hook/libc.h"

static const struct link_map *libc_map(void)
{
	const struct link_map *map = _r_debug.r_map;

	while (map != NULL && strstr(map->l_name, "libc.so.6") == NULL)
		map = map->l_next;
	assert_non_null(map);
	return map;
}

static void *look(const char *name, const char *version)
{
	return libc_symbol(libc_map()->l_addr, libc_map()->l_ld, name, version);
}

static void real_functions_work(void **context)
{
	const struct libc *libc = libc_real();
	void *handle = libc->dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	(void)context;
	assert_non_null(handle);
	assert_ptr_equal(libc->dlsym(handle, "qsort"), look("qsort", NULL));
	assert_ptr_equal(libc->dlvsym(handle, "qsort", "GLIBC_2.2.5"), look("qsort", NULL));
	assert_null(libc->dlsym(handle, "no_such_function"));
	assert_non_null(libc->dlerror());
	assert_null(libc->dlerror());
	assert_int_equal(libc->dlclose(handle), 0);
	assert_ptr_equal(libc_real(), libc);
}

/* memcpy has two versions in the libc, and both are IFUNCs; pthread_cond_wait has two plain ones.
 */
static void versions_are_told_apart(void **context)
{
	void *now = look("pthread_cond_wait", NULL);
	void *old = look("pthread_cond_wait", "GLIBC_2.2.5");

	(void)context;
	assert_non_null(now);
	assert_non_null(old);
	assert_ptr_not_equal(now, old);
	assert_ptr_equal(look("pthread_cond_wait", "GLIBC_2.3.2"), now);
	assert_null(look("pthread_cond_wait", "GLIBC_2.99"));
	assert_null(look("pthread_cond_wait", ""));
	assert_null(look("memcpy", NULL));
}

static void what_is_not_a_function_is_not_found(void **context)
{
	(void)context;
	assert_null(look("environ", NULL));	   /* data */
	assert_null(look("errno", NULL));	   /* thread-local */
	assert_null(look("__tls_get_addr", NULL)); /* undefined here: the loader's */
	assert_null(look("", NULL));
	assert_null(look("qsor", NULL));
	assert_null(look("qsortt", NULL));
}

/* Every name of a table is found again, through the hash table. */
static void all_names_are_found(void **context)
{
	static const char *const names[] = { "abort",	       "dlsym",	    "dlvsym", "fopen",
					     "getenv",	       "malloc",    "open",   "printf",
					     "pthread_create", "sigaction", "write" };
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_ptr_equal(look(names[i], NULL), libc_real()->dlsym(handle, names[i]));
	dlclose(handle);
}

/* The vdso's tables are not relocated, and it may have the old hash table only. */
static void vdso_tables_can_be_read(void **context)
{
	const struct link_map *map = _r_debug.r_map;
	void *found;

	(void)context;
	while (map != NULL && strstr(map->l_name, "linux-vdso") == NULL)
		map = map->l_next;
	if (map == NULL)
		skip();
	found = libc_symbol(map->l_addr, map->l_ld, "__vdso_clock_gettime", NULL);
	assert_non_null(found);
	assert_ptr_equal(libc_symbol(map->l_addr, map->l_ld, "__vdso_clock_gettime", "LINUX_2.6"),
			 found);
	assert_null(libc_symbol(map->l_addr, map->l_ld, "__vdso_nothing", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_functions_work),
		cmocka_unit_test(versions_are_told_apart),
		cmocka_unit_test(what_is_not_a_function_is_not_found),
		cmocka_unit_test(all_names_are_found),
		cmocka_unit_test(vdso_tables_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
