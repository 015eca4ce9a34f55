/* SPDX-License-Identifier: MIT */
/*
 * demangle_test.c - names as the engine's own guest profiler shows them, and bombs that stay small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symtab.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* 239 bytes that libiberty makes 402 MB of, and 233 that it makes 193 MB of. */
static const char rust_bomb[] =
	"_RINvC1a1bThhETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB"
	"15_B15_ETB1d_B1d_ETB1n_B1n_ETB1x_B1x_ETB1H_B1H_ETB1R_B1R_ETB21_B21_ETB2b_B2b_ETB"
	"2l_B2l_ETB2v_B2v_ETB2F_B2F_ETB2P_B2P_ETB2Z_B2Z_ETB39_B39_ETB3j_B3j_ETB3t_B3t_EE";
static const char cxx_bomb[] =
	"_Z1f4PairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S"
	"6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_S"
	"E_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_E";

static void check(const char *name, const char *expected)
{
	char out[512];
	size_t length = demangle(name, strlen(name), out, sizeof(out));

	assert_string_equal(out, expected);
	assert_int_equal(length, strlen(expected));
}

static void demangles_rust(void **state)
{
	(void)state;
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
	      "core::fmt::Formatter::pad::h0123456789abcdef");
	check("_ZN76_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
	      "3fmt17h0123456789abcdefE",
	      "_ZN76_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
	      "3fmt17h0123456789abcdefE");
	check("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
	      "3fmt17h0123456789abcdefE",
	      "<alloc::string::String as core::fmt::Debug>::fmt::h0123456789abcdef");
	check("_RNvCs1234_7mycrate3foo", "mycrate[3c1c0]::foo");
	check("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	check("_RNvXs1g_NtCsknUcikIyyBm_4core3fmtRAbj100_NtB6_5Debug3fmt",
	      "<&[bool; 256usize] as core[ed718c3d60ebd546]::fmt::Debug>::fmt");
	check("_RIC3barKb1_E", "bar::<true>");
	check("_RIC3barKc61_E", "bar::<'a'>");
}

static void keeps_the_suffixes_that_tell_apart(void **state)
{
	(void)state;
	check("_ZN3foo17h05af221e174051e9E.3", "foo::h05af221e174051e9.3");
	check("_ZN3foo17h05af221e174051e9E.llvm.1234567890", "foo::h05af221e174051e9");
	check("_ZN3foo17h05af221e174051e9E.2.llvm.12AB", "foo::h05af221e174051e9.2");
	check("_RNCNvC4test4main0.llvm.99", "test::main::{closure#0}");
	check("_RNCNvC4test4main0.7", "test::main::{closure#0}.7");
	check("_Z3addii.isra.0", "add(int, int) [clone .isra.0]");
}

static void demangles_cxx(void **state)
{
	(void)state;
	check("_ZN3foo3barEi", "foo::bar(int)");
	check("__Z3addii", "add(int, int)");
	check("_ZN3FooD0Ev", "Foo::~Foo()");
	check("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
	check("_ZNSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEEixERS3_",
	      "std::map<int, std::string, std::less<int>, "
	      "std::allocator<std::pair<int const, std::string> > >::operator[](int const&)");
}

static void leaves_other_names_alone(void **state)
{
	static const char *const names[] = {
		"plain",
		"",
		"_",
		"_Z",
		"_R",
		"__Z",
		"_ZNbroken",
		"_RNvCsbad",
		"$s4main3fooyyF",
		"_D3foo3barFZv",
		"?foo@@YAXXZ",
		"main.(*T).Method",
		"(*go/scanner.Scanner).scanEscape",
		"strconv.bsearch[[]uint16 uint16]",
		"_GLOBAL__I_000100",
		"std::vec<int>::f(a, b)",
		"_Z3addii and more",
		"_RNvCs1234_7mycrate3foo externref shim",
		"foo.command_export",
		"na\xc3\xafve",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check(names[i], names[i]);
}

static void shows_no_byte_that_cannot_be_shown(void **state)
{
	char out[64];

	(void)state;
	check("tab\there", "tab\\x09here");
	check("\xff\xfe", "\\xff\\xfe");
	demangle("_Z3addii\0x", 10, out, sizeof(out));
	assert_string_equal(out, "_Z3addii\\x00x");
	check("_ZN3f\xffo3barEi", "f\\xffo::bar(int)");
}

static void cuts_so_that_names_stay_different(void **state)
{
	char long_name[5000], one[256], other[256];

	(void)state;
	memset(long_name, 'y', sizeof(long_name));
	assert_int_equal(demangle(long_name, sizeof(long_name), one, sizeof(one)), 255);
	long_name[sizeof(long_name) - 1] = 'z';
	demangle(long_name, sizeof(long_name), other, sizeof(other));
	assert_memory_equal(one, other, 242);
	assert_int_equal(one[242], '~');
	assert_string_not_equal(one, other);
	assert_int_equal(demangle("_ZN3foo3barEi", 13, one, 1), 0);
	assert_string_equal(one, "");
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void check_bomb(const char *name)
{
	char out[8192];
	double start = cpu_ms();

	assert_int_equal(demangle(name, strlen(name), out, sizeof(out)), strlen(name));
	assert_true(cpu_ms() - start < 10);
	assert_string_equal(out, name);
}

/* Peak of the process's memory in kB, which only rises. */
static long peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* The first test: what others take would hide it. */
static void bombs_take_no_memory(void **state)
{
	long before = peak_kb();

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* a sanitizer's memory is not ours */
#endif
	check_bomb(rust_bomb);
	assert_in_range(peak_kb() - before, 0, 1024);
	before = peak_kb();
	check_bomb(cxx_bomb);
	assert_in_range(peak_kb() - before, 0, 1024);
}

static void bombs_cost_nothing(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		check_bomb(rust_bomb);
		check_bomb(cxx_bomb);
	}
}

/* Appends a reference to what begins at offset AT of NAME (v0: less the "_R", less one, base 62).
 */
static void add_reference(char *name, size_t at)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t value = at - 3;
	char text[8] = { 'B' }, *end = text + 1;

	if (value >= 62)
		*end++ = digits[value / 62];
	*end++ = digits[value % 62];
	*end = '_';
	strcat(name, text);
}

/* Punycode's buffer must not be lost when its output is cut off (LeakSanitizer sees to it). */
static void a_punycode_bomb_loses_no_memory(void **state)
{
	char name[600] = "_RINvC1a1bNtC1au8gdel_5qa", out[8192];
	size_t before = strlen("_RINvC1a1b");
	int i;

	(void)state;
	for (i = 0; i < 24; i++) {
		size_t here = strlen(name);

		strcat(name, "T");
		add_reference(name, before);
		add_reference(name, before);
		strcat(name, "E");
		before = here;
		if (i == 0) {
			demangle("_RINvC1a1bNtC1au8gdel_5qaTB7_B7_EE", 34, out, sizeof(out));
			assert_string_equal(out, "a::b::<a::g\xc3\xb6"
						 "del, (a::g\xc3\xb6"
						 "del, a::g\xc3\xb6"
						 "del)>");
		}
	}
	strcat(name, "E");
	check_bomb(name);
}

static void *demangle_deep(void *result)
{
	char name[1100] = "_Z1f", out[2100];

	memset(name + 4, 'P', 1000);
	strcpy(name + 1004, "i");
	demangle(name, strlen(name), out, sizeof(out));
	*(bool *)result = strncmp(out, "f(int*", 6) == 0 && strlen(out) == 1006;
	return NULL;
}

static void needs_little_stack(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool result = false;

	(void)state;
	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstacksize(&attributes, 64 << 10), 0);
	assert_int_equal(pthread_create(&thread, &attributes, demangle_deep, &result), 0);
	pthread_join(thread, NULL);
	assert_true(result);
	pthread_attr_destroy(&attributes);
}

static void survives_mutations(void **state)
{
	static const char *const seeds[] = {
		rust_bomb,
		cxx_bomb,
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
		"3fmt17h0123456789abcdefE",
		"_RNvXs1g_NtCsknUcikIyyBm_4core3fmtRAbj100_NtB6_5Debug3fmt",
	};
	uint32_t random = 1;
	char out[1024];
	size_t i, k;

	(void)state;
	for (i = 0; i < 20000; i++) {
		char *name = strdup(seeds[i % 5]);
		size_t length = strlen(name);

		for (k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			name[2 + (random >> 8) % (length - 2)] = (char)(random >> 24);
		}
		demangle(name, length - random % 3, out, sizeof(out));
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bombs_take_no_memory),
		cmocka_unit_test(demangles_rust),
		cmocka_unit_test(keeps_the_suffixes_that_tell_apart),
		cmocka_unit_test(demangles_cxx),
		cmocka_unit_test(leaves_other_names_alone),
		cmocka_unit_test(shows_no_byte_that_cannot_be_shown),
		cmocka_unit_test(cuts_so_that_names_stay_different),
		cmocka_unit_test(bombs_cost_nothing),
		cmocka_unit_test(a_punycode_bomb_loses_no_memory),
		cmocka_unit_test(needs_little_stack),
		cmocka_unit_test(survives_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
