/* SPDX-License-Identifier: MIT */
/*
 * codespace_test.c - functions that are told one by one: modules, places, and the ranges that the
 * handler gets. The host's thread and ours are the same here, but where threads are the point.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/base/clock.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/codequeue.h"
#include "preload/load/load.h"
#include "preload/sig/ranges.h"
#include "symtab/symtab.h"
#include "tests/unit/load/fake_image.h"

#define FAR UINT64_C(0x300000000000) /* where nothing is mapped */
#define GRANULE UINT64_C(0x40000)

static unsigned int added, listed, woken;

static void on_added(const struct symtab_entry *entry)
{
	assert_non_null(entry);
	added++;
}

static void on_retired(uint32_t loading, uint64_t died)
{
	(void)loading, (void)died;
}

static void on_listed(const struct module *module)
{
	assert_true(module_is_listed(module));
	listed++;
}

static const struct load_observer observer = {
	.added = on_added,
	.retired = on_retired,
	.listed = on_listed,
};

static void on_first_guest(void)
{
	woken++;
}

static int reset(void **unused)
{
	(void)unused;
	state.on_first_guest = on_first_guest;
	codequeue_engine("engine", "1.0", "scripts");
	load_work(&observer);
	added = listed = woken = 0;
	return 0;
}

static void tell(enum code_kind kind, uintptr_t start, size_t size, const char *name,
		 uint32_t index)
{
	codequeue_tell(&(struct code_event){
		.what = CODE_ADDED,
		.kind = kind,
		.start = start,
		.size = size,
		.index = index,
		.name = name,
		.name_length = strlen(name),
		.shown_length = strcspn(name, "-"),
	});
}

static const struct symtab_entry *entry_at(uintptr_t pc, uint64_t *place)
{
	*place = symtab_translate(load_symtab(), pc, clock_ns(CLOCK_MONOTONIC));
	return symtab_find(load_symtab(), *place, ranges_current()->generation);
}

static const char *name_at(uintptr_t pc)
{
	uint64_t place;
	const struct symtab_entry *entry = entry_at(pc, &place);
	const struct symbol *symbol;

	if (entry == NULL || symtab_is_space(entry))
		return NULL;
	symbol = module_find(entry->module, place - entry->text);
	return symbol != NULL ? module_symbol_name(entry->module, symbol) : NULL;
}

static uint32_t module_at(uintptr_t pc)
{
	uint64_t place;
	const struct symtab_entry *entry = entry_at(pc, &place);

	return entry != NULL ? entry->id : 0;
}

static void scripts_alone_wake_nobody(void **unused)
{
	(void)unused;
	tell(CODE_SCRIPT, FAR, 0x100, "first-x", UINT32_MAX);
	assert_int_equal(woken, 0);
	assert_true(load_waits());
	tell(CODE_WASM, FAR + 0x1000, 0x100, "run-3-quick", 3);
	assert_int_equal(woken, 1);
	tell(CODE_WASM, FAR + 0x1200, 0x100, "other-4-quick", 4);
	assert_int_equal(woken, 1);
	assert_true(load_work(&observer) >= ranges_current()->generation);
	assert_false(load_waits());
	assert_string_equal(name_at(FAR + 0x10), "first");
	assert_string_equal(name_at(FAR + 0x1010), "run");
	assert_int_equal(listed, 2);
	assert_int_equal(module_at(FAR + 0x1010), module_at(FAR + 0x1210));
	assert_int_not_equal(module_at(FAR), module_at(FAR + 0x1210));
	assert_null(name_at(FAR + 0x800));
}

static void memory_around_is_published_once(void **unused)
{
	uintptr_t base = FAR + 64 * GRANULE;
	const struct range *range;
	uint64_t generation;

	(void)unused;
	tell(CODE_SCRIPT, base + 0x500, 0x100, "a", UINT32_MAX);
	range = ranges_find(ranges_current(), base + 0x500);
	assert_non_null(range);
	assert_int_equal(range->start, base);
	assert_int_equal(range->end, base + GRANULE);
	assert_int_equal(range->has_frame_pointers, 1);
	generation = ranges_current()->generation;
	for (int i = 0; i < 500; i++)
		tell(CODE_SCRIPT, base + 0x1000 + 0x100 * (uintptr_t)i, 0x80, "b", UINT32_MAX);
	assert_int_equal(ranges_current()->generation, generation);
	/* over the edge: the next one too */
	tell(CODE_SCRIPT, base + GRANULE - 0x10, 0x20, "c", UINT32_MAX);
	assert_non_null(ranges_find(ranges_current(), base + GRANULE));
	codequeue_tell(&(struct code_event){
		.what = CODE_MOVED,
		.start = base + 0x500,
		.size = 0x100,
		.to = base + 5 * GRANULE,
	});
	assert_non_null(ranges_find(ranges_current(), base + 5 * GRANULE));
	load_work(&observer);
	assert_int_equal(added, 3);
	assert_string_equal(name_at(base + 5 * GRANULE + 1), "a");
	assert_null(name_at(base + 0x501));
}

static void another_engines_code_is_left_alone(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "image", 2), *text = fake_image_text(image);
	uintptr_t before = (uintptr_t)image - 0x100;
	const struct range *range;
	uint32_t id;

	(void)unused;
	load_register_frame(fake_image_frames(image), &(struct load_maker){ 0 });
	id = ranges_find(ranges_current(), (uintptr_t)text)->id;
	tell(CODE_SCRIPT, before, 0x20, "close", UINT32_MAX);
	range = ranges_find(ranges_current(), before);
	assert_non_null(range);
	assert_true(range->end <= (uintptr_t)text);
	assert_int_equal(ranges_find(ranges_current(), (uintptr_t)text)->id, id);
	load_work(&observer);
	assert_string_equal(name_at((uintptr_t)text + 1), "image0");
	load_deregister_frame(fake_image_frames(image));
	load_work(&observer);
	fake_image_unmap(image);
}

static void an_exact_range_has_no_more(void **unused)
{
	uintptr_t base = FAR + 200 * GRANULE;

	(void)unused;
	codequeue_range(base + 0x100, base + 0x200);
	codequeue_tell(&(struct code_event){ .what = CODE_ADDED,
					     .kind = CODE_BUILTIN,
					     .is_covered = true,
					     .owner = CODE_FOR_EVER,
					     .start = base + 0x100,
					     .size = 0x80,
					     .index = UINT32_MAX,
					     .name = "helper",
					     .name_length = 6,
					     .shown_length = 6 });
	codequeue_range(base + 0x100, base + 0x200); /* again */
	assert_non_null(ranges_find(ranges_current(), base + 0x100));
	assert_null(ranges_find(ranges_current(), base + 0x200));
	assert_null(ranges_find(ranges_current(), base + 0xff));
	load_work(&observer);
	assert_int_equal(added, 1);
	assert_string_equal(name_at(base + 0x110), "helper");
}

/* The same place, and names that cannot be of one module. */
static void a_contradiction_is_another_module(void **unused)
{
	uintptr_t base = FAR + 300 * GRANULE;
	uint32_t first, second;

	(void)unused;
	tell(CODE_WASM, base, 0x40, "alpha-0-quick", 0);
	tell(CODE_WASM, base + 0x40, 0x40, "beta-1-quick", 1);
	tell(CODE_WASM, base + 0x80, 0x60, "alpha-0-good", 0);
	load_work(&observer);
	first = module_at(base);
	assert_int_equal(module_at(base + 0x40), first);
	assert_int_equal(module_at(base + 0x80), first);
	tell(CODE_WASM, base, 0x40, "gamma-0-quick", 0);
	load_work(&observer);
	second = module_at(base);
	assert_int_not_equal(second, first);
	assert_string_equal(name_at(base), "gamma");
	/* the first one again, elsewhere: known by its first function */
	tell(CODE_WASM, base + GRANULE, 0x40, "alpha-0-quick", 0);
	load_work(&observer);
	assert_int_equal(module_at(base + GRANULE), first);
	/* called alike, but of another size */
	tell(CODE_WASM, base + 2 * GRANULE, 0x44, "alpha-0-quick", 0);
	load_work(&observer);
	assert_int_not_equal(module_at(base + 2 * GRANULE), first);
}

static void an_owner_goes(void **unused)
{
	uintptr_t base = FAR + 400 * GRANULE;

	(void)unused;
	codequeue_tell(&(struct code_event){ .what = CODE_ADDED,
					     .kind = CODE_SCRIPT,
					     .owner = 9,
					     .start = base,
					     .size = 0x80,
					     .index = UINT32_MAX,
					     .name = "worker",
					     .name_length = 6,
					     .shown_length = 6 });
	load_work(&observer);
	assert_string_equal(name_at(base), "worker");
	codequeue_tell(&(struct code_event){ .what = CODE_OWNER_GONE, .owner = 9 });
	load_work(&observer);
	assert_null(name_at(base));
}

static void many_modules_are_bounded(void **unused)
{
	uintptr_t base = FAR + 1000 * GRANULE;
	char name[32];

	(void)unused;
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "only%u-0-quick", i);
		tell(CODE_WASM, base + 0x10000 * (uintptr_t)i, 0x40, name, 0);
	}
	load_work(&observer);
	assert_true(listed <= 256);
	assert_string_equal(name_at(base + 0x10000 * 1999), "only1999");
}

static void names_are_cut_and_may_be_empty(void **unused)
{
	uintptr_t base = FAR + 3000 * GRANULE;
	static char name[5000];

	(void)unused;
	memset(name, 'x', sizeof(name) - 1);
	tell(CODE_SCRIPT, base, 0x40, name, UINT32_MAX);
	tell(CODE_SCRIPT, base + 0x40, 0x40, "", UINT32_MAX);
	tell(CODE_SCRIPT, base + 0x80, 0, "nothing", UINT32_MAX);
	tell(CODE_SCRIPT, UINTPTR_MAX - 16, 0x40, "wraps", UINT32_MAX);
	tell(CODE_SCRIPT, base + 0xc0, (size_t)1 << 40, "huge", UINT32_MAX);
	load_work(&observer);
	assert_int_equal(strlen(name_at(base)), 1024);
	assert_non_null(name_at(base + 0x40));
	assert_null(name_at(base + 0x80));
	assert_null(name_at(base + 0xc0));
}

static void too_much_at_once_is_counted(void **unused)
{
	unsigned long long before = stat_get(STAT_CODE_DROPPED);
	static char name[1000];

	(void)unused;
	memset(name, 'y', sizeof(name) - 1);
	for (int i = 0; i < 40000; i++)
		tell(CODE_SCRIPT, FAR + 3100 * GRANULE, 0x40, name, UINT32_MAX);
	assert_true(stat_get(STAT_CODE_DROPPED) > before);
	load_work(&observer);
	tell(CODE_SCRIPT, FAR + 3100 * GRANULE, 0x40, "later", UINT32_MAX);
	load_work(&observer);
	assert_string_equal(name_at(FAR + 3100 * GRANULE), "later");
}

enum { TELLERS = 4, TOLD = 2000 };

static void *tell_many(void *number)
{
	uintptr_t base = FAR + (4000 + 16 * (uintptr_t)number) * GRANULE;
	char name[32];

	for (uintptr_t i = 0; i < TOLD; i++) {
		snprintf(name, sizeof(name), "t%zu_%zu", (size_t)number, (size_t)i);
		tell(CODE_SCRIPT, base + 0x200 * i, 0x100, name, UINT32_MAX);
		if (i % 10 == 9)
			codequeue_tell(&(struct code_event){
				.what = CODE_MOVED,
				.start = base + 0x200 * i,
				.size = 0x100,
				.to = base + 0x200 * i + 0x100,
			});
	}
	return NULL;
}

static void threads_tell_while_ours_works(void **unused)
{
	pthread_t threads[TELLERS];
	char name[32];

	(void)unused;
	for (uintptr_t i = 0; i < TELLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, tell_many, (void *)i), 0);
	for (int i = 0; i < 200; i++)
		load_work(&observer);
	for (int i = 0; i < TELLERS; i++)
		pthread_join(threads[i], NULL);
	load_work(&observer);
	for (uintptr_t i = 0; i < TELLERS; i++) {
		uintptr_t base = FAR + (4000 + 16 * i) * GRANULE;

		snprintf(name, sizeof(name), "t%zu_%d", (size_t)i, 1234);
		assert_string_equal(name_at(base + 0x200 * 1234), name);
		snprintf(name, sizeof(name), "t%zu_%d", (size_t)i, 1239);
		assert_null(name_at(base + 0x200 * 1239));
		assert_string_equal(name_at(base + 0x200 * 1239 + 0x100), name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(scripts_alone_wake_nobody, reset),
		cmocka_unit_test_setup(memory_around_is_published_once, reset),
		cmocka_unit_test_setup(another_engines_code_is_left_alone, reset),
		cmocka_unit_test_setup(an_exact_range_has_no_more, reset),
		cmocka_unit_test_setup(a_contradiction_is_another_module, reset),
		cmocka_unit_test_setup(an_owner_goes, reset),
		cmocka_unit_test_setup(many_modules_are_bounded, reset),
		cmocka_unit_test_setup(names_are_cut_and_may_be_empty, reset),
		cmocka_unit_test_setup(too_much_at_once_is_counted, reset),
		cmocka_unit_test_setup(threads_tell_while_ours_works, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
