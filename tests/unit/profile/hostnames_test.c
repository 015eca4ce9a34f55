/* SPDX-License-Identifier: MIT */
/* hostnames_test.c - names of the host's functions, as they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/profile/hostnames.h"

enum { PAGE = 4096 };

static void test_own_function(void **state)
{
	struct hostname name;

	(void)state;
	hostnames_find((uintptr_t)test_own_function + 4, &name);
	assert_string_equal(name.shown, "test_own_function");
	assert_string_equal(name.object, "hostnames_test");
	assert_true(name.is_symbol);
	hostnames_find((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version") + 1, &name);
	assert_string_equal(name.shown, "gnu_get_libc_version");
	assert_non_null(strstr(name.object, "libc"));
	hostnames_forget();
}

static void test_nobody(void **state)
{
	struct hostname name;
	Dl_info info;

	(void)state;
	hostnames_find(0x1234, &name);
	assert_string_equal(name.shown, "0x1234");
	assert_string_equal(name.object, "");
	assert_false(name.is_symbol);
	/* in the object, but in no function of it: its header */
	assert_int_not_equal(dladdr((void *)test_nobody, &info), 0);
	hostnames_find((uintptr_t)info.dli_fbase + 8, &name);
	assert_string_equal(name.shown, "hostnames_test+0x8");
	assert_false(name.is_symbol);
	hostnames_forget();
}

static void test_generated(void **state)
{
	uint8_t *code = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hostname name;
	char expected[64];

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(mprotect(code + PAGE, PAGE, PROT_READ | PROT_EXEC), 0);
	snprintf(expected, sizeof(expected), "[jit 0x%zx+0x1000]", (uintptr_t)code + PAGE);
	for (uintptr_t pc = (uintptr_t)code + PAGE; pc < (uintptr_t)code + 2 * PAGE; pc += 0x400) {
		hostnames_find(pc, &name);
		assert_string_equal(name.shown, expected);
		assert_string_equal(name.object, "");
		assert_false(name.is_symbol);
	}
	/* no code can be there */
	hostnames_find((uintptr_t)code, &name);
	assert_memory_equal(name.shown, "0x", 2);
	munmap(code, 3 * PAGE);
	hostnames_forget();
	hostnames_find((uintptr_t)code + PAGE, &name);
	assert_memory_equal(name.shown, "0x", 2);
	hostnames_forget();
}

static void test_shorten(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "main", "main" },
		{ "<tokio::runtime::runtime::Runtime>::block_on::<<a::B>::run::{closure#0}>",
		  "tokio::runtime::runtime::Runtime::block_on" },
		{ "<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
		  "<alloc::boxed::Box as core::ops::function::FnOnce>::call_once" },
		{ "<T as Trait<U>>::f::{{closure}}", "<T as Trait>::f::{{closure}}" },
		{ "core::iter::adapters::map::map_fold::<u8, <A as B<C>>::D>",
		  "core::iter::adapters::map::map_fold" },
		{ "<&mut F as FnMut<A>>::call_mut", "<&mut F as FnMut>::call_mut" },
		{ "<fn(&T) -> U as FnOnce<A>>::call_once::<X>",
		  "<fn(&T) -> U as FnOnce>::call_once" },
		{ "tokio[5344abae932765f]::run::Runtime::block_on",
		  "tokio::run::Runtime::block_on" },
		{ "a::b::h6a61138fe3501f37", "a::b" },
		{ "a[12]::b::hash", "a[12]::b::hash" },
		{ "a::b::<X", "a::b::<X" },
		{ "a::b>::c::<D>", "a::b>::c" },
		/* short C++ stays as it is */
		{ "std::map<int, int>::at(int const&)", "std::map<int, int>::at(int const&)" },
		{ "operator<< <char>(a)", "operator<< <char>(a)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s", cases[i].name);
		hostnames_shorten(text);
		assert_string_equal(text, cases[i].shown);
	}
}

static void test_shorten_long_cxx(void **state)
{
	char text[512] = "std::_Hashtable<std::__cxx11::basic_string<char, std::char_traits<char>, "
			 "std::allocator<char> >, int>::_M_insert(int const&, std::allocator<int>)";

	(void)state;
	hostnames_shorten(text);
	assert_string_equal(text, "std::_Hashtable::_M_insert");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_function),	 cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_generated),	 cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_shorten_long_cxx),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
