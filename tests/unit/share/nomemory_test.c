/* SPDX-License-Identifier: MIT */
/* nomemory_test.c - every allocation of the command's half of encode fails once; nothing else
 * happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "preload/export/firefox.h"
#include "preload/export/folded.h"
#include "preload/export/html.h"
#include "preload/export/pprof.h"
#include "preload/export/speedscope.h"
#include "preload/read/filter.h"
#include "preload/read/merge.h"
#include "preload/read/reader.h"
#include "preload/read/totals.h"
#include "preload/share/audit.h"
#include "preload/share/audit_texts.h"
#include "preload/share/shared.h"
#include "tests/unit/encode/small.h"
#include "tests/unit/symtab/failing.h"

static char *write_small(bool compress)
{
	struct built *built = calloc(1, sizeof(*built));
	uint8_t *gzip;
	size_t size;
	char *name;

	build_small(built);
	gzip = gzip_bytes(built->out.bytes, built->out.size, &size);
	name = compress ? write_bytes(NULL, gzip, size)
			: write_bytes(NULL, built->out.bytes, built->out.size);
	free(gzip);
	built_free(built);
	return name;
}

static void reading_fails_cleanly(void **state)
{
	bool has_failed = true;
	char *name;

	(void)state;
	if (!failing_works)
		skip();
	name = write_small(true);
	for (long nth = 1; has_failed; nth++) {
		struct recording *recording;
		char *why = NULL;

		failing_start(nth);
		recording = recording_read(name, &why);
		has_failed = failing_stop();
		assert_true((recording != NULL) == !has_failed);
		recording_free(recording);
		free(why);
	}
	unlink(name);
	free(name);
}

static int sum_up(const struct recording *recording)
{
	struct totals *totals = totals_new();
	int error = totals == NULL ? -ENOMEM : totals_add(totals, recording);

	if (error == 0)
		error = totals_finish(totals);
	totals_free(totals);
	return error;
}

static int write_folded(const struct recording *recording)
{
	struct output *output = output_open("/dev/null", false);
	int error = output == NULL ? -ENOMEM : folded_write(recording, true, false, output);

	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

static int write_firefox(const struct recording *recording)
{
	struct output *output = output_open("/dev/null", true);
	uint64_t merged_ns;
	/* Small enough for samples to be merged. */
	int error = output == NULL ? -ENOMEM : firefox_write(recording, 1000, output, &merged_ns);

	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

static int write_speedscope(const struct recording *recording)
{
	const struct speedscope_options options = { .by_instance = true, .size_max = 10 };
	struct output *output = output_open("/dev/null", false);
	bool is_merged;
	int error = output == NULL ? -ENOMEM
				   : speedscope_write(recording, &options, output, &is_merged);

	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

static int write_html(const struct recording *recording)
{
	struct html_options options = { 0 };
	struct output *output = output_open("/dev/null", false);
	int error = output == NULL ? -ENOMEM
				   : html_write_change(recording, recording, &options, output);

	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

/* Shared, and audited against what it was shared from: here the same. */
static int share(const struct recording *recording)
{
	const struct selection all = { .by = SELECTION_ALL };
	const struct selection app = { .by = SELECTION_MODULE, .value = "app.wasm" };
	struct audit_texts *texts = audit_texts_new();
	struct audit audit = { .selection = &app, .texts = texts };
	struct pb_writer bytes = { 0 };
	struct shared shared;
	int error = shared_build(&shared, recording, &all, &(struct shared_options){ true, true });

	if (error == 0)
		shared_encode(&shared, &bytes);
	if (error == 0 && (bytes.error != 0 || texts == NULL))
		error = -ENOMEM;
	if (error == 0)
		error = audit_texts_add(texts, bytes.bytes, bytes.size, bytes.bytes, bytes.size);
	if (error == 0)
		error = audit_texts_finish(texts);
	if (error == 0)
		error = audit_bytes(&audit, bytes.bytes, bytes.size);
	audit_texts_free(texts);
	pb_free(&bytes);
	shared_free(&shared);
	return error;
}

/* Two processes become one recording, of which a part is kept: that is more rows than one file has.
 */
static int merge_and_filter(const struct recording *recording)
{
	/* No pattern: glibc's regexec() finds nothing where it should say that memory is short. */
	static const struct filter_wish wish = { .thread = "4244", .time = "1:", .view = "guest" };
	struct recording *list[] = { (struct recording *)recording, (struct recording *)recording };
	struct recording *merged = recording_merge(list, 2);
	char *why = NULL;
	struct filter *filter = merged != NULL ? filter_new(&wish, &why) : NULL;
	int error = filter == NULL ? -ENOMEM : filter_apply(filter, merged, &why);

	if (error == 0 && small_count(merged) != 2 * (60 + 40 + 10 + 25))
		error = -EINVAL;
	filter_free(filter);
	recording_free(merged);
	free(why);
	return error;
}

static int write_pprof(const struct recording *recording)
{
	const struct pprof_options options = { .by_instance = true, .group_max = 1 };
	struct output *output = output_open("/dev/null", false);
	int error = output == NULL ? -ENOMEM : pprof_write(recording, &options, output);

	if (error == 0)
		error = pprof_write_recording(recording, output);
	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

/* MAY_COPE: an allocation that failed may be one that only makes a block smaller, as asprintf()'s.
 */
static void fails_at_each(int (*use)(const struct recording *recording), bool may_cope)
{
	char *why = NULL, *name = write_small(false);
	struct recording *recording = recording_read(name, &why);
	bool has_failed = true;

	unlink(name);
	free(name);
	assert_non_null(recording);
	if (!failing_works) {
		recording_free(recording);
		skip();
	}
	for (long nth = 1; has_failed; nth++) {
		int error;

		failing_start(nth);
		error = use(recording);
		has_failed = failing_stop();
		assert_true((error == 0) == !has_failed || (may_cope && error == 0));
		assert_int_not_equal(error, -EINVAL);
	}
	recording_free(recording);
}

static void fails_cleanly(int (*use)(const struct recording *recording))
{
	fails_at_each(use, false);
}

static void totals_fail_cleanly(void **state)
{
	(void)state;
	fails_cleanly(sum_up);
}

static void folded_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(write_folded);
}

static void firefox_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(write_firefox);
}

static void speedscope_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(write_speedscope);
}

static void sharing_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(share);
}

static void html_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(write_html);
}

static void merging_fails_cleanly(void **state)
{
	(void)state;
	fails_at_each(merge_and_filter, true);
}

static void pprof_fails_cleanly(void **state)
{
	(void)state;
	fails_cleanly(write_pprof);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_fails_cleanly),    cmocka_unit_test(pprof_fails_cleanly),
		cmocka_unit_test(reading_fails_cleanly),    cmocka_unit_test(totals_fail_cleanly),
		cmocka_unit_test(folded_fails_cleanly),	    cmocka_unit_test(firefox_fails_cleanly),
		cmocka_unit_test(speedscope_fails_cleanly), cmocka_unit_test(html_fails_cleanly),
		cmocka_unit_test(sharing_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
