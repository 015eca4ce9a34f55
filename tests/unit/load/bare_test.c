/* SPDX-License-Identifier: MIT */
/* bare_test.c - code that came with unwind tables only: whose it is, and its functions' names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/load/load.h"
#include "preload/load/wasmfiles.h"
#include "preload/sig/ranges.h"
#include "symtab/symtab.h"
#include "tests/unit/load/observer.h"
#include "tests/unit/unwind/tables.h"

enum { PAGE = 4096, NEAR = 0, FAR = 0x100, END = 0x120 };

/* Two functions: "near" is the first. */
static const uint8_t wasm[] = {
	0, 'a', 's', 'm', 1,   0, 0, 0, 1, 4,	 1,   0x60, 0,	  0,   3,
	3, 2,	0,   0,	  10,  7, 2, 2, 0, 0x0b, 2,   0,    0x0b, 0,   14,
	4, 'n', 'a', 'm', 'e', 1, 7, 1, 0, 4,	 'n', 'e',  'a',  'r',
};

static unsigned int asked;

static const char *is_wasmer(const void *caller, char version[32])
{
	assert_string_equal(caller, "caller");
	memcpy(version, "7.0.1", 6);
	asked++;
	return "wasmer";
}

static const char *is_none(const void *caller, char version[32])
{
	(void)caller;
	version[0] = '\0';
	return NULL;
}

static uint8_t *page;
static struct bytes tables;

/* Registers two functions, the second one first, in a page of code as PROLOGUES says. */
static void register_two(bool has_prologues, const char *(*engine)(const void *, char *))
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	const struct load_maker maker = { .caller = "caller", .engine = engine };
	struct fde fde = { .augmented = true, .size = END - FAR, .program = "" };
	uint64_t address = (uintptr_t)tables.at;

	memset(page, 0x90, PAGE);
	for (size_t at = NEAR; has_prologues && at <= FAR; at += FAR)
		memcpy(page + at, prologue, sizeof(prologue));
	tables.size = 0;
	fde.cie = put_cie(&tables, "zR", 0x00);
	fde.start = (uintptr_t)page + FAR;
	put_fde(&tables, &fde, address);
	fde.start = (uintptr_t)page + NEAR;
	put_fde(&tables, &fde, address);
	put_u32(&tables, 0);
	load_register_frame(tables.at, &maker);
	assert_true(load_work(&observer) > 0);
}

static const struct symtab_entry *entry(void)
{
	return symtab_find(load_symtab(), (uintptr_t)page, ranges_current()->generation);
}

static const char *name_at(size_t offset)
{
	struct module *module = entry()->module;
	const struct symbol *symbol = module_find(module, offset);

	assert_non_null(symbol);
	return module_symbol_name(module, symbol);
}

static void forget(void)
{
	unsigned int before = retired;

	load_deregister_frame(tables.at);
	load_work(&observer);
	assert_int_equal(retired, before + 1);
	assert_null(entry());
}

static void open_file(void)
{
	char path[] = "/tmp/bare-XXXXXX.wasm";
	int descriptor = mkstemps(path, 5);

	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, wasm, sizeof(wasm)), sizeof(wasm));
	wasmfiles_opened(path, descriptor);
	close(descriptor);
	/* Still there when our thread looks; then it may go. */
	register_two(true, is_wasmer);
	assert_int_equal(unlink(path), 0);
	assert_string_equal(module_path(entry()->module), path);
}

static void unknown_makers(void **state)
{
	const struct range *range;

	(void)state;
	register_two(false, is_none);
	assert_string_equal(module_engine(entry()->module), "");
	assert_memory_equal(module_name(entry()->module), "[jit 0x", 7);
	assert_memory_equal(name_at(FAR), "[jit 0x", 7);
	range = ranges_find(ranges_current(), (uintptr_t)page);
	assert_non_null(range);
	assert_false(range->has_frame_pointers);
	forget();
}

static void without_a_file(void **state)
{
	(void)state;
	register_two(true, is_wasmer);
	assert_int_equal(asked, 1);
	assert_string_equal(module_engine(entry()->module), "wasmer");
	assert_string_equal(module_engine_version(entry()->module), "7.0.1");
	assert_true(ranges_find(ranges_current(), (uintptr_t)page)->has_frame_pointers);
	assert_non_null(strstr(name_at(NEAR), "!wasm-function[0]"));
	assert_non_null(strstr(name_at(FAR), "!wasm-function[1]"));
	forget();
}

static void by_its_file(void **state)
{
	(void)state;
	open_file();
	assert_string_equal(name_at(NEAR), "near");
	assert_non_null(strstr(name_at(FAR), "!wasm-function[1]"));
	assert_true(module_identity_is_wasm(entry()->module));
	forget();
}

/* A load call showed the bytes: nobody asks the maker, or looks at files. */
static void by_its_bytes(void **state)
{
	unsigned int before = asked;
	struct load_bytes *bytes = load_bytes_begin(wasm, sizeof(wasm));

	(void)state;
	assert_non_null(bytes);
	register_two(true, is_wasmer);
	assert_null(entry()); /* waits for the end of the call */
	load_bytes_end(bytes);
	assert_int_not_equal(
		load_announce(&(struct load_event){
			.engine = "wasmer", .version = "2.0.0", .handle = page, .bytes = bytes }),
		0);
	load_work(&observer);
	assert_int_equal(asked, before);
	assert_string_equal(module_engine_version(entry()->module), "2.0.0");
	assert_string_equal(name_at(NEAR), "near");
	load_forget(page);
	forget();
}

/* Tables of glue and, behind them, of the module's two functions; the glue's code is the last. */
static void put_three(void)
{
	struct fde fde = { .augmented = true, .size = END - FAR, .program = "" };
	uint64_t address = (uintptr_t)tables.at;

	tables.size = 0;
	fde.cie = put_cie(&tables, "zR", 0x00);
	for (size_t i = 0; i < 3; i++) {
		fde.start = (uintptr_t)page + (i == 0 ? 2 * FAR : (i - 1) * FAR);
		put_fde(&tables, &fde, address);
	}
	put_u32(&tables, 0);
}

static void expect_three(void)
{
	const struct symbol *glue = module_find(entry()->module, 2 * FAR);

	assert_non_null(glue);
	assert_int_equal(glue->kind, SYMBOL_TRAMPOLINE);
	assert_string_equal(name_at(NEAR), "near");
	assert_non_null(strstr(name_at(FAR), "!wasm-function[1]"));
}

static void glue_comes_first(void **state)
{
	const struct load_maker maker = { .caller = "caller", .engine = is_none };
	struct load_bytes *bytes = load_bytes_begin(wasm, sizeof(wasm));

	(void)state;
	put_three();
	load_register_frame(tables.at, &maker);
	load_bytes_end(bytes);
	load_announce(&(struct load_event){
		.engine = "made ahead", .bytes = bytes, .glue_comes_first = true });
	load_work(&observer);
	expect_three();
	forget();
}

/* In an object that is unloaded: its tables are not there any more when our thread looks. */
static void in_an_object(void **state)
{
	struct load_bytes *bytes = load_bytes_begin(wasm, sizeof(wasm));
	unsigned int before = retired;
	uint32_t loading;

	(void)state;
	load_bytes_end(bytes);
	put_three();
	loading = load_object(tables.at, &(struct load_event){ .engine = "made ahead",
							       .bytes = bytes,
							       .glue_comes_first = true });
	assert_int_not_equal(loading, 0);
	memset(tables.at, 0, tables.size);
	load_work(&observer);
	expect_three();
	load_retire(loading);
	load_retire(loading);
	load_work(&observer);
	assert_int_equal(retired, before + 1);
	assert_null(entry());
	/* what is no table */
	assert_int_equal(load_object(tables.at, &(struct load_event){ .engine = "none" }), 0);
	load_retire(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_makers),   cmocka_unit_test(without_a_file),
		cmocka_unit_test(by_its_file),	    cmocka_unit_test(by_its_bytes),
		cmocka_unit_test(glue_comes_first), cmocka_unit_test(in_an_object),
	};

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
