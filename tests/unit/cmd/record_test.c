/* SPDX-License-Identifier: MIT */
/*
 * record_test.c - `guestprof record`: what the command gets, what its end does to ours, what is
 * told.
 *
 * The guest is a shell that does what the library would: it appends a line to GUESTPROF_LIST and
 * leaves a recording. Any shared object may play the library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/command.h"
#include "preload/read/reader.h"
#include "tests/unit/cmd/capture.h"
#include "tests/unit/encode/recordings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static struct fixture {
	char directory[PATH_MAX], before[PATH_MAX];
	struct capture capture;
} fixture;

static int enter_directory(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	assert_non_null(getcwd(fixture.before, sizeof(fixture.before)));
	strcpy(fixture.directory, "/tmp/guestprof-record-XXXXXX");
	assert_non_null(mkdtemp(fixture.directory));
	assert_int_equal(chdir(fixture.directory), 0);
	build_small(built);
	free(write_bytes("small", built->out.bytes, built->out.size));
	built_free(built);
	setenv("GUESTPROF_LIB", "/lib/x86_64-linux-gnu/libm.so.6", 1);
	unsetenv("LD_PRELOAD");
	return 0;
}

static int leave_directory(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", fixture.directory);
	assert_int_equal(system(command), 0);
	capture_free(&fixture.capture);
	return chdir(fixture.before);
}

/* record with OPTIONS (by spaces), then sh -c SCRIPT. */
static int record(const char *options, const char *script)
{
	char words[256], *arguments[16] = { "record" }, *rest;
	int count = 1;

	snprintf(words, sizeof(words), "%s", options);
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	arguments[count++] = "sh";
	arguments[count++] = "-c";
	arguments[count++] = (char *)script;
	return capture_run(&fixture.capture, record_command, count, arguments);
}

static void expect_told(const char *text)
{
	if (strstr(fixture.capture.err, text) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", text, fixture.capture.err);
}

static void sets_the_environment(void **state)
{
	(void)state;
	setenv("LD_PRELOAD", "/lib/x86_64-linux-gnu/libdl.so.2", 1);
	record("-F 250 --stacks full -o out.pb.gz --",
	       "echo $LD_PRELOAD $GUESTPROF_HZ $GUESTPROF_STACKS $GUESTPROF_EXACT_OUTPUT; "
	       "echo $GUESTPROF_OUTPUT; stat -c %a $GUESTPROF_LIST");
	unsetenv("LD_PRELOAD");
	assert_non_null(strstr(fixture.capture.out,
			       "libm.so.6:/lib/x86_64-linux-gnu/libdl.so.2 250 full 1\n"));
	assert_non_null(strstr(fixture.capture.out, fixture.directory));
	assert_non_null(strstr(fixture.capture.out, "/out.pb.gz\n600\n"));
}

static void leaves_names_to_the_pattern(void **state)
{
	(void)state;
	assert_int_equal(record("", "echo ${GUESTPROF_OUTPUT-none} ${GUESTPROF_EXACT_OUTPUT-none}"),
			 0);
	assert_string_equal(fixture.capture.out, "none none\n");
}

static void has_the_status_of_the_command(void **state)
{
	(void)state;
	assert_int_equal(record("", "exit 42"), 42);
	capture_free(&fixture.capture);
	assert_int_equal(record("", "kill -TERM $$"), 128 + SIGTERM);
	capture_free(&fixture.capture);
	assert_int_equal(record("", "kill -SEGV $$"), 128 + SIGSEGV);
	assert_false(WCOREDUMP(fixture.capture.wait_status));
}

static int record_plain(const char *first, const char *second)
{
	char *arguments[] = { "record", (char *)first, (char *)second, NULL };

	return capture_run(&fixture.capture, record_command,
			   second != NULL  ? 3
			   : first != NULL ? 2
					   : 1,
			   arguments);
}

static void says_why_a_command_does_not_run(void **state)
{
	(void)state;
	assert_int_equal(record_plain("/no/such/program", NULL), 127);
	expect_told("/no/such/program: No such file or directory");
	capture_free(&fixture.capture);
	assert_int_equal(record_plain("./small", NULL), 126);
	capture_free(&fixture.capture);
	assert_int_equal(record_plain(NULL, NULL), 125);
	expect_told("no command to run");
	capture_free(&fixture.capture);
	assert_int_equal(record_plain("-F", "0"), 125);
	expect_told("-F takes 1 to 10000, not 0");
	capture_free(&fixture.capture);
	setenv("GUESTPROF_LIB", "/no/such/library.so", 1);
	assert_int_equal(record_plain("true", NULL), 125);
	expect_told("GUESTPROF_LIB=/no/such/library.so: No such file");
}

static void tells_of_a_finished_recording(void **state)
{
	(void)state;
	assert_int_equal(record("", "gzip -c small > r.pb.gz; "
				    "for i in 1 2; do echo $$ $PWD/r.pb >> $GUESTPROF_LIST; done"),
			 0);
	expect_told("guestprof: python3[4242] 195 samples, 2 modules, 4 instances, 6 lost -> "
		    "r.pb.gz\n");
	expect_told("guestprof: next: guestprof report r.pb.gz\n"); /* once */
}

static void finishes_what_a_kill_left(void **state)
{
	struct recording *recording;
	char *why = NULL;

	(void)state;
	assert_int_equal(record("", "head -c 4110 small > r.pb; echo $$ $PWD/r.pb >> "
				    "$GUESTPROF_LIST; kill -9 $$"),
			 128 + SIGKILL);
	expect_told(" -> r.pb.gz (killed, or ended by system call; finished here)");
	assert_int_equal(access("r.pb", F_OK), -1);
	recording = recording_read("r.pb.gz", &why);
	assert_non_null(recording);
	assert_int_equal(recording->sample_count, 1);
	recording_free(recording);
}

/* With -o the file has the name that was given, whatever was there before. */
static void replaces_the_named_file(void **state)
{
	(void)state;
	assert_int_equal(system("echo old > out.pb.gz; echo older > out.pb"), 0);
	assert_int_equal(
		record("-o out.pb.gz",
		       "test -e out.pb.gz && exit 1; test -e out.pb && exit 2; cp small out.pb; "
		       "echo $$ $PWD/out.pb >> $GUESTPROF_LIST; exit 0"),
		0);
	expect_told(" -> out.pb.gz");
	assert_int_equal(access("out.pb", F_OK), -1);
}

static void leaves_a_running_recording_alone(void **state)
{
	(void)state;
	assert_int_equal(record("", "cp small r.pb; echo $$ $PWD/r.pb >> $GUESTPROF_LIST; "
				    "exec 3>> r.pb; sleep 5 & echo $! > pid"),
			 0);
	expect_told("still runs and records to");
	assert_int_equal(access("r.pb", F_OK), 0);
	assert_int_equal(system("kill $(cat pid)"), 0);
}

static void says_that_nothing_was_seen(void **state)
{
	(void)state;
	assert_int_equal(record("", "exit 0"), 0);
	expect_told("nothing was recorded: no WebAssembly engine was seen in sh");
	assert_non_null(strstr(fixture.capture.err, "\n"));
	assert_string_equal(strchr(fixture.capture.err, '\n'), "\n");
}

static bool wait_for_file(const char *path)
{
	for (int i = 0; i < 1000; i++) {
		if (access(path, F_OK) == 0)
			return true;
		nanosleep(&(struct timespec){ 0, 10 * 1000 * 1000 }, NULL);
	}
	return false;
}

/* Sent to record alone, as a service manager does, a signal is the command's. */
static void forwards_signals(void **state)
{
	char *arguments[] = { "record", "sh", "-c",
			      "trap 'exit 7' TERM; trap 'touch hup' HUP; touch ready; "
			      "while :; do sleep 0.05; done",
			      NULL };
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* whoever runs these tests may ignore it (nohup) */
		signal(SIGHUP, SIG_DFL);
		capture_redirect("err", STDERR_FILENO);
		exit(record_command(4, arguments));
	}
	assert_true(wait_for_file("ready"));
	assert_int_equal(kill(pid, SIGHUP), 0);
	assert_true(wait_for_file("hup"));
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	record("", "exit 0"); /* for leave_directory() */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sets_the_environment),	     TEST(leaves_names_to_the_pattern),
		TEST(has_the_status_of_the_command), TEST(says_why_a_command_does_not_run),
		TEST(tells_of_a_finished_recording), TEST(finishes_what_a_kill_left),
		TEST(replaces_the_named_file),	     TEST(leaves_a_running_recording_alone),
		TEST(says_that_nothing_was_seen),    TEST(forwards_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
