/* SPDX-License-Identifier: MIT */
/* imports_test.c - the words of imported names: found, changed, and read only where they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/hook/imports.h"

/* Imported by this program, and by nothing that runs meanwhile. */
static pid_t (*volatile import)(void) = getppid;

struct wanted {
	const char *name;
	struct import found;
	int count;
};

static bool look_for(const struct import *found, void *context)
{
	struct wanted *wanted = context;

	if (strcmp(found->name, wanted->name) != 0)
		return false;
	wanted->found = *found;
	wanted->count++;
	return false;
}

static bool stop(const struct import *found, void *context)
{
	(void)found;
	++*(int *)context;
	return true;
}

static void program(struct object *object)
{
	assert_true(object_at((uintptr_t)program, object));
}

static pid_t forty_two(void)
{
	return 42;
}

static void imports_are_found_by_name(void **context)
{
	struct wanted parent = { .name = "getppid" }, own = { .name = "main" };
	struct object object;
	int calls = 0;

	(void)context;
	program(&object);
	assert_false(imports_each(&object, look_for, &parent));
	assert_true(parent.count >= 1);
	assert_true(object.start <= (uintptr_t)parent.found.word &&
		    (uintptr_t)parent.found.word < object.end);
	assert_false(imports_each(&object, look_for, &own));
	assert_int_equal(own.count, 0);
	assert_true(imports_each(&object, stop, &calls));
	assert_int_equal(calls, 1);
	object.dynamic = NULL;
	assert_false(imports_each(&object, stop, &calls));
}

struct change {
	const struct object *object;
	const char *name;
	uintptr_t before, after; /* before 0: whatever is there */
	uintptr_t seen;
	int stored;
};

static bool change(const struct import *found, void *context)
{
	struct change *wanted = context;
	uintptr_t before = atomic_load(found->word);

	if (strcmp(found->name, wanted->name) != 0)
		return false;
	wanted->seen = before;
	wanted->stored +=
		imports_store(wanted->object, found, wanted->before != 0 ? wanted->before : before,
			      wanted->after);
	return false;
}

static void words_are_changed_and_changed_back(void **context)
{
	pid_t parent = getppid();
	struct object object;
	struct change there = { &object, "getppid", 0, (uintptr_t)forty_two, 0, 0 };
	struct change wrong = { &object, "getppid", 1, (uintptr_t)forty_two, 0, 0 };
	struct change back = there;

	(void)context;
	program(&object);
	imports_each(&object, change, &wrong);
	assert_int_equal(wrong.stored, 0);
	assert_int_equal(import(), parent);
	imports_each(&object, change, &there);
	assert_true(there.stored >= 1);
	back.before = (uintptr_t)forty_two;
	back.after = there.seen;
	imports_each(&object, change, &back);
	assert_int_equal(back.stored, there.stored);
	assert_int_equal(import(), parent);
	assert_int_equal(getppid(), parent);
}

/* What the kernel says of the page at ADDRESS: true if it can be written. */
static bool can_be_written(uintptr_t address)
{
	int ends[2];
	bool can;

	assert_int_equal(pipe(ends), 0);
	/* the same bytes into the same place: what is there stays */
	assert_int_equal(write(ends[1], (void *)address, 1), 1);
	can = read(ends[0], (void *)address, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return can;
}

static void read_only_words_stay_read_only(void **context)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t word;
	struct object object;
	struct change there = { &object, "getppid", 0, (uintptr_t)forty_two, 0, 0 };
	struct wanted wanted = { .name = "getppid" };
	bool could;

	(void)context;
	program(&object);
	imports_each(&object, look_for, &wanted);
	word = (uintptr_t)wanted.found.word & ~(page - 1);
	could = can_be_written(word);
	imports_each(&object, change, &there);
	there.before = (uintptr_t)forty_two;
	there.after = there.seen;
	assert_int_equal(can_be_written(word), could);
	imports_each(&object, change, &there);
	assert_int_equal(can_be_written(word), could);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imports_are_found_by_name),
		cmocka_unit_test(words_are_changed_and_changed_back),
		cmocka_unit_test(read_only_words_stay_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
