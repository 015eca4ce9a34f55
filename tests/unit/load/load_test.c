/* SPDX-License-Identifier: MIT */
/*
 * load_test.c - loads, drops, reused addresses and early deletes, as a host would cause them.
 *
 * The host's thread and ours are the same here; what each does is called in turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/load.h"
#include "preload/sig/ranges.h"
#include "symtab/symtab.h"
#include "tests/unit/load/fake_image.h"
#include "tests/unit/load/observer.h"

static unsigned int woken;

static const struct load_maker maker;

static void on_first_guest(void)
{
	woken++;
}

static uint64_t generation(void)
{
	return ranges_current()->generation;
}

static const char *name_at(const uint8_t *address, uint64_t at_generation)
{
	const struct symtab_entry *entry =
		symtab_find(load_symtab(), (uintptr_t)address, at_generation);
	const struct symbol *symbol;

	if (entry == NULL)
		return NULL;
	symbol = module_find(entry->module, (uintptr_t)address - entry->text);
	return symbol != NULL ? module_symbol_name(entry->module, symbol) : NULL;
}

static const char *module_at(const uint8_t *address)
{
	const struct symtab_entry *entry =
		symtab_find(load_symtab(), (uintptr_t)address, generation());

	return entry != NULL ? module_name(entry->module) : "";
}

static uint32_t announce(const uint8_t *image, const void *handle)
{
	return load_announce(&(struct load_event){
		.engine = "wasmtime",
		.handle = handle,
		.image = (uintptr_t)image,
	});
}

static int reset(void **unused)
{
	(void)unused;
	state.on_first_guest = on_first_guest;
	load_work(&observer);
	added = retired = woken = 0;
	return 0;
}

static void test_a_load_is_sampled_at_once_and_named_later(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "one", 3), *text = fake_image_text(image);
	uintptr_t start, end;
	char version[32];
	uint32_t id = announce(image, "handle");

	(void)unused;
	assert_int_not_equal(id, 0);
	assert_int_equal(woken, 1);
	assert_int_equal(ranges_find(ranges_current(), (uintptr_t)text + 5)->id, id);
	assert_int_equal(load_of_handle("handle"), id);
	assert_true(load_range(id, &start, &end));
	assert_int_equal(start, text);
	assert_int_equal(end, text + 3 * FAKE_FUNCTION);
	assert_true(load_engine_version(id, version));
	assert_string_equal(version, "50");
	assert_int_equal(load_work(&observer), generation());
	assert_int_equal(added, 1);
	assert_string_equal(name_at(text + FAKE_FUNCTION, generation()), "one1");
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

static void test_announced_and_registered_is_one_loading(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "same", 1);
	uint32_t id;

	(void)unused;
	load_register_frame(fake_image_frames(image), &maker);
	id = announce(image, "h");
	assert_int_equal(announce(image, "h2"), id);
	assert_int_equal(load_of_handle("h2"), id);
	load_work(&observer);
	assert_int_equal(added, 1);
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

/* (module (func)) */
static const uint8_t one_function[] = "\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\xa\4\1\2\0\xb";

static void test_component_is_what_was_registered_during_its_load(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "comp", 1);
	struct load_bytes *bytes = load_bytes_begin(one_function, sizeof(one_function) - 1);
	uint32_t id;

	(void)unused;
	load_register_frame(fake_image_frames(image), &maker);
	/* Held: our thread must not build it before its bytes are there, and knows what it lacks.
	 */
	assert_int_equal(load_work(&observer), generation() - 1);
	assert_int_equal(added, 0);
	load_bytes_end(bytes);
	id = load_announce(
		&(struct load_event){ .engine = "wasmtime", .handle = "c", .bytes = bytes });
	assert_int_not_equal(id, 0);
	assert_int_equal(load_work(&observer), generation());
	assert_int_equal(added, 1);
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

/* One call may compile several modules; all wait for its end, and the first can be named by then.
 */
static void test_the_first_of_several_can_be_named(void **unused)
{
	uint8_t *first = fake_image_map(NULL, "first", 1), *last = fake_image_map(NULL, "last", 1);
	uintptr_t start, end;
	uint32_t id;

	(void)unused;
	load_hold();
	load_register_frame(fake_image_frames(first), &maker);
	assert_int_equal(load_first_held(), 0); /* the only one */
	load_register_frame(fake_image_frames(last), &maker);
	load_work(&observer);
	assert_int_equal(added, 0);
	id = load_first_held();
	load_name(id, "a kernel");
	load_name(id, "another name");
	assert_true(load_image_range(id, &start, &end));
	assert_int_equal(start, first);
	assert_true(end > (uintptr_t)fake_image_frames(first));
	load_announce(&(struct load_event){ .engine = "wasmtime", .handle = "plugin" });
	assert_int_equal(load_first_held(), 0);
	assert_int_equal(load_work(&observer), generation());
	assert_int_equal(added, 2);
	assert_string_equal(module_at(fake_image_text(first)), "a kernel");
	assert_int_equal(load_of_handle("plugin"),
			 ranges_find(ranges_current(), (uintptr_t)fake_image_text(last))->id);
	load_name(id, "too late");
	load_work(&observer);
	assert_string_equal(module_at(fake_image_text(first)), "a kernel");
	load_deregister_frame(fake_image_frames(first));
	load_deregister_frame(fake_image_frames(last));
	fake_image_unmap(first);
	fake_image_unmap(last);
}

static void test_a_failed_load_leaves_nothing(void **unused)
{
	static const uint8_t wasm[] = "\0asm\1\0\0\0";
	struct load_bytes *bytes = load_bytes_begin(wasm, 8);

	(void)unused;
	load_bytes_end(bytes);
	load_bytes_free(bytes);
	load_work(&observer);
	assert_int_equal(added, 0);
	assert_null(load_bytes_begin((const uint8_t *)"(module)", 8));
	assert_null(load_bytes_begin(NULL, 0));
	assert_null(load_bytes_begin(wasm, 7));
	load_bytes_end(NULL);
	load_bytes_free(NULL);
}

static void test_a_reused_address_has_the_name_of_its_time(void **unused)
{
	uint8_t *image = NULL, *text = NULL;
	uint64_t when[50];
	char expected[16];

	(void)unused;
	for (int round = 0; round < 50; round++) {
		snprintf(expected, sizeof(expected), "r%dx", round);
		image = fake_image_map(image, expected, 2);
		text = fake_image_text(image);
		load_register_frame(fake_image_frames(image), &maker);
		when[round] = generation();
		if (round % 3 == 0) /* our thread comes by now and then, before or after the drop */
			load_work(&observer);
		load_deregister_frame(fake_image_frames(image));
	}
	load_work(&observer);
	assert_int_equal(added, 50);
	assert_int_equal(retired, 50);
	for (int round = 0; round < 50; round++) {
		snprintf(expected, sizeof(expected), "r%dx1", round);
		assert_string_equal(name_at(text + FAKE_FUNCTION, when[round]), expected);
	}
	assert_null(name_at(text, generation()));
	load_reclaim(generation());
	assert_null(name_at(text, when[0]));
	fake_image_unmap(image);
}

static void test_code_outlives_its_handle(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "alive", 1);

	(void)unused;
	announce(image, "early");
	load_forget("early");
	assert_int_equal(load_of_handle("early"), 0);
	load_work(&observer);
	assert_string_equal(name_at(fake_image_text(image), generation()), "alive0");
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

static void test_unmapped_without_a_word_then_reused(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "old", 1), *again;
	uint32_t first = announce(image, "a"), second;

	(void)unused;
	/* No unwind tables, so nobody tells; and our thread did not come by before it was gone. */
	fake_image_unmap(image);
	again = fake_image_map(image, "new", 2);
	assert_ptr_equal(again, image);
	load_forget("a");
	second = announce(again, "b");
	assert_int_not_equal(second, first);
	load_work(&observer);
	assert_string_equal(name_at(fake_image_text(again), generation()), "new0");
	load_deregister_frame(fake_image_frames(again));
	fake_image_unmap(again);
}

static void test_what_is_no_image_is_left_alone(void **unused)
{
	char not_an_image[256] = { 0 };

	(void)unused;
	assert_int_equal(announce((uint8_t *)not_an_image, NULL), 0);
	assert_int_equal(announce((uint8_t *)8, NULL), 0);
	load_register_frame(not_an_image, &maker); /* an empty .eh_frame: its terminator */
	load_register_frame((void *)8, &maker);
	load_deregister_frame((void *)8);
	memset(not_an_image, 0xff, sizeof(not_an_image));
	load_register_frame(not_an_image, &maker);
	assert_int_equal(woken, 0);
}

/* Renames a section of the image: what the engine would have put there says what it is. */
static void rename_section(uint8_t *image, const char *from, const char *to)
{
	char *at;

	mprotect(image, FAKE_PAGE, PROT_READ | PROT_WRITE);
	at = memmem(image, FAKE_PAGE, from, strlen(from) + 1);
	assert_non_null(at);
	assert_true(strlen(to) <= strlen(from));
	memcpy(at, to, strlen(to) + 1);
	mprotect(image, FAKE_PAGE, PROT_READ);
}

static void test_guest_debugging_is_refused_for_that_module_only(void **unused)
{
	uint8_t *debugged = fake_image_map(NULL, "debugged", 1);
	uint8_t *other = fake_image_map(NULL, "other", 1);
	unsigned long long refused = stat_get(STAT_MODULES_REFUSED);

	(void)unused;
	rename_section(debugged, ".wasmtime.engine", ".wasmtime.frames");
	assert_int_equal(announce(debugged, "d"), 0);
	assert_int_equal(load_facts("d").verdict, LOAD_GUEST_DEBUG);
	assert_int_equal(stat_get(STAT_MODULES_REFUSED), refused + 1);
	assert_int_not_equal(announce(other, "o"), 0);
	assert_int_equal(load_facts("o").verdict, LOAD_SEEN);
	load_forget("d");
	assert_int_equal(load_facts("d").verdict, LOAD_UNKNOWN);
	load_deregister_frame(fake_image_frames(other));
	fake_image_unmap(debugged);
	fake_image_unmap(other);
}

static void test_engines_are_told_apart(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "owned", 1);

	(void)unused;
	load_announce(&(struct load_event){
		.engine = "wasmtime",
		.handle = "m",
		.owner = "engine one",
		.image = (uintptr_t)image,
	});
	load_owner_alias("engine one", "its clone");
	load_alias("m", "m's clone");
	assert_int_not_equal(load_owner("engine one"), 0);
	assert_int_equal(load_owner("its clone"), load_owner("engine one"));
	assert_int_equal(load_facts("m's clone").owner, load_owner("engine one"));
	assert_int_equal(load_owner("engine two"), 0);
	load_owner_forget("engine one");
	assert_int_equal(load_owner("engine one"), 0);
	assert_int_equal(load_facts("m").owner, load_owner("its clone"));
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

static void test_an_image_nobody_announced_is_found_and_missed(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "static", 1), *text = fake_image_text(image);

	(void)unused;
	assert_true(load_scan(0));
	assert_int_equal(woken, 1);
	assert_false(load_scan(0));
	load_work(&observer);
	assert_string_equal(name_at(text, generation()), "static0");
	fake_image_unmap(image);
	load_scan(0);
	assert_null(ranges_find(ranges_current(), (uintptr_t)text));
}

/* The scan of another thread comes between the mapping of the code and the call's end. */
static void test_what_the_scan_was_too_early_for_gets_its_bytes(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "early", 1), *text = fake_image_text(image);
	struct load_bytes *bytes = load_bytes_begin(one_function, sizeof(one_function) - 1);
	uint64_t before;

	(void)unused;
	assert_true(load_scan(0));
	load_work(&observer);
	before = generation();
	assert_false(module_identity_is_wasm(
		symtab_find(load_symtab(), (uintptr_t)text, before)->module));
	load_bytes_end(bytes);
	load_announce(&(struct load_event){
		.engine = "wasmtime",
		.handle = "early",
		.image = (uintptr_t)image,
		.bytes = bytes,
	});
	load_work(&observer);
	assert_true(generation() > before);
	assert_true(module_identity_is_wasm(
		symtab_find(load_symtab(), (uintptr_t)text, generation())->module));
	load_deregister_frame(fake_image_frames(image));
	assert_null(ranges_find(ranges_current(), (uintptr_t)text));
	fake_image_unmap(image);
}

/* Nobody told of the first one's end, and the second has its sizes. */
static void test_another_image_of_the_same_sizes(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "one", 2), *text = fake_image_text(image);

	(void)unused;
	announce(image, "1");
	load_work(&observer);
	assert_string_equal(name_at(text, generation()), "one0");
	fake_image_map(image, "two", 2);
	announce(image, "2");
	load_work(&observer);
	assert_string_equal(name_at(text, generation()), "two0");
	load_deregister_frame(fake_image_frames(image));
	fake_image_unmap(image);
}

static void test_thousands_of_loads_take_no_memory(void **unused)
{
	uint8_t *image = NULL;
	unsigned long long modules = stat_get(STAT_MODULES);

	(void)unused;
	for (int i = 0; i < 2000; i++) {
		image = fake_image_map(image, "churn", 2);
		announce(image, image);
		load_forget(image);
		load_deregister_frame(fake_image_frames(image));
		load_work(&observer);
		load_reclaim(generation());
		assert_true(symtab_count(load_symtab()) <= 2);
	}
	assert_int_equal(stat_get(STAT_MODULES) - modules, 2000);
	fake_image_unmap(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_load_is_sampled_at_once_and_named_later, reset),
		cmocka_unit_test_setup(test_announced_and_registered_is_one_loading, reset),
		cmocka_unit_test_setup(test_component_is_what_was_registered_during_its_load,
				       reset),
		cmocka_unit_test_setup(test_the_first_of_several_can_be_named, reset),
		cmocka_unit_test_setup(test_a_failed_load_leaves_nothing, reset),
		cmocka_unit_test_setup(test_a_reused_address_has_the_name_of_its_time, reset),
		cmocka_unit_test_setup(test_code_outlives_its_handle, reset),
		cmocka_unit_test_setup(test_unmapped_without_a_word_then_reused, reset),
		cmocka_unit_test_setup(test_what_is_no_image_is_left_alone, reset),
		cmocka_unit_test_setup(test_guest_debugging_is_refused_for_that_module_only, reset),
		cmocka_unit_test_setup(test_engines_are_told_apart, reset),
		cmocka_unit_test_setup(test_an_image_nobody_announced_is_found_and_missed, reset),
		cmocka_unit_test_setup(test_what_the_scan_was_too_early_for_gets_its_bytes, reset),
		cmocka_unit_test_setup(test_another_image_of_the_same_sizes, reset),
		cmocka_unit_test_setup(test_thousands_of_loads_take_no_memory, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
