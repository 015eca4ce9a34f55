/* SPDX-License-Identifier: MIT */
/* object_test.c - which object holds an address; also the slots that objects get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/hook/hook.h"
#include "preload/hook/object.h"
#include "preload/hook/slot.h"

static void addresses_belong_to_objects(void **context)
{
	struct object ours, libc;
	void *anonymous = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static int data;

	(void)context;
	assert_true(object_at((uintptr_t)addresses_belong_to_objects, &ours));
	assert_int_equal(ours.rank, 0);
	assert_string_equal(ours.name, "");
	assert_true(ours.start <= (uintptr_t)&data && (uintptr_t)&data < ours.end);
	assert_true(object_at((uintptr_t)gnu_get_libc_version, &libc));
	assert_non_null(strstr(libc.name, "libc.so.6"));
	assert_true(libc.rank > 0 && libc.rank < object_count());
	assert_false(object_at((uintptr_t)anonymous, &libc));
	assert_null(libc.name);
	assert_false(object_at(0, &libc));
	assert_true(object_is_ours((void *)addresses_belong_to_objects));
	assert_false(object_is_ours((void *)gnu_get_libc_version));
	munmap(anonymous, 4096);
}

static void definitions_are_counted_without_ours(void **context)
{
	void *found;

	(void)context;
	assert_int_equal(object_definitions("cmocka_print_error", 0, &found), 0);
	assert_null(found);
	assert_int_equal(object_definitions("gnu_get_libc_version", 0, &found), 1);
	assert_ptr_equal(found, dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	/* Ours is in this program; the libc's is the one that counts. */
	assert_int_equal(object_definitions("dlvsym", 0, &found), 1);
	assert_ptr_not_equal(found, dlsym(RTLD_DEFAULT, "dlvsym"));
}

/* Copies of one small library: each is an object of its own. */
static void *open_copy(const char *folder, int number)
{
	char command[256], path[128];
	void *handle;

	snprintf(path, sizeof(path), "%s/copy%d.so", folder, number);
	snprintf(command, sizeof(command),
		 "echo 'int copied(void) { return 1; }' | cc -shared -fPIC -xc -o %s -", path);
	assert_int_equal(system(command), 0);
	handle = dlopen(path, RTLD_NOW);
	assert_non_null(handle);
	return handle;
}

static void slots_come_back_after_unloading(void **context)
{
	char folder[] = "/tmp/guestprof-slot-XXXXXX", command[64];
	void *handles[HOOK_SLOTS + 1];
	int slots[HOOK_SLOTS + 1];
	struct object object;
	uint64_t unloads = object_unloads();

	(void)context;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i <= HOOK_SLOTS; i++) {
		handles[i] = open_copy(folder, i);
		assert_true(object_at((uintptr_t)dlsym(handles[i], "copied"), &object));
		slots[i] = slot_for(&object);
		assert_int_equal(slot_for(&object), slots[i]);
	}
	for (int i = 0; i < HOOK_SLOTS; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(slots[i], slots[j]);
	assert_int_equal(slots[HOOK_SLOTS], -1);
	assert_int_equal(dlclose(handles[3]), 0);
	assert_true(object_unloads() > unloads);
	assert_int_equal(slot_for(&object), slots[3]); /* the last one's turn */
	for (int i = 0; i <= HOOK_SLOTS; i++)
		if (i != 3)
			dlclose(handles[i]);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

static int unload_calls;

static void on_unload(void)
{
	unload_calls++;
}

static int unload_calls_too;

static void on_unload_too(void)
{
	unload_calls_too++;
}

static void unloading_is_told(void **context)
{
	char folder[] = "/tmp/guestprof-slot-XXXXXX", command[64];
	void *handle, *again;

	(void)context;
	assert_non_null(mkdtemp(folder));
	hook_on_unload(on_unload);
	hook_on_unload(on_unload); /* once */
	hook_on_unload(on_unload_too);
	handle = open_copy(folder, 0);
	again = open_copy(folder, 0);
	assert_int_equal(dlclose(again), 0); /* one reference of two */
	assert_int_equal(unload_calls, 0);
	assert_int_equal(dlclose(handle), 0);
	assert_int_equal(unload_calls, 1);
	assert_int_equal(unload_calls_too, 1);
	hook_on_unload(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

struct ranks {
	uint32_t next, ours_at;
	const char *last;
	uint32_t stop_at;
};

static bool note_rank(const struct object *object, void *context)
{
	struct ranks *ranks = context;

	assert_true(object->rank >= ranks->next);
	if (object->rank > ranks->next)
		ranks->ours_at = ranks->next;
	ranks->next = object->rank + 1;
	ranks->last = object->name;
	return object->rank == ranks->stop_at;
}

static void objects_are_walked_in_order(void **context)
{
	struct ranks all = { .stop_at = UINT32_MAX }, some = { .stop_at = 1 };

	(void)context;
	/* ours is the program itself, rank 0 */
	assert_false(object_each(note_rank, &all));
	assert_int_equal(all.next, object_count());
	assert_int_equal(all.ours_at, 0);
	assert_true(object_each(note_rank, &some));
	assert_int_equal(some.next, 2);
}

static void changes_are_counted(void **context)
{
	char folder[] = "/tmp/guestprof-changes-XXXXXX", command[64];
	uint64_t loads, unloads, more_loads, more_unloads;
	void *handle;

	(void)context;
	assert_non_null(mkdtemp(folder));
	object_changes(&loads, &unloads);
	handle = open_copy(folder, 0);
	object_changes(&more_loads, &more_unloads);
	assert_int_equal(more_loads, loads + 1);
	assert_int_equal(more_unloads, unloads);
	dlclose(handle);
	object_changes(&more_loads, &more_unloads);
	assert_int_equal(more_loads, loads + 1);
	assert_int_equal(more_unloads, unloads + 1);
	assert_int_equal(object_unloads(), unloads + 1);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_belong_to_objects),
		cmocka_unit_test(definitions_are_counted_without_ours),
		cmocka_unit_test(slots_come_back_after_unloading),
		cmocka_unit_test(unloading_is_told),
		cmocka_unit_test(objects_are_walked_in_order),
		cmocka_unit_test(changes_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
