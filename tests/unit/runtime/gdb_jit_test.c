/* SPDX-License-Identifier: MIT */
/*
 * gdb_jit_test.c - lists for debuggers, whole and damaged: the object that has one is built by the
 * test; what is told of functions is noted here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/load/jitspace.h"
#include "preload/runtime/gdb_jit.h"
#include "preload/runtime/register_frame.h"
#include "tests/unit/symtab/jitobject.h"

#define SECOND_NS UINT64_C(1000000000)

struct entry {
	struct entry *next, *previous;
	const void *file;
	uint64_t size;
};

struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};

static struct {
	unsigned int added;
	uintptr_t start;
	char name[64];
} told;

bool jitspace_add(const struct jit_function *function)
{
	told.added++;
	told.start = function->start;
	snprintf(told.name, sizeof(told.name), "%.*s", (int)function->name_length, function->name);
	return true;
}

static struct descriptor *list;
static const void *caller;
static uint32_t registrations;

bool runtime_registered_anew(uint32_t *count, const void **by)
{
	if (*count == registrations)
		return false;
	*count = registrations;
	*by = caller;
	return true;
}

static uint64_t now_ns = SECOND_NS;

/* All looks that a registration leads to. */
static void look(void)
{
	memset(&told, 0, sizeof(told));
	registrations++;
	runtime_gdb_jit_work(now_ns);
	for (int i = 0; runtime_gdb_jit_next_ns() != UINT64_MAX; i++) {
		assert_in_range(i, 0, 20);
		if (runtime_gdb_jit_next_ns() > now_ns)
			now_ns = runtime_gdb_jit_next_ns();
		runtime_gdb_jit_work(now_ns);
	}
}

static int open_object(void **state)
{
	char path[] = "/tmp/gdb-jit-XXXXXX.so", command[128];
	int descriptor = mkstemps(path, 3);
	void *handle;
	FILE *cc;

	(void)state;
	close(descriptor);
	snprintf(command, sizeof(command), "cc -shared -fPIC -xc -o %s -", path);
	cc = popen(command, "w");
	if (cc == NULL)
		return -1;
	fputs("struct { unsigned version, action; void *relevant, *first; } "
	      "__jit_debug_descriptor = { 1 };\nvoid __jit_debug_register_code(void) { }\n"
	      "void registers(void) { }\n",
	      cc);
	if (pclose(cc) != 0)
		return -1;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	if (handle == NULL)
		return -1;
	list = dlsym(handle, "__jit_debug_descriptor");
	caller = (const char *)dlsym(handle, "registers") + 1;
	return list != NULL ? 0 : -1;
}

/* The first: nobody has a list yet. */
static void objects_without_a_list(void **state)
{
	const void *with = caller;

	(void)state;
	caller = (const void *)(uintptr_t)look;
	look();
	assert_int_equal(told.added, 0);
	caller = (const void *)8;
	look();
	assert_int_equal(told.added, 0);
	caller = with;
}

static void names_come_after_the_registration(void **state)
{
	struct jitobject object;
	struct entry entry = { .file = &object, .size = sizeof(object) };
	uint64_t first_ns;

	(void)state;
	jitobject_make(&object, ET_REL, 0x7f0000001000, "evalexpr_0_0", 0x20);
	memset(&told, 0, sizeof(told));
	registrations++;
	runtime_gdb_jit_work(now_ns);
	assert_int_equal(told.added, 0);
	first_ns = runtime_gdb_jit_next_ns();
	assert_in_range(first_ns - now_ns, 1, SECOND_NS / 100);
	runtime_gdb_jit_work(first_ns - 1);
	list->first = &entry;
	runtime_gdb_jit_work(first_ns);
	assert_int_equal(told.added, 1);
	assert_string_equal(told.name, "evalexpr_0_0");
	assert_int_equal(told.start, 0x7f0000001010);
	/* another one at the same place */
	jitobject_make(&object, ET_REL, 0x7f0000002000, "evalexpr_1_0", 0x20);
	look();
	assert_string_equal(told.name, "evalexpr_1_0");
	list->first = NULL;
	look();
	assert_int_equal(told.added, 0);
}

static void known_ones_are_read_once(void **state)
{
	static struct jitobject objects[100];
	static struct entry entries[100];

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%zu", i);
		jitobject_make(&objects[i], ET_REL, 0x7f0000000000 + 0x1000 * i + 0x1000, name, 1);
		entries[i] = (struct entry){ .next = i < 99 ? &entries[i + 1] : NULL,
					     .file = &objects[i],
					     .size = sizeof(objects[i]) };
	}
	list->first = entries;
	look();
	assert_in_range(told.added, 100, 150);
	look();
	assert_in_range(told.added, 1, 50);
	list->first = NULL;
}

static void damaged_lists(void **state)
{
	struct jitobject object;
	struct entry entry = { .file = &object, .size = sizeof(object) };

	(void)state;
	jitobject_make(&object, ET_REL, 0x7f0000001000, "f", 0x20);
	list->first = &entry;
	entry.next = &entry; /* a circle */
	look();
	assert_in_range(told.added, 1, 2000);
	entry.next = (struct entry *)8;
	look();
	assert_true(told.added >= 1);
	entry.file = (const void *)16; /* not there */
	look();
	assert_int_equal(told.added, 0);
	entry.file = &object;
	entry.size = UINT64_MAX; /* and too much */
	look();
	assert_int_equal(told.added, 0);
	entry.size = 20;
	look();
	assert_int_equal(told.added, 0);
	entry.size = sizeof(object);
	list->first = (struct entry *)UINTPTR_MAX;
	look();
	assert_int_equal(told.added, 0);
	list->first = &entry;
	list->version = 2;
	look();
	assert_int_equal(told.added, 0);
	list->version = 1;
	entry.next = NULL;
	look();
	assert_true(told.added >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_without_a_list),
		cmocka_unit_test(names_come_after_the_registration),
		cmocka_unit_test(known_ones_are_read_once),
		cmocka_unit_test(damaged_lists),
	};

	return cmocka_run_group_tests(tests, open_object, NULL);
}
