/* SPDX-License-Identifier: MIT */
/* naming_test.c - names and labels of a names file, given to a recording afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "preload/cmd/symbolize/naming.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"

static struct recording *read_small(void)
{
	struct built *built = calloc(1, sizeof(*built));
	struct recording *recording;
	char *why = NULL;

	build_small(built);
	free(write_bytes("small.pb", built->out.bytes, built->out.size));
	recording = recording_read("small.pb", &why);
	assert_non_null(recording);
	unlink("small.pb");
	built_free(built);
	return recording;
}

static int apply(const char *text, struct recording *recording)
{
	int error;

	free(write_bytes("names", text, strlen(text)));
	error = naming_apply("names", recording);
	unlink("names");
	return error;
}

static const struct recording_group *group_of(const struct recording *recording, const char *digits)
{
	for (size_t i = 0; i < recording->group_count; i++) {
		if (strncmp(recording->groups[i].identity, digits, strlen(digits)) == 0)
			return &recording->groups[i];
	}
	fail();
	return NULL;
}

static void names_groups_instances_and_mappings(void **state)
{
	struct recording *recording = read_small();
	const struct recording_group *group;
	size_t renamed = 0;

	(void)state;
	assert_int_equal(apply("3f9a2c00 shop tenant=acme\n", recording), 0);
	group = group_of(recording, "3f9a2c");
	assert_string_equal(group->module, "shop");
	assert_int_equal(group->label_count, 1);
	assert_string_equal(group->labels[0].value, "acme");
	assert_string_equal(group_of(recording, "e511")->module, EVIL_NAME);
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];

		assert_string_not_equal(sample->module, "app.wasm");
		if (strcmp(sample->module, "shop") != 0)
			continue;
		renamed++;
		assert_int_equal(strncmp(sample->instance, "shop#", 5), 0);
		assert_int_equal(sample->label_count, 1);
	}
	assert_int_equal(renamed, 5);
	assert_string_equal(recording->mappings[0].name, "shop");
	assert_string_equal(recording->mappings[1].name, "[host]");
	recording_free(recording);
}

/* Two modules of one name stay two. */
static void keeps_groups_apart(void **state)
{
	struct recording *recording = read_small();
	const char *first, *second;

	(void)state;
	assert_int_equal(apply("3f9a2c00 same\ne5110011 same\n", recording), 0);
	first = group_of(recording, "3f9a2c")->module;
	second = group_of(recording, "e511")->module;
	assert_string_equal(first, "same");
	assert_string_equal(second, "same@e51100");
	recording_free(recording);
}

static void changes_labels_alone(void **state)
{
	struct recording *recording = read_small();

	(void)state;
	assert_int_equal(apply("3f9a2c00 - a=1\n", recording), 0);
	assert_string_equal(group_of(recording, "3f9a2c")->module, "app.wasm");
	assert_int_equal(group_of(recording, "3f9a2c")->label_count, 1);
	/* what the file says replaces, what it does not say stays */
	assert_int_equal(apply("3f9a2c00 - a=2 b=3\n", recording), 0);
	assert_int_equal(group_of(recording, "3f9a2c")->label_count, 2);
	assert_string_equal(group_of(recording, "3f9a2c")->labels[0].value, "2");
	assert_int_equal(apply("3f9a2c00 - c=4\n", recording), 0);
	assert_int_equal(group_of(recording, "3f9a2c")->label_count, 3);
	recording_free(recording);
}

static void says_what_it_cannot_read(void **state)
{
	struct recording *recording = read_small();

	(void)state;
	assert_int_equal(naming_apply("/nowhere/names", recording), -ENOENT);
	assert_int_equal(apply("nonsense\n", recording), 0);
	assert_string_equal(group_of(recording, "3f9a2c")->module, "app.wasm");
	recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_groups_instances_and_mappings),
		cmocka_unit_test(keeps_groups_apart),
		cmocka_unit_test(changes_labels_alone),
		cmocka_unit_test(says_what_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
