/* SPDX-License-Identifier: MIT */
/* nomemory_test.c - every allocation of the command's half of encode fails once; nothing else
 * happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/encode/firefox.h"
#include "preload/encode/folded.h"
#include "preload/encode/reader.h"
#include "preload/encode/totals.h"
#include "tests/unit/encode/recordings.h"
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
	int error = output == NULL ? -ENOMEM : firefox_write(recording, output);

	if (output != NULL && output_close(output, true) != 0 && error == 0)
		error = -ENOMEM;
	return error;
}

static void fails_cleanly(int (*use)(const struct recording *recording))
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
		assert_true((error == 0) == !has_failed);
	}
	recording_free(recording);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_fails_cleanly),
		cmocka_unit_test(totals_fail_cleanly),
		cmocka_unit_test(folded_fails_cleanly),
		cmocka_unit_test(firefox_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
