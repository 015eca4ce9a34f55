/* SPDX-License-Identifier: MIT */
/*
 * writer_test.c - recordings on a real disk: names, kills, full disks, limits, links.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "preload/base/stats.h"
#include "preload/encode/recording.h"
#include "preload/encode/writer.h"
#include "tests/unit/encode/chunks.h"

enum { SECOND_NS = 1000000000 };

static char scratch[] = "/tmp/writer_test.XXXXXX";
static const struct writer_info info = {
	.clock_name = "cpu timer",
	.requested_hz = 100,
	.stacks = "hostcalls",
	.period_ns = 10000000,
};

static const char *in_scratch(const char *name)
{
	static char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static struct writer *prepare(const char *name, bool exact)
{
	return writer_prepare(in_scratch(name), exact, 1700000000000000000);
}

static int append_rows(struct writer *writer, size_t first, size_t count)
{
	struct made_chunk *made = make_chunk(first, count);
	int error = writer_append(writer, &made->chunk, &info);

	free(made);
	return error;
}

static bool exists(const char *name)
{
	return access(in_scratch(name), F_OK) == 0;
}

/* Reads a file whole, gzip or not; the check of what is in it. */
static struct checked check_file(const char *name)
{
	gzFile file = gzopen(in_scratch(name), "rb");
	struct checked checked = { .problem = "cannot be read" };
	uint8_t *bytes = malloc(16 << 20);
	int size;

	if (file != NULL) {
		size = gzread(file, bytes, 16 << 20);
		if (size >= 0 && gzclose(file) == Z_OK)
			checked = check_recording(bytes, (size_t)size);
	}
	free(bytes);
	return checked;
}

static void expect_whole(const char *name, size_t samples, bool has_ended)
{
	struct checked checked = check_file(name);

	assert_null(checked.problem);
	assert_false(checked.is_torn);
	assert_int_equal(checked.samples, samples);
	assert_int_equal(checked.has_ended, has_ended);
}

static int remove_entry(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[PATH_MAX * 2];

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (unlink(path) != 0) {
			remove_entry(path);
			rmdir(path);
		}
	}
	if (entries != NULL)
		closedir(entries);
	return 0;
}

static int empty_scratch(void **unused)
{
	(void)unused;
	return remove_entry(scratch);
}

/* ---- the usual life -------------------------------------------------------------------------- */

static void test_runs_and_ends(void **unused)
{
	struct writer *writer = prepare("a.%p.pb", false);
	char running[64], final[64];
	struct stat facts;

	(void)unused;
	snprintf(running, sizeof(running), "a.%d.pb", getpid());
	snprintf(final, sizeof(final), "a.%d.pb.gz", getpid());
	assert_string_equal(writer_path(writer), "");
	assert_false(exists(running));
	assert_int_equal(append_rows(writer, 0, 500), 0);
	assert_string_equal(writer_path(writer), in_scratch(running));
	expect_whole(running, 500, false);
	assert_int_equal(append_rows(writer, 500, 20), 0);
	expect_whole(running, 520, false);
	assert_int_equal(stat(in_scratch(running), &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0600);
	assert_int_equal(facts.st_size % RECORDING_PAGE, 0);
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	assert_string_equal(writer_path(writer), in_scratch(final));
	assert_false(exists(running));
	expect_whole(final, 520, true);
	assert_int_equal(stat(in_scratch(final), &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0600);
	assert_true(facts.st_size < 520 * 64);
	assert_true(append_rows(writer, 520, 1) < 0);
	writer_free(writer, false);
}

/* ---- one after the other --------------------------------------------------------------------- */

static size_t count_files(void)
{
	DIR *entries = opendir(scratch);
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(entries)) != NULL)
		count += strncmp(entry->d_name, "r.", 2) == 0;
	closedir(entries);
	return count;
}

static void test_only_so_many_are_kept(void **unused)
{
	struct writer *writer = prepare("r.pb", false);
	char name[64];

	(void)unused;
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(append_rows(writer, 0, 10 + i), 0);
		assert_true(writer_size(writer) > 0 && writer_file(writer) > 2);
		assert_true(count_files() <= 3);
		assert_int_equal(writer_next(writer, SECOND_NS, 1700000000000000000, 3), 0);
		assert_int_equal(writer_size(writer), 0);
	}
	assert_int_equal(count_files(), 2);
	for (size_t i = 18; i < 20; i++) {
		snprintf(name, sizeof(name), "r.%zu.pb.gz", i);
		expect_whole(name, 10 + i, true);
	}
	/* Nothing more comes: no file. */
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	assert_int_equal(count_files(), 2);
	writer_free(writer, false);
}

/* What lies under the name of a file of ours, but is another, is not ours to remove. */
static void test_somebody_elses_file_stays(void **unused)
{
	struct writer *writer = prepare("s.%n.pb", false);
	int fd;

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 5), 0);
	assert_int_equal(writer_next(writer, SECOND_NS, 0, 1), 0);
	assert_false(exists("s.1.pb.gz"));
	assert_int_equal(append_rows(writer, 0, 5), 0);
	assert_int_equal(writer_next(writer, SECOND_NS, 0, 2), 0);
	expect_whole("s.2.pb.gz", 5, true);
	unlink(in_scratch("s.2.pb.gz"));
	fd = open(in_scratch("s.2.pb.gz"), O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(append_rows(writer, 0, 5), 0);
	assert_int_equal(writer_next(writer, SECOND_NS, 0, 2), 0);
	assert_true(exists("s.2.pb.gz") && exists("s.3.pb.gz"));
	writer_free(writer, false);
}

static void test_nothing_appended_leaves_nothing(void **unused)
{
	struct writer *writer = prepare("a.pb", false);

	(void)unused;
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	assert_false(exists("a.pb"));
	assert_false(exists("a.pb.gz"));
	assert_string_equal(writer_path(writer), "");
	writer_free(writer, false);
	errno = 0;
	assert_null(writer_prepare("none", false, 0));
	assert_int_equal(errno, ENOENT);
}

static void test_too_slow_to_compress(void **unused)
{
	struct writer *writer = prepare("a.pb", false);

	(void)unused;
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(append_rows(writer, i * 4000, 4000), 0);
	assert_int_equal(writer_finish(writer, 1), 0);
	expect_whole("a.pb", 40000, true);
	assert_false(exists("a.pb.gz"));
	assert_false(exists("a.pb.tmp"));
	writer_free(writer, false);
}

/* chdir and umask of the host come later and change nothing. */
static void test_the_path_is_fixed_early(void **unused)
{
	struct writer *writer;
	mode_t mask = umask(0777);
	char before[PATH_MAX];

	(void)unused;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(scratch), 0);
	writer = writer_prepare("rel.pb", false, 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(append_rows(writer, 0, 3), 0);
	assert_string_equal(writer_path(writer), in_scratch("rel.pb"));
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	expect_whole("rel.pb.gz", 3, true);
	writer_free(writer, false);
	umask(mask);
	assert_int_equal(chdir(before), 0);
}

/* ---- names that are taken -------------------------------------------------------------------- */

static void record(const char *name, bool exact, size_t samples)
{
	struct writer *writer = prepare(name, exact);

	assert_int_equal(append_rows(writer, 0, samples), 0);
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	writer_free(writer, false);
}

static void test_finished_files_are_kept(void **unused)
{
	(void)unused;
	record("a.pb", false, 1);
	record("a.pb", false, 2);
	record("a.pb", false, 3);
	expect_whole("a.pb.gz", 1, true);
	expect_whole("a.1.pb.gz", 2, true);
	expect_whole("a.2.pb.gz", 3, true);
	record("s%n.pb", false, 4);
	record("s%n.pb", false, 5);
	expect_whole("s1.pb.gz", 4, true);
	expect_whole("s2.pb.gz", 5, true);
}

/* The final name is taken while we run: the other file wins. */
static void test_a_name_taken_late(void **unused)
{
	struct writer *writer = prepare("a.pb", false);

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 7), 0);
	close(open(in_scratch("a.pb.gz"), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	expect_whole("a.1.pb.gz", 7, true);
	assert_int_equal(check_file("a.pb.gz").samples, 0);
	assert_false(exists("a.pb"));
	writer_free(writer, false);
}

static void test_links_are_not_followed(void **unused)
{
	char victim[2 * PATH_MAX];
	int fd;

	(void)unused;
	snprintf(victim, sizeof(victim), "%s", in_scratch("victim"));
	fd = open(victim, O_CREAT | O_WRONLY, 0644);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(symlink(victim, in_scratch("a.pb")), 0);
	assert_int_equal(symlink("nowhere", in_scratch("a.1.pb.gz")), 0);
	record("a.pb", false, 2);
	expect_whole("a.2.pb.gz", 2, true);
	assert_false(exists("nowhere"));
	assert_int_equal(access(victim, F_OK), 0);
	assert_int_equal(check_file("victim").samples, 0);
}

/* ---- `record -o FILE` ------------------------------------------------------------------------ */

static void test_exact_names(void **unused)
{
	(void)unused;
	record("x.pb.gz", true, 1);
	expect_whole("x.pb.gz", 1, true);
	assert_false(exists("x.pb"));
	record("y.pb", true, 2);
	expect_whole("y.pb", 2, true);
	assert_false(exists("y.pb.gz"));
	record("100%p.prof", true, 3);
	expect_whole("100%p.prof", 3, true);
	record("z.gz", true, 4);
	expect_whole("z.gz", 4, true);
	assert_false(exists("z.pb"));
}

static void test_the_second_process_adds_its_pid(void **unused)
{
	struct writer *first = prepare("x.pb.gz", true), *second = prepare("x.pb.gz", true);
	char name[64];

	(void)unused;
	assert_int_equal(append_rows(first, 0, 1), 0);
	assert_int_equal(append_rows(second, 0, 2), 0);
	snprintf(name, sizeof(name), "x.%d.pb", getpid());
	assert_string_equal(writer_path(second), in_scratch(name));
	assert_int_equal(writer_finish(first, SECOND_NS), 0);
	assert_int_equal(writer_finish(second, SECOND_NS), 0);
	snprintf(name, sizeof(name), "x.%d.pb.gz", getpid());
	expect_whole("x.pb.gz", 1, true);
	expect_whole(name, 2, true);
	writer_free(first, false);
	writer_free(second, false);
	/* A later one finds the finished file of the same run. */
	record("x.pb.gz", true, 3);
	snprintf(name, sizeof(name), "x.%d.1.pb.gz", getpid());
	expect_whole(name, 3, true);
	expect_whole("x.pb.gz", 1, true);
}

/* ---- directories ----------------------------------------------------------------------------- */

static char *fallback(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/guestprof-%u", getenv("TMPDIR"), geteuid());
	return path;
}

static void test_no_directory_falls_back(void **unused)
{
	struct writer *writer = prepare("no/such/a.pb", false);
	char path[PATH_MAX + 16];
	struct stat facts;

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 2), 0);
	snprintf(path, sizeof(path), "%s/a.pb", fallback());
	assert_string_equal(writer_path(writer), path);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(stat(fallback(), &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0700);
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	writer_free(writer, false);
}

/* A directory that looks writable and is not tells when the file is made. */
static void test_no_file_falls_back(void **unused)
{
	struct writer *writer = writer_prepare("/proc/a.pb", false, 0);
	char path[PATH_MAX + 16];

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 2), 0);
	snprintf(path, sizeof(path), "%s/a.pb", fallback());
	assert_string_equal(writer_path(writer), path);
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	writer_free(writer, false);
}

static void expect_no_recording(void)
{
	struct writer *writer = prepare("no/such/a.pb", false);
	unsigned long long lost = stat_get(STAT_LOST_WRITE);

	assert_non_null(writer);
	assert_true(append_rows(writer, 0, 2) < 0);
	assert_int_equal(stat_get(STAT_LOST_WRITE) - lost, 3); /* counts 1 and 2 */
	assert_string_equal(writer_path(writer), "");
	writer_finish(writer, SECOND_NS);
	writer_free(writer, false);
}

/* /tmp is everybody's: a directory there that others can read, or a link, is not ours. */
static void test_a_foreign_fallback_is_refused(void **unused)
{
	(void)unused;
	remove_entry(fallback());
	rmdir(fallback());
	assert_int_equal(mkdir(fallback(), 0700), 0);
	assert_int_equal(chmod(fallback(), 0755), 0);
	expect_no_recording();
	assert_int_equal(rmdir(fallback()), 0);
	assert_int_equal(symlink("/", fallback()), 0);
	expect_no_recording();
	assert_int_equal(unlink(fallback()), 0);
}

static void test_a_directory_takes_the_default_name(void **unused)
{
	struct writer *writer = writer_prepare(scratch, false, 0);
	char name[PATH_MAX];

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 1), 0);
	snprintf(name, sizeof(name), "guestprof.%s.%d.pb", program_invocation_short_name, getpid());
	assert_string_equal(writer_path(writer), in_scratch(name));
	writer_finish(writer, SECOND_NS);
	writer_free(writer, false);
}

/* ---- trouble --------------------------------------------------------------------------------- */

/* Runs CHILD in a process of its own; its exit status, or 128 + the signal. */
static int in_child(int (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child());
	assert_true(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Appends until it fails; what is on disk stays whole. Returns the samples written, -1: never
 * failed. */
static long fill(struct writer *writer)
{
	long written = 0;

	for (size_t i = 0; i < 2000; i++) {
		if (append_rows(writer, (size_t)written, 200) != 0)
			return written;
		written += 200;
	}
	return -1;
}

static int child_with_limit(void)
{
	struct rlimit limit = { 300000, 300000 };
	struct writer *writer = prepare("limit.pb", false);
	sigset_t pending;
	long written;

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	written = fill(writer);
	if (written <= 0 || stat_get(STAT_LOST_WRITE) == 0)
		return 2;
	sigpending(&pending);
	if (sigismember(&pending, SIGXFSZ) || append_rows(writer, 0, 1) != -EFBIG)
		return 3;
	if (writer_finish(writer, SECOND_NS) != -EFBIG)
		return 4;
	writer_free(writer, false);
	return 0;
}

/* The host has SIGXFSZ at its default, which kills: the limit must not become its death. */
static void test_file_size_limit(void **unused)
{
	struct checked checked;

	(void)unused;
	assert_int_equal(in_child(child_with_limit), 0);
	checked = check_file("limit.pb");
	assert_null(checked.problem);
	assert_false(checked.is_torn);
	assert_true(checked.samples >= 200);
	assert_false(exists("limit.pb.gz"));
}

static int child_on_full_disk(void)
{
	struct writer *writer;
	struct checked checked;
	long written;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return 77;
	if (mkdir(in_scratch("full"), 0700) != 0 ||
	    mount("tmpfs", in_scratch("full"), "tmpfs", 0, "size=400k") != 0)
		return 77;
	writer = prepare("full/a.pb", false);
	written = fill(writer);
	if (written <= 0 || append_rows(writer, 0, 1) != -ENOSPC)
		return 2;
	writer_finish(writer, SECOND_NS);
	checked = check_file("full/a.pb");
	if (checked.problem != NULL || checked.is_torn || checked.samples != (size_t)written)
		return 3;
	return exists("full/a.pb.gz") || exists("full/a.pb.tmp") ? 4 : 0;
}

static void test_full_disk(void **unused)
{
	int status = in_child(child_on_full_disk);

	(void)unused;
	if (status == 77) {
		print_message("no right to mount a small file system here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static _Noreturn void append_for_ever(void)
{
	struct writer *writer = prepare("killed.pb", false);

	for (size_t i = 0;; i++)
		append_rows(writer, i * 97, 97);
}

static void test_kills_leave_whole_files(void **unused)
{
	(void)unused;
	for (useconds_t delay = 5000; delay < 60000; delay += 5000) {
		pid_t pid = fork();
		struct checked checked;

		if (pid == 0)
			append_for_ever();
		usleep(delay);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (exists("killed.pb")) {
			checked = check_file("killed.pb");
			assert_null(checked.problem);
			assert_false(checked.is_torn);
		}
		unlink(in_scratch("killed.pb"));
	}
}

/* A host that closed its standard streams gets none of ours in their place. */
static int child_without_streams(void)
{
	struct writer *writer;
	char link[64], target[PATH_MAX];

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	writer = prepare("streams.pb", false);
	if (append_rows(writer, 0, 1) != 0)
		return 1;
	for (int fd = 0; fd < 64; fd++) {
		int flags = fcntl(fd, F_GETFD);
		ssize_t size;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		size = readlink(link, target, sizeof(target) - 1);
		if (size < 0 || strncmp(target, scratch, strlen(scratch)) != 0)
			continue;
		if (fd < 3 || !(flags & FD_CLOEXEC))
			return 2;
	}
	writer_finish(writer, SECOND_NS);
	writer_free(writer, false);
	return 0;
}

static void test_descriptors_keep_out_of_the_way(void **unused)
{
	(void)unused;
	assert_int_equal(in_child(child_without_streams), 0);
}

/* The child's copy closes nothing: the numbers are somebody else's there. */
static void test_a_forked_copy_leaves_all_alone(void **unused)
{
	struct writer *writer = prepare("parent.pb", false);
	int status;
	pid_t pid;

	(void)unused;
	assert_int_equal(append_rows(writer, 0, 4), 0);
	pid = fork();
	if (pid == 0) {
		int before = open("/dev/null", O_RDONLY);

		close(before);
		writer_free(writer, true);
		_exit(open("/dev/null", O_RDONLY) != before);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(append_rows(writer, 4, 4), 0);
	assert_int_equal(writer_finish(writer, SECOND_NS), 0);
	expect_whole("parent.pb.gz", 8, true);
	writer_free(writer, false);
	writer_free(NULL, false);
}

/* The fallback directory comes from the environment as the process got it: start again with one. */
static void set_environment(char **arguments)
{
	if (getenv("WRITER_TEST") == NULL) {
		if (mkdtemp(scratch) == NULL)
			_exit(1);
		setenv("WRITER_TEST", scratch, 1);
		mkdir(in_scratch("tmp"), 0700);
		setenv("TMPDIR", in_scratch("tmp"), 1);
		execv("/proc/self/exe", arguments);
		_exit(1);
	}
	strcpy(scratch, getenv("WRITER_TEST"));
}

static int start_test(void **unused)
{
	(void)unused;
	return mkdir(in_scratch("tmp"), 0700) == 0 || errno == EEXIST ? 0 : -1;
}

#define WRITER_TEST(test) cmocka_unit_test_setup_teardown(test, start_test, empty_scratch)

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(test_runs_and_ends),
		WRITER_TEST(test_only_so_many_are_kept),
		WRITER_TEST(test_somebody_elses_file_stays),
		WRITER_TEST(test_nothing_appended_leaves_nothing),
		WRITER_TEST(test_too_slow_to_compress),
		WRITER_TEST(test_the_path_is_fixed_early),
		WRITER_TEST(test_finished_files_are_kept),
		WRITER_TEST(test_a_name_taken_late),
		WRITER_TEST(test_links_are_not_followed),
		WRITER_TEST(test_exact_names),
		WRITER_TEST(test_the_second_process_adds_its_pid),
		WRITER_TEST(test_no_directory_falls_back),
		WRITER_TEST(test_no_file_falls_back),
		WRITER_TEST(test_a_foreign_fallback_is_refused),
		WRITER_TEST(test_a_directory_takes_the_default_name),
		WRITER_TEST(test_file_size_limit),
		WRITER_TEST(test_full_disk),
		WRITER_TEST(test_kills_leave_whole_files),
		WRITER_TEST(test_descriptors_keep_out_of_the_way),
		WRITER_TEST(test_a_forked_copy_leaves_all_alone),
	};
	int failed;

	(void)count;
	set_environment(arguments);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_entry(scratch);
	rmdir(scratch);
	return failed;
}
