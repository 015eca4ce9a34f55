/* SPDX-License-Identifier: MIT */
/* export_test.c - `guestprof export`: where it writes, in which form, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/command.h"
#include "tests/unit/cmd/capture.h"
#include "tests/unit/encode/recordings.h"

#include <limits.h>
#include <sys/stat.h>
#include <utime.h>

static struct fixture {
	char directory[64], before[PATH_MAX];
	struct capture capture;
} fixture;

static int enter_directory(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	assert_non_null(getcwd(fixture.before, sizeof(fixture.before)));
	strcpy(fixture.directory, "/tmp/guestprof-export-XXXXXX");
	assert_non_null(mkdtemp(fixture.directory));
	assert_int_equal(chdir(fixture.directory), 0);
	build_small(built);
	free(write_bytes("guestprof.python3.4242.pb", built->out.bytes, built->out.size));
	built_free(built);
	return 0;
}

static int leave_directory(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", fixture.directory);
	assert_int_equal(system(command), 0);
	capture_free(&fixture.capture);
	return chdir(fixture.before);
}

static int export(const char *words)
{
	char text[256], *arguments[16] = { "export" }, *rest;
	int count = 1;

	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	return capture_run(&fixture.capture, export_command, count, arguments);
}

static void expect_told(const char *text)
{
	if (strstr(fixture.capture.err, text) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", text, fixture.capture.err);
}

/* The child's output is a file here, which is to get the data. */
static void writes_firefox_to_a_redirection(void **state)
{
	uint8_t begin[2] = { 0 };
	FILE *file;

	(void)state;
	assert_int_equal(export("--to firefox guestprof.python3.4242.pb"), 0);
	assert_string_equal(fixture.capture.err, "");
	file = fopen(fixture.capture.out_path, "r");
	assert_int_equal(fread(begin, 1, 2, file), 2);
	fclose(file);
	assert_int_equal(begin[0], 0x1f);
	assert_int_equal(begin[1], 0x8b);
}

static void writes_to_a_named_file(void **state)
{
	(void)state;
	assert_int_equal(export("--to firefox -o a.json.gz guestprof.python3.4242.pb"), 0);
	expect_told("wrote a.json.gz; open it at https://profiler.firefox.com");
	assert_int_equal(system("gzip -t a.json.gz"), 0);
	capture_free(&fixture.capture);
	assert_int_equal(export("--to firefox -o a.json"), 0); /* the newest recording here */
	assert_int_equal(system("python3 -m json.tool a.json > /dev/null"), 0);
	capture_free(&fixture.capture);
	assert_int_equal(export("--to folded -o a.folded"), 0);
	assert_int_equal(system("grep -q '^app.wasm;_start;memory.grow 40$' a.folded"), 0);
}

static int export_to_null(int argc, char **argv)
{
	capture_redirect("/dev/null", STDOUT_FILENO);
	return export_command(argc, argv);
}

static void names_the_file_itself(void **state)
{
	char *arguments[] = { "export", "--to", "firefox", "./guestprof.python3.4242.pb", NULL };

	(void)state;
	assert_int_equal(capture_run(&fixture.capture, export_to_null, 4, arguments), 0);
	expect_told("wrote guestprof.python3.4242.json.gz");
	assert_int_equal(access("guestprof.python3.4242.json.gz", F_OK), 0);
}

static void takes_the_newest_recording(void **state)
{
	struct utimbuf old = { 1000, 1000 };

	(void)state;
	free(write_bytes("broken.pb.gz", "no profile", 10));
	assert_int_equal(utime("broken.pb.gz", &old), 0);
	assert_int_equal(export("--to folded"), 0);
	capture_free(&fixture.capture);
	assert_int_equal(utime("guestprof.python3.4242.pb", &(struct utimbuf){ 10, 10 }), 0);
	assert_int_equal(export("--to folded"), COMMAND_BAD);
	expect_told("broken.pb.gz: byte 0: not a pprof profile");
}

static void refuses_with_one_line(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	assert_int_equal(export("--to svg guestprof.python3.4242.pb"), COMMAND_BAD);
	expect_told("--to takes firefox, speedscope, html, pprof or folded, not svg");
	capture_free(&fixture.capture);
	assert_int_equal(export("guestprof.python3.4242.pb"), COMMAND_BAD);
	capture_free(&fixture.capture);
	assert_int_equal(export("--to folded a b"), COMMAND_BAD);
	capture_free(&fixture.capture);
	assert_int_equal(export("--to folded -o /no/such/dir/x guestprof.python3.4242.pb"),
			 COMMAND_BAD);
	expect_told("/no/such/dir/x: No such file or directory");
	capture_free(&fixture.capture);
	built_begin(built);
	free(write_bytes("empty.pb", built->out.bytes, built->out.size));
	built_free(built);
	assert_int_equal(export("--to firefox -o e.json empty.pb"), COMMAND_NO_SAMPLES);
	assert_int_equal(access("e.json", F_OK), -1);
}

/* A full disk must not leave half a file behind, nor a status of success. */
static void tells_of_a_full_disk(void **state)
{
	(void)state;
	assert_int_equal(export("--to firefox -o /dev/full guestprof.python3.4242.pb"),
			 COMMAND_BAD);
	expect_told("/dev/full: No space left on device");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_firefox_to_a_redirection), TEST(writes_to_a_named_file),
		TEST(names_the_file_itself),	       TEST(takes_the_newest_recording),
		TEST(refuses_with_one_line),	       TEST(tells_of_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
