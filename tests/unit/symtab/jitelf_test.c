/* SPDX-License-Identifier: MIT */
/* jitelf_test.c - functions of an object file for debuggers; every field of it may lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "symtab/jitelf.h"
#include "tests/unit/symtab/jitobject.h"

#define TEXT UINT64_C(0x7f0000001000)

static struct jitelf_function last;
static unsigned int count;

static void note(void *context, const struct jitelf_function *function)
{
	(void)context;
	last = *function;
	count++;
}

static int ask(const struct jitobject *object)
{
	count = 0;
	return jitelf_functions((const uint8_t *)object, sizeof(*object), note, NULL);
}

static void relocatable_and_not(void **state)
{
	static const uint16_t types[] = { ET_REL, ET_DYN, ET_EXEC };
	struct jitobject object;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		jitobject_make(&object, types[i], TEXT, "evalexpr_0_0", 0x20);
		assert_int_equal(ask(&object), 0);
		assert_int_equal(count, 1);
		assert_int_equal(last.start, TEXT + 0x10);
		assert_int_equal(last.size, 0x20);
		assert_int_equal(last.name_length, 12);
		assert_memory_equal(last.name, "evalexpr_0_0", 12);
	}
}

static void not_loaded_yet(void **state)
{
	struct jitobject object;

	(void)state;
	jitobject_make(&object, ET_REL, 0, "f", 0x20);
	assert_int_equal(ask(&object), 0);
	assert_int_equal(count, 0);
}

static void without_names(void **state)
{
	struct jitobject object;

	(void)state;
	jitobject_make(&object, ET_REL, TEXT, "", 0x20);
	assert_int_equal(ask(&object), 0);
	assert_int_equal(count, 0);
	/* the strings' end, and not a 0, ends the name */
	jitobject_make(&object, ET_REL, TEXT, "name", 0x20);
	object.sections[3].sh_size = 3;
	assert_int_equal(ask(&object), 0);
	assert_int_equal(last.name_length, 2);
	object.symbols[1].st_name = 3;
	assert_int_equal(ask(&object), 0);
	assert_int_equal(count, 0);
}

static void not_such_a_file(void **state)
{
	struct jitobject object;

	(void)state;
	jitobject_make(&object, ET_REL, TEXT, "f", 0x20);
	for (size_t i = 0; i < sizeof(object.header); i++)
		assert_int_equal(jitelf_functions((const uint8_t *)&object, i, note, NULL),
				 -EINVAL);
	object.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(ask(&object), -EINVAL);
	jitobject_make(&object, ET_REL, TEXT, "f", 0x20);
	object.header.e_shoff = UINT64_MAX - 8;
	assert_int_equal(ask(&object), -EINVAL);
	jitobject_make(&object, ET_REL, TEXT, "f", 0x20);
	object.sections[2].sh_link = 99;
	assert_int_equal(ask(&object), -EINVAL);
}

/* A copy on the heap, so that a sanitizer sees each byte beyond; one byte of it set to each value.
 */
static void every_byte_may_lie(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct jitobject object;
	uint8_t *copy = malloc(sizeof(object));

	(void)state;
	jitobject_make(&object, ET_REL, TEXT, "evalexpr_0_0", 0x20);
	for (size_t at = 0; at < sizeof(object); at++)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			memcpy(copy, &object, sizeof(object));
			copy[at] = values[i];
			count = 0;
			jitelf_functions(copy, sizeof(object), note, NULL);
			assert_true(count <= 4);
		}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relocatable_and_not), cmocka_unit_test(not_loaded_yet),
		cmocka_unit_test(without_names),       cmocka_unit_test(not_such_a_file),
		cmocka_unit_test(every_byte_may_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
