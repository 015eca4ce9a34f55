/* SPDX-License-Identifier: MIT */
/* jitspace_test.c - functions that are told by name only: their memory, and who knows better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "preload/base/clock.h"
#include "preload/load/codequeue.h"
#include "preload/load/jitspace.h"
#include "preload/load/load.h"
#include "preload/sig/ranges.h"
#include "symtab/symtab.h"
#include "tests/unit/load/fake_image.h"
#include "tests/unit/load/observer.h"
#include "tests/unit/unwind/tables.h"

enum { PAGE = 4096, SIZE = 4 * PAGE };
#define SECOND_NS UINT64_C(1000000000)

static uint64_t now_ns;

static const char *no_engine(const void *caller, char version[32])
{
	(void)caller;
	version[0] = '\0';
	return NULL;
}

static uint8_t *map(int rights)
{
	uint8_t *code = mmap(NULL, SIZE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* nothing beside it that the kernel could merge it with */
	assert_ptr_not_equal(code, MAP_FAILED);
	code += PAGE;
	assert_int_equal(mprotect(code, SIZE, rights), 0);
	jitspace_look_again(now_ns += 2 * SECOND_NS);
	return code;
}

static void unmap(uint8_t *code)
{
	munmap(code - PAGE, SIZE + 2 * PAGE);
	for (int look = 0; look < 2; look++)
		jitspace_look_again(now_ns += 2 * SECOND_NS);
	load_work(&observer);
}

static bool tell(const void *start, size_t size, const char *name)
{
	bool is_taken = jitspace_add(&(struct jit_function){
		.start = (uintptr_t)start,
		.size = size,
		.name = name,
		.name_length = strlen(name),
	});

	load_work(&observer);
	return is_taken;
}

static const struct symtab_entry *entry_at(const void *pc, uint64_t *place)
{
	*place = symtab_translate(load_symtab(), (uintptr_t)pc, clock_ns(CLOCK_MONOTONIC));
	return symtab_find(load_symtab(), *place, ranges_current()->generation);
}

static const char *name_at(const void *pc)
{
	uint64_t place;
	const struct symtab_entry *entry = entry_at(pc, &place);
	const struct symbol *symbol;

	if (entry == NULL || symtab_is_space(entry))
		return NULL;
	symbol = module_find(entry->module, place - entry->text);
	return symbol != NULL ? module_symbol_name(entry->module, symbol) : NULL;
}

static void its_mapping_becomes_known(void **state)
{
	uint8_t *code = map(PROT_READ | PROT_EXEC);
	const struct range *range;
	uint64_t place;

	(void)state;
	assert_true(tell(code + PAGE, 0x80, "first (long, int)"));
	assert_true(tell(code + 3 * PAGE, 0x80, "_ZN1a1bEv"));
	range = ranges_find(ranges_current(), (uintptr_t)code + PAGE);
	assert_non_null(range);
	assert_int_equal(range->start, (uintptr_t)code);
	assert_int_equal(range->end, (uintptr_t)code + SIZE);
	assert_false(range->has_frame_pointers);
	assert_string_equal(name_at(code + PAGE + 0x7f), "first (long, int)");
	assert_string_equal(name_at(code + 3 * PAGE), "a::b()");
	assert_null(name_at(code));
	assert_string_equal(module_name(entry_at(code + PAGE, &place)->module), "jit");
	assert_string_equal(module_engine(entry_at(code + PAGE, &place)->module), "");
	/* the other one's place */
	assert_true(tell(code + PAGE + 0x40, 0x80, "second"));
	assert_string_equal(name_at(code + PAGE + 0x40), "second");
	assert_null(name_at(code + PAGE));
	unmap(code);
}

static void moved(void **state)
{
	uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);

	(void)state;
	assert_true(tell(code, 0x40, "mover"));
	jitspace_move((uintptr_t)code, (uintptr_t)code + PAGE, 0x40);
	load_work(&observer);
	assert_string_equal(name_at(code + PAGE + 1), "mover");
	assert_null(name_at(code + 1));
	unmap(code);
}

static void only_where_code_of_a_jit_can_be(void **state)
{
	uint8_t *plain = map(PROT_READ | PROT_WRITE);

	(void)state;
	assert_false(tell(plain, 0x40, "in data"));
	assert_false(tell((void *)8, 0x40, "nowhere"));
	assert_false(tell((void *)(UINTPTR_MAX - 0xff), 0x40, "the kernel's"));
	/* the host's own code, and a library's */
	assert_false(tell((const void *)(uintptr_t)tell, 0x40, "pretender"));
	assert_false(tell((const void *)(uintptr_t)strlen, 0x40, "pretender"));
	unmap(plain);
}

static void an_image_knows_better(void **state)
{
	const struct load_maker nobody = { 0 };
	uint8_t *image = fake_image_map(NULL, "image", 2), *text = fake_image_text(image);

	(void)state;
	/* told before the image, which a scan finds late */
	jitspace_look_again(now_ns += 2 * SECOND_NS);
	assert_true(tell(text, 8, "wasm[0]::function[0]"));
	load_register_frame(fake_image_frames(image), &nobody);
	load_work(&observer);
	assert_string_equal(name_at(text + 1), "image0");
	assert_false(tell(text, 8, "wasm[0]::function[0]"));
	assert_string_equal(name_at(text + 1), "image0");
	load_deregister_frame(fake_image_frames(image));
	load_work(&observer);
	fake_image_unmap(image);
}

static void its_mapping_goes(void **state)
{
	uint8_t *code = map(PROT_READ | PROT_EXEC);

	(void)state;
	assert_true(tell(code + PAGE, 0x80, "before"));
	assert_non_null(ranges_find(ranges_current(), (uintptr_t)code));
	jitspace_look_again(now_ns); /* not so soon again */
	assert_int_equal(mprotect(code + 2 * PAGE, 2 * PAGE, PROT_READ), 0);
	jitspace_look_again(now_ns);
	assert_non_null(ranges_find(ranges_current(), (uintptr_t)code));
	/* it may be being written to, and back in a moment */
	jitspace_look_again(now_ns += 2 * SECOND_NS);
	assert_non_null(ranges_find(ranges_current(), (uintptr_t)code));
	jitspace_look_again(now_ns += 2 * SECOND_NS);
	assert_null(ranges_find(ranges_current(), (uintptr_t)code));
	/* what is left of it may have functions */
	assert_true(tell(code, 0x80, "after"));
	assert_string_equal(name_at(code), "after");
	assert_int_equal(ranges_find(ranges_current(), (uintptr_t)code)->end,
			 (uintptr_t)code + 2 * PAGE);
	unmap(code);
}

/* Code of unwind tables alone has no names, until somebody tells; they go with it. */
static void bare_code_takes_names(void **state)
{
	const struct load_maker maker = { .caller = "caller", .engine = no_engine };
	static struct bytes tables;
	uint8_t *code = map(PROT_READ | PROT_EXEC);
	struct fde fde = { .augmented = true, .size = 0x40, .program = "" };
	uint64_t place;

	(void)state;
	fde.cie = put_cie(&tables, "zR", 0x00);
	fde.start = (uintptr_t)code;
	put_fde(&tables, &fde, (uintptr_t)tables.at);
	put_u32(&tables, 0);
	load_register_frame(tables.at, &maker);
	load_work(&observer);
	assert_memory_equal(name_at(code), "[jit 0x", 7);
	assert_true(tell(code, 0x40, "evalexpr_0_0"));
	assert_string_equal(name_at(code), "evalexpr_0_0");
	load_deregister_frame(tables.at);
	load_work(&observer);
	assert_null(entry_at(code, &place));
	/* the next one there has no name of its own */
	load_register_frame(tables.at, &maker);
	load_work(&observer);
	assert_memory_equal(name_at(code), "[jit 0x", 7);
	load_deregister_frame(tables.at);
	load_work(&observer);
	unmap(code);
}

/* The last: the engine that tells stays. */
static void an_engine_that_tells_knows_better(void **state)
{
	uint8_t *code = map(PROT_READ | PROT_EXEC);

	(void)state;
	codequeue_engine("engine", "1.0", "scripts");
	assert_false(tell(code, 0x40, "from a file"));
	unmap(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_mapping_becomes_known),
		cmocka_unit_test(moved),
		cmocka_unit_test(its_mapping_goes),
		cmocka_unit_test(only_where_code_of_a_jit_can_be),
		cmocka_unit_test(an_image_knows_better),
		cmocka_unit_test(bare_code_takes_names),
		cmocka_unit_test(an_engine_that_tells_knows_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
