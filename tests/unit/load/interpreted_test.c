/* SPDX-License-Identifier: MIT */
/*
 * interpreted_test.c - modules that are interpreted: seen without an image, for as long as they are
 * needed; and who is in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/sig/ranges.h"
#include "symtab/symtab.h"
#include "tests/unit/load/fake_image.h"
#include "tests/unit/load/observer.h"

/* (module (func)), named "mine" */
static const uint8_t wasm[] = "\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\xa\4\1\2\0\xb"
			      "\0\xc\4name\0\5\4mine";

static unsigned int listed;
static uint64_t last_store;

static void on_listed(const struct module *module)
{
	assert_non_null(module);
	listed++;
}

static const struct load_observer counting = { .added = on_added,
					       .retired = on_retired,
					       .listed = on_listed };

static void nothing(void)
{
}

static int reset(void **unused)
{
	(void)unused;
	state.on_first_guest = nothing;
	load_work(&counting);
	load_reclaim(0); /* those of other tests end */
	load_work(&counting);
	added = retired = listed = 0;
	return 0;
}

static uint32_t announce(const void *handle, bool has_bytes)
{
	struct load_bytes *bytes = has_bytes ? load_bytes_begin(wasm, sizeof(wasm) - 1) : NULL;

	load_bytes_end(bytes);
	return load_announce(&(struct load_event){
		.engine = "interpreter",
		.version = "1.2",
		.handle = handle,
		.is_interpreted = true,
		.bytes = bytes,
		.path = has_bytes ? NULL : "/guests/app.wasm",
	});
}

static const struct symtab_entry *entry_of(uint32_t loading)
{
	return symtab_find_interpreted(load_symtab(), loading, ranges_current()->generation);
}

static void test_it_is_known_without_an_image(void **unused)
{
	uint32_t id = announce("a", true), other = announce("b", true);

	(void)unused;
	assert_int_not_equal(id, 0);
	assert_int_not_equal(other, id);
	assert_true(load_is_interpreted(id));
	assert_int_equal(load_facts("a").verdict, LOAD_SEEN);
	assert_int_equal(load_of_handle("a"), id);
	assert_int_equal(load_work(&counting), ranges_current()->generation);
	assert_int_equal(listed, 2);
	assert_int_equal(added, 0);
	assert_int_equal(ranges_current()->count, 0);
	assert_memory_equal(module_name(entry_of(id)->module), "mine@", 5);
	assert_string_equal(module_engine_version(entry_of(id)->module), "1.2");
	assert_int_equal(module_function_count(entry_of(id)->module), 1);
	assert_string_equal(module_identity(entry_of(id)->module),
			    module_identity(entry_of(other)->module));
	load_forget("a");
	load_forget("b");
}

static void test_bytes_are_not_needed(void **unused)
{
	uint32_t id = announce("a", false);

	(void)unused;
	load_work(&counting);
	assert_string_equal(module_name(entry_of(id)->module), "app.wasm");
	load_forget("a");
}

static void test_it_ends_with_the_last_handle_and_instance(void **unused)
{
	uint32_t id = announce("a", true);
	uint64_t before = ranges_current()->generation;

	(void)unused;
	instance_for((struct instance_key){ ++last_store, 1 }, id);
	load_alias("a", "b");
	load_work(&counting);
	load_forget("a");
	load_reclaim(0);
	load_work(&counting);
	assert_int_equal(retired, 0);
	load_forget("b");
	load_reclaim(0);
	load_work(&counting);
	assert_int_equal(retired, 0);
	instance_forget_store(last_store);
	load_reclaim(0);
	load_work(&counting);
	assert_int_equal(retired, 1);
	/* for samples that wait it is still there */
	assert_null(entry_of(id));
	assert_non_null(symtab_find_interpreted(load_symtab(), id, before));
	load_reclaim(ranges_current()->generation);
	assert_null(symtab_find_interpreted(load_symtab(), id, before));
	assert_false(load_is_interpreted(id));
}

static void test_they_are_bounded(void **unused)
{
	unsigned long long refused = stat_get(STAT_MODULES_REFUSED);
	uint32_t first = 0, id = 1;

	(void)unused;
	for (int i = 0; i < LOAD_INTERPRETED_MAX + 8 && id != 0; i++) {
		id = announce(&listed, false);
		first = first == 0 ? id : first;
	}
	assert_int_equal(id, 0);
	assert_int_equal(stat_get(STAT_MODULES_REFUSED), refused + 1);
	/* one handle for all of them: it stands for the last, and those before are done with */
	load_work(&counting);
	load_reclaim(0);
	load_work(&counting);
	load_reclaim(ranges_current()->generation);
	assert_int_not_equal(announce(&listed, false), 0);
	load_forget(&listed);
}

/* An image says itself that it is for an interpreter. */
static void test_an_image_says_it(void **unused)
{
	uint8_t *image = fake_image_map(NULL, "pulley", 2);
	uint32_t id;

	(void)unused;
	mprotect(image, FAKE_PAGE, PROT_READ | PROT_WRITE);
	((Elf64_Ehdr *)(void *)image)->e_flags = 6; /* pulley64 */
	id = load_announce(&(struct load_event){
		.engine = "wasmtime", .handle = "a", .image = (uintptr_t)image });
	load_work(&counting);
	assert_true(load_is_interpreted(id));
	assert_int_equal(listed, 1);
	assert_int_equal(ranges_current()->count, 0);
	assert_int_equal(module_function_count(entry_of(id)->module), 2);
	load_forget("a");
	fake_image_unmap(image);
}

/* ---- in and out ------------------------------------------------------------------------------ */

static struct thread block;

static int on_a_thread(void **unused)
{
	block = (struct thread){ 0 };
	sig_self = &block;
	return reset(unused);
}

static void test_who_is_in_it_is_known(void **unused)
{
	uint32_t native = instance_for((struct instance_key){ ++last_store, 1 }, 1000000);
	uint32_t id = instance_for((struct instance_key){ last_store, 2 }, announce("a", true));
	struct activation outer, call, inner;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct exit_layout layout = { 0 };
	const uint32_t functions[CALLED_FROM_MAX + 1] = { 11, 12 };

	(void)unused;
	assert_int_equal(guest_call_out(7, here).thread, NULL); /* nobody is in a guest */
	outer = guest_enter(native, here, 1, &layout, 0);
	assert_int_equal(block.entries[0].flags, 0);
	assert_int_equal(guest_call_out(7, here).thread, NULL); /* the stack tells */
	inner = guest_enter(id, here, 1, &layout, ENTRY_FIBER);
	assert_int_equal(block.entries[1].flags, ENTRY_INTERPRETED | ENTRY_FIBER);
	assert_null(block.entries[1].layout);
	call = guest_call_out(7, here);
	assert_int_equal(block.depth, 3);
	assert_int_equal(block.entries[2].flags, ENTRY_CALLED_OUT | ENTRY_FIBER);
	assert_int_equal(block.entries[2].instance, id);
	assert_int_equal(block.entries[2].call, 7);
	assert_int_equal(guest_call_out(7, here).thread, NULL);
	assert_null(block.entries[2].from);
	guest_called_from(call, functions, ARRAY_SIZE(functions));
	assert_int_equal(block.entries[2].from->count, CALLED_FROM_MAX);
	assert_int_equal(block.entries[2].from->functions[1], 12);
	guest_called_from((struct activation){ 0 }, functions, 1);
	guest_leave(call);
	guest_leave(inner);
	guest_leave(outer);
	assert_int_equal(block.depth, 0);
	load_forget("a");
	sig_self = NULL;
}

/* Its module became known late: from then on. */
static void test_what_is_not_known_is_asked_again(void **unused)
{
	const struct instance_key key = { ++last_store, 1 };
	uint32_t id = instance_for(key, 0);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	(void)unused;
	announce("a", true);
	guest_leave(guest_enter(id, here, 0, NULL, 0));
	assert_int_equal(block.entries[0].flags, 0);
	instance_for(key, load_of_handle("a"));
	guest_leave(guest_enter(id, here, 0, NULL, 0));
	assert_int_equal(block.entries[0].flags, ENTRY_INTERPRETED);
	load_forget("a");
	sig_self = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_it_is_known_without_an_image, reset),
		cmocka_unit_test_setup(test_bytes_are_not_needed, reset),
		cmocka_unit_test_setup(test_it_ends_with_the_last_handle_and_instance, reset),
		cmocka_unit_test_setup(test_they_are_bounded, reset),
		cmocka_unit_test_setup(test_an_image_says_it, reset),
		cmocka_unit_test_setup(test_who_is_in_it_is_known, on_a_thread),
		cmocka_unit_test_setup(test_what_is_not_known_is_asked_again, on_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
