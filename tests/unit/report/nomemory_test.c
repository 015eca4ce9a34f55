/* SPDX-License-Identifier: MIT */
/* nomemory_test.c - every allocation of a diff, and of naming modules afterwards, fails once;
 * nothing else happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "preload/cmd/report/diff.h"
#include "preload/cmd/symbolize/naming.h"
#include "preload/export/folded.h"
#include "preload/read/totals.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/small.h"
#include "tests/unit/symtab/failing.h"

#define AFTER_IDENTITY "3f9a2c99112233445566778899aabbccddeeff00112233445566778899aabbcc"

/* Another build of the same program: the bytes differ, and one function has another name. */
static struct recording *read_after(void)
{
	struct recording *recording = small_read();

	for (size_t i = 0; i < recording->mapping_count; i++) {
		if (strcmp(recording->mappings[i].identity, SMALL_IDENTITY) == 0)
			recording->mappings[i].identity = AFTER_IDENTITY;
	}
	for (size_t i = 0; i < recording->group_count; i++) {
		if (strcmp(recording->groups[i].identity, SMALL_IDENTITY) == 0)
			recording->groups[i].identity = AFTER_IDENTITY;
	}
	recording->functions[0].name = "renamed";
	return recording;
}

static struct totals *sum_up(const struct recording *recording)
{
	struct totals *totals = totals_new();

	if (totals != NULL && totals_add(totals, recording) == 0 && totals_finish(totals) == 0)
		return totals;
	totals_free(totals);
	return NULL;
}

static int write_change(const struct diff *diff)
{
	struct output *output = output_open("/dev/null", false);
	int error = output == NULL ? -ENOMEM : diff_json(diff, output), close_error;

	if (error == 0)
		error = folded_write_change(diff->before, diff->after, output);
	close_error = output != NULL ? output_close(output, true) : 0;
	return error != 0 ? error : close_error;
}

static int compare(struct recording *before, struct recording *after)
{
	struct diff diff = { .before = before, .after = after, .row_count = SIZE_MAX };
	int error = diff_match(before, after, &diff.match);

	if (error == 0)
		diff.before_totals = sum_up(before);
	if (error == 0 && diff.before_totals != NULL)
		diff.after_totals = sum_up(after);
	if (error == 0 && diff.after_totals == NULL)
		error = -ENOMEM;
	if (error == 0)
		error = diff_rows_make(&diff.rows, diff.before_totals, diff.after_totals);
	if (error == 0)
		error = write_change(&diff);
	totals_free(diff.before_totals);
	totals_free(diff.after_totals);
	diff_match_free(&diff.match);
	diff_rows_free(&diff.rows);
	return error;
}

static int name(struct recording *before, struct recording *after)
{
	(void)after;
	return naming_apply("names", before);
}

/*
 * In both recordings things are renamed in place, so each try has new ones. MAY_COPE: a line of a
 * names file for which there is no memory is left out, and told as one that is not understood.
 */
static void fails_at_each(int (*use)(struct recording *before, struct recording *after),
			  bool may_cope)
{
	bool has_failed = true;

	if (!failing_works)
		skip();
	for (long nth = 1; has_failed; nth++) {
		struct recording *before = small_read(), *after = read_after();
		int error;

		failing_start(nth);
		error = use(before, after);
		has_failed = failing_stop();
		if (has_failed && !(may_cope && error == 0))
			assert_int_equal(error, -ENOMEM);
		else
			assert_int_equal(error, 0);
		recording_free(before);
		recording_free(after);
	}
}

static void diff_fails_cleanly(void **state)
{
	(void)state;
	fails_at_each(compare, false);
}

static void naming_fails_cleanly(void **state)
{
	static const char names[] = "3f9a2c00 same tenant=acme tier=gold\ne5110011 same\n";

	(void)state;
	free(write_bytes("names", names, strlen(names)));
	fails_at_each(name, true);
	unlink("names");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diff_fails_cleanly),
		cmocka_unit_test(naming_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
