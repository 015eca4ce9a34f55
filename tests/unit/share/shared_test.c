/* SPDX-License-Identifier: MIT */
/* shared_test.c - what of a recording one tenant gets. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "preload/read/frames.h"
#include "tests/unit/encode/tenants.h"

static const struct shared_options with_time = { .has_time = true };

static void assert_same(const struct pb_writer *left, const struct pb_writer *right)
{
	assert_int_equal(left->size, right->size);
	assert_memory_equal(left->bytes, right->bytes, left->size);
}

static void neighbours_do_not_show(void **state)
{
	struct pb_writer quiet = share_with_acme(&quiet_host, &with_time);
	struct pb_writer busy = share_with_acme(&busy_host, &with_time);

	(void)state;
	assert_true(quiet.size > 300);
	assert_same(&quiet, &busy);
	pb_free(&quiet);
	pb_free(&busy);
}

static void nothing_of_the_process_is_in_it(void **state)
{
	static const char *const secrets[] = { "rival",	  "charge",   "worker",	    "lookup",
					       "python3", "wasmtime", "perf_event", "memory.grow",
					       "tier",	  "free",     "ring_full",  "0.1.0",
					       "[host]",  "signals",  "thread" };
	struct pb_writer busy = share_with_acme(&busy_host, &with_time);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		assert_null(memmem(busy.bytes, busy.size, secrets[i], strlen(secrets[i])));
	pb_free(&busy);
}

static struct recording *read_bytes(const struct pb_writer *bytes)
{
	char *path = write_bytes(NULL, bytes->bytes, bytes->size), *why = NULL;
	struct recording *recording = recording_read(path, &why);

	assert_non_null(recording);
	unlink(path);
	free(path);
	return recording;
}

static void expect_stack(const struct recording_sample *sample, const char *expected)
{
	struct frames frames = { 0 };
	char text[256] = "", scratch[FRAMES_NAME_SIZE];

	assert_int_equal(frames_list(&frames, sample), 0);
	for (size_t i = 0; i < frames.count; i++) {
		strcat(text, i == 0 ? "" : ";");
		strcat(text, frames_name(&frames.list[i], scratch));
	}
	assert_string_equal(text, expected);
	frames_free(&frames);
}

static void stacks_are_the_tenants(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct recording *recording = read_bytes(&bytes);
	const struct recording_sample *samples = recording->samples;

	(void)state;
	assert_int_equal(recording->sample_count, 3);
	/* no host at the root nor within the import, which has its name */
	expect_stack(&samples[0], "serve;acme::render");
	expect_stack(&samples[1], "serve;[guest to host];platform.fetch");
	expect_stack(&samples[2], "serve;acme::render;(builtin)");
	assert_string_equal(samples[0].instance, "acme-app@3f9a2c#1");
	assert_string_equal(samples[1].instance, "acme-app@3f9a2c#2");
	assert_string_equal(samples[2].instance, "acme-app@3f9a2c#*");
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(samples[i].module, "acme-app@3f9a2c");
		assert_int_equal(samples[i].time_ns, i == 0 ? 0 : 1200000000);
		assert_int_equal(samples[i].count, 10);
		assert_int_equal(samples[i].label_count, 1);
		assert_string_equal(samples[i].labels[0].value, "acme");
	}
	recording_free(recording);
	pb_free(&bytes);
}

static void tables_are_the_tenants(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &with_time);
	struct recording *recording = read_bytes(&bytes);

	(void)state;
	assert_int_equal(recording->mapping_count, 1);
	assert_string_equal(recording->mappings[0].identity, ACME_IDENTITY);
	assert_int_equal(recording->mappings[0].start, 0);
	assert_int_equal(recording->mappings[0].function_count, 12);
	assert_int_equal(recording->function_count, 5);
	for (size_t i = 0; i < recording->function_count; i++) {
		const struct recording_function *function = &recording->functions[i];

		/* Filed under the module's name of here, or its source file. */
		assert_true(function->filename[0] == '\0' ||
			    strcmp(function->filename, "acme-app@3f9a2c") == 0 ||
			    strcmp(function->filename, "src/render.rs") == 0);
	}
	assert_int_equal(recording->group_count, 1);
	assert_int_equal(recording->groups[0].instances_created, 0); /* its labels are not known */
	assert_int_equal(recording->groups[0].samples, 30);
	assert_int_equal(recording_stat(recording, "samples"), 30);
	assert_int_equal(recording_stat(recording, "signals"), 0);
	/* 1.2 s, and the second that the last row stands for */
	assert_int_equal(recording->duration_ns, 2200000000);
	assert_int_equal(recording->time_unix_ns, 0);
	assert_int_equal(recording->pid, 0);
	recording_free(recording);
	pb_free(&bytes);
}

static void shared_again_it_is_the_same(void **state)
{
	static const struct shared_options options[] = { { true, false }, { false, false } };
	struct selection all = { .by = SELECTION_ALL, .kept = { "tenant" }, .kept_count = 1 }, acme;

	(void)state;
	tenant_selection(&acme);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct pb_writer first = share_with_acme(&busy_host, &options[i]);
		struct pb_writer again = share_bytes(first.bytes, first.size, &acme, &options[i]);
		struct pb_writer whole = share_bytes(first.bytes, first.size, &all, &options[i]);

		assert_same(&first, &again);
		assert_same(&first, &whole);
		pb_free(&first);
		pb_free(&again);
		pb_free(&whole);
	}
	selection_free(&acme);
}

static void without_times_there_are_none(void **state)
{
	struct pb_writer bytes = share_with_acme(&busy_host, &(struct shared_options){ 0 });
	struct recording *recording = read_bytes(&bytes);

	(void)state;
	assert_int_equal(recording->duration_ns, 0);
	assert_null(memmem(bytes.bytes, bytes.size, "time", 4));
	recording_free(recording);
	pb_free(&bytes);
}

static void labels_are_kept_on_request(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct selection selection;
	struct pb_writer bytes;

	(void)state;
	build_tenants(built, &busy_host);
	tenant_selection(&selection);
	selection.kept[selection.kept_count++] = "tier";
	bytes = share_bytes(built->out.bytes, built->out.size, &selection, &with_time);
	assert_non_null(memmem(bytes.bytes, bytes.size, "tier", 4));
	assert_null(memmem(bytes.bytes, bytes.size, "rival", 5));
	selection_free(&selection);
	pb_free(&bytes);
	built_free(built);
}

/* Another loading of MODULE, which carries debug sections. */
static void add_debug(struct built *built, const char *module, const char *identity,
		      const char *debug)
{
	uint64_t name_index = built_string(built, module);
	uint64_t identity_index = built_string(built, identity);
	size_t mark = pb_begin(&built->out, 3);

	pb_varint(&built->out, 1, ++built->mappings);
	pb_varint(&built->out, 5, name_index);
	pb_varint(&built->out, 6, identity_index);
	pb_varint(&built->out, MAPPING_DEBUG_SIZE, 4096);
	pb_string(&built->out, MAPPING_DEBUG, debug);
	pb_end(&built->out, mark);
}

static void debug_sections_are_the_tenants(void **state)
{
	static const struct shared_options with_debug = { .has_time = true, .has_debug = true };
	struct built *built = calloc(1, sizeof(*built));
	struct selection selection;
	struct pb_writer bytes;

	(void)state;
	build_tenants(built, &busy_host);
	add_debug(built, "rival-app", RIVAL_IDENTITY, "rival sections");
	add_debug(built, "acme-app", ACME_IDENTITY, "acme sections");
	tenant_selection(&selection);
	bytes = share_bytes(built->out.bytes, built->out.size, &selection, &with_time);
	assert_null(memmem(bytes.bytes, bytes.size, "sections", 8));
	pb_free(&bytes);
	bytes = share_bytes(built->out.bytes, built->out.size, &selection, &with_debug);
	assert_non_null(memmem(bytes.bytes, bytes.size, "acme sections", 13));
	assert_null(memmem(bytes.bytes, bytes.size, "rival", 5));
	pb_free(&bytes);
	selection_free(&selection);
	built_free(built);
}

static void nobody_gets_nothing(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct selection selection = { .by = SELECTION_MODULE, .value = "acme" };
	struct pb_writer bytes;
	struct recording *recording;

	(void)state;
	build_tenants(built, &busy_host);
	bytes = share_bytes(built->out.bytes, built->out.size, &selection, &with_time);
	recording = read_bytes(&bytes);
	assert_int_equal(recording->sample_count, 0);
	assert_int_equal(recording->mapping_count, 0);
	assert_int_equal(recording->function_count, 0);
	recording_free(recording);
	pb_free(&bytes);
	built_free(built);
}

static void selectors_are_read(void **state)
{
	struct selection selection = { 0 };

	(void)state;
	assert_int_equal(selection_set_label(&selection, "tenant"), -EINVAL);
	assert_int_equal(selection_set_label(&selection, "=acme"), -EINVAL);
	assert_int_equal(selection_set_label(&selection, "tenant="), -EINVAL);
	assert_int_equal(selection_set_label(&selection, "tenant=a=b"), 0);
	assert_string_equal(selection.key, "tenant");
	assert_string_equal(selection.value, "a=b");
	assert_true(selection_keeps(&selection, "tenant"));
	assert_false(selection_keeps(&selection, "tier"));
	selection_free(&selection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_do_not_show),
		cmocka_unit_test(nothing_of_the_process_is_in_it),
		cmocka_unit_test(stacks_are_the_tenants),
		cmocka_unit_test(tables_are_the_tenants),
		cmocka_unit_test(shared_again_it_is_the_same),
		cmocka_unit_test(without_times_there_are_none),
		cmocka_unit_test(labels_are_kept_on_request),
		cmocka_unit_test(debug_sections_are_the_tenants),
		cmocka_unit_test(nobody_gets_nothing),
		cmocka_unit_test(selectors_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
