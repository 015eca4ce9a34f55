/* SPDX-License-Identifier: MIT */
/* called_test.c - which names are meant by what a user gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "preload/read/called.h"
#include "preload/read/selection.h"
#include "preload/read/subset.h"

static void names_are_equal_or_shown_so(void **state)
{
	(void)state;
	assert_true(called_name("resize", "resize"));
	assert_false(called_name("resize", "resiz"));
	assert_false(called_name("resize", "resize2"));
	assert_false(called_name("resize", ""));
	/* U+200F, from right to left, is shown as its number */
	assert_true(called_name("mark\xe2\x80\x8f", "mark\xe2\x80\x8f"));
	assert_true(called_name("mark\xe2\x80\x8f", "mark\\u{200f}"));
	assert_false(called_name("mark\\\\u{200f}", "mark\\u{200f}"));
	assert_true(called_name("line\\x0a", "line\\x0a"));
}

static void a_module_may_lack_its_hash(void **state)
{
	(void)state;
	assert_true(called_module("resize@3f9a2c", "resize@3f9a2c"));
	assert_true(called_module("resize@3f9a2c", "resize"));
	assert_true(called_module("a@b@3f9a2c", "a@b"));
	assert_true(called_module("mark\xe2\x80\x8f@3f9a2c", "mark\\u{200f}"));
	assert_false(called_module("a@b@3f9a2c", "a"));
	assert_false(called_module("resize@host", "resize"));
	assert_false(called_module("resize@3f9a2", "resize"));
	assert_false(called_module("resize@3F9A2C", "resize"));
	assert_false(called_module("resize", "resize@3f9a2c"));
	assert_false(called_module("@3f9a2c", ""));
	assert_int_equal(called_plain_length("resize@3f9a2c"), 6);
	assert_int_equal(called_plain_length("@3f9a2c"), 7);
}

static void an_instance_may_have_its_process(void **state)
{
	(void)state;
	assert_true(called_instance("resize#3", 42, "resize#3"));
	assert_true(called_instance("resize#3", 42, "resize#3 (42)"));
	assert_true(called_instance("mark\xe2\x80\x8f#1", 42, "mark\\u{200f}#1 (42)"));
	assert_false(called_instance("resize#3", 42, "resize#3 (43)"));
	assert_false(called_instance("resize#3", 42, "resize"));
	assert_false(called_instance("resize#3", 42, " (42)"));
	assert_false(called_instance("", 42, " (42)"));
	assert_false(called_instance("", 42, ""));
}

/* What a tenant gets is his alone: anybody can name himself as he does. */
static void a_tenant_is_named_whole(void **state)
{
	struct recording_label labels[] = { { "tenant", "acme" }, { "tier", "gold" } };
	struct recording_sample sample = { .module = "resize@3f9a2c",
					   .instance = "resize@3f9a2c#1",
					   .thread_name = "",
					   .labels = labels,
					   .label_count = 2 };
	struct selection by_module = { .by = SELECTION_MODULE, .value = "resize" };
	struct selection by_label = { 0 };

	(void)state;
	assert_false(selection_takes(&by_module, &sample));
	by_module.value = "resize@3f9a2c";
	assert_true(selection_takes(&by_module, &sample));
	assert_int_equal(selection_set_label(&by_label, "tenant=acme"), 0);
	assert_true(selection_takes(&by_label, &sample));
	selection_free(&by_label);
	assert_int_equal(selection_set_label(&by_label, "tenant=acm"), 0);
	assert_false(selection_takes(&by_label, &sample));
	selection_free(&by_label);
	assert_string_equal(called_label(labels, 2, "tier"), "gold");
	assert_null(called_label(labels, 2, "tie"));
}

static size_t asked_for(const struct subset_wish *wish)
{
	struct recording_label label = { "tenant", "acme" };
	struct recording_sample sample = { .module = "resize@3f9a2c",
					   .instance = "resize@3f9a2c#1",
					   .thread_name = "",
					   .labels = &label,
					   .label_count = 1 };
	struct recording_process process = { .pid = 42, .path = "a.pb" };
	struct recording recording = {
		.samples = &sample, .sample_count = 1, .processes = &process, .process_count = 1
	};
	struct recording part;
	struct recording_sample *samples;

	assert_int_equal(subset_take(&recording, wish, &part, &samples), 0);
	free(samples);
	return part.sample_count;
}

static void what_the_network_asks_for(void **state)
{
	(void)state;
	assert_int_equal(asked_for(&(struct subset_wish){ .module = "resize" }), 1);
	assert_int_equal(asked_for(&(struct subset_wish){ .group = "resize" }), 0);
	assert_int_equal(asked_for(&(struct subset_wish){ .group = "resize@3f9a2c" }), 1);
	assert_int_equal(asked_for(&(struct subset_wish){ .instance = "resize@3f9a2c#1 (42)" }), 1);
	assert_int_equal(asked_for(&(struct subset_wish){ .instance = "resize@3f9a2c#1 (4)" }), 0);
	assert_int_equal(asked_for(&(struct subset_wish){ .labels = { "tenant" } }), 1);
	assert_int_equal(asked_for(&(struct subset_wish){ .labels = { "tenant=acme" } }), 1);
	assert_int_equal(asked_for(&(struct subset_wish){ .labels = { "tenant=ac" } }), 0);
	assert_int_equal(asked_for(&(struct subset_wish){ .labels = { "ten" } }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_equal_or_shown_so),
		cmocka_unit_test(a_module_may_lack_its_hash),
		cmocka_unit_test(an_instance_may_have_its_process),
		cmocka_unit_test(a_tenant_is_named_whole),
		cmocka_unit_test(what_the_network_asks_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
