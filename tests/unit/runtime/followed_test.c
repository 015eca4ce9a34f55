/* SPDX-License-Identifier: MIT */
/*
 * followed_test.c - perf maps and jitdumps, as a host writes them and as nobody should: what is
 * told of functions is noted here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/clock.h"
#include "preload/load/jitspace.h"
#include "preload/runtime/followed.h"
#include "preload/runtime/jitdump.h"
#include "preload/runtime/perf_map.h"

static struct {
	unsigned int added, moved;
	struct jit_function last;
	char name[64];
} told;

bool jitspace_add(const struct jit_function *function)
{
	size_t length = function->name_length < sizeof(told.name) - 1 ? function->name_length
								      : sizeof(told.name) - 1;

	told.added++;
	told.last = *function;
	memcpy(told.name, function->name, length);
	told.name[length] = '\0';
	return true;
}

void jitspace_move(uintptr_t start, uintptr_t to, size_t size)
{
	assert_int_equal(start, 0x7000);
	assert_int_equal(to, 0x9000);
	assert_int_equal(size, 4);
	told.moved++;
}

void jitspace_look_again(uint64_t now_ns)
{
	(void)now_ns;
}

static char folder[] = "/tmp/followed-XXXXXX";
static char path[128];

static const char *own_path(const char *before, const char *behind)
{
	snprintf(path, sizeof(path), "%s/%s%d%s", folder, before, (int)getpid(), behind);
	return path;
}

static int begin(void **state)
{
	(void)state;
	memset(&told, 0, sizeof(told));
	followed_fork_child(); /* forgets all */
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void append(int descriptor, const char *text)
{
	assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
	followed_work();
}

static int open_map(void)
{
	int descriptor;

	own_path("perf-", ".map");
	descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_true(descriptor >= 0);
	followed_opened(&runtime_perf_map, path, descriptor);
	followed_work();
	return descriptor;
}

static void names(void **state)
{
	char text[64];

	(void)state;
	assert_true(followed_is_called(&runtime_perf_map, own_path("perf-", ".map")));
	assert_true(followed_is_called(&runtime_jitdump, own_path("jit-", ".dump")));
	assert_false(followed_is_called(&runtime_jitdump, own_path("jit-", ".map")));
	assert_false(followed_is_called(&runtime_perf_map, own_path("perf-", ".map2")));
	assert_false(followed_is_called(&runtime_perf_map, own_path("xperf-", ".map")));
	assert_false(followed_is_called(&runtime_perf_map, own_path("perf-1", ".map")));
	assert_false(followed_is_called(&runtime_perf_map, own_path("perf-0", ".map")));
	assert_false(followed_is_called(&runtime_perf_map, "/tmp/perf-1.map"));
	assert_false(followed_is_called(&runtime_perf_map, "/tmp/perf-.map"));
	assert_false(followed_is_called(&runtime_perf_map, "perf-99999999999999999999.map"));
	assert_false(followed_is_called(&runtime_perf_map, ""));
	assert_false(followed_is_called(&runtime_perf_map, NULL));
	snprintf(text, sizeof(text), "perf-%d.map", (int)getpid());
	assert_true(followed_is_called(&runtime_perf_map, text));
}

static void a_map_grows(void **state)
{
	int descriptor = open_map();

	(void)state;
	append(descriptor, "7f0000001000 40 one\n7f00000020");
	assert_int_equal(told.added, 1);
	assert_string_equal(told.name, "one");
	assert_int_equal(told.last.start, 0x7f0000001000);
	assert_int_equal(told.last.size, 0x40);
	append(descriptor, "00 10 two (a, b)");
	assert_int_equal(told.added, 1);
	append(descriptor, "\nnonsense\n\n");
	assert_int_equal(told.added, 2);
	assert_string_equal(told.name, "two (a, b)");
	assert_int_equal(told.last.start, 0x7f0000002000);
	followed_work();
	assert_int_equal(told.added, 2);
	close(descriptor);
}

/* JVMs write the whole map anew each time they are asked to. */
static void a_map_begins_anew(void **state)
{
	int descriptor = open_map();

	(void)state;
	append(descriptor, "1000 40 one\n2000 40 two\n");
	assert_int_equal(told.added, 2);
	/* shorter */
	close(descriptor);
	descriptor = open_map();
	append(descriptor, "3000 40 three\n");
	assert_int_equal(told.added, 3);
	assert_string_equal(told.name, "three");
	/* longer than before, by the time we look */
	assert_int_equal(ftruncate(descriptor, 0), 0);
	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	append(descriptor, "4000 40 four\n5000 40 five\n");
	assert_int_equal(told.added, 5);
	assert_string_equal(told.name, "five");
	/* another file of that name */
	close(descriptor);
	unlink(path);
	descriptor = open_map();
	append(descriptor, "6000 40 six\n");
	assert_int_equal(told.added, 6);
	close(descriptor);
}

static void endless_lines_are_passed_over(void **state)
{
	int descriptor = open_map();
	char *text = malloc(3 * FOLLOWED_WINDOW);

	(void)state;
	memset(text, 'x', 3 * FOLLOWED_WINDOW);
	assert_int_equal(write(descriptor, text, 3 * FOLLOWED_WINDOW), 3 * FOLLOWED_WINDOW);
	append(descriptor, "\n1000 40 behind\n");
	assert_int_equal(told.added, 1);
	assert_string_equal(told.name, "behind");
	free(text);
	close(descriptor);
}

/* In a folder that anybody writes to the file may be exchanged between the host's open and ours. */
static void other_files_are_not_read(void **state)
{
	char target[sizeof(path) + 8];
	int descriptor;

	(void)state;
	own_path("perf-", ".map");
	snprintf(target, sizeof(target), "%s.real", path);
	descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	followed_opened(&runtime_perf_map, path, descriptor);
	/* a link to the very file, a fifo, another file, none */
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	append(descriptor, "1000 40 one\n");
	assert_int_equal(told.added, 0);
	begin(NULL);
	followed_opened(&runtime_perf_map, path, descriptor);
	unlink(path);
	unlink(target);
	assert_int_equal(mkfifo(path, 0600), 0);
	followed_work();
	begin(NULL);
	followed_opened(&runtime_perf_map, path, descriptor);
	unlink(path);
	close(open(path, O_CREAT | O_RDWR, 0600));
	append(descriptor, "1000 40 one\n");
	assert_int_equal(told.added, 0);
	begin(NULL);
	followed_opened(&runtime_perf_map, path, descriptor);
	unlink(path);
	append(descriptor, "1000 40 one\n");
	assert_int_equal(told.added, 0);
	close(descriptor);
}

static void others_files_are_not_read(void **state)
{
	int descriptor;

	(void)state;
	if (geteuid() != 0)
		skip();
	own_path("perf-", ".map");
	descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
	assert_int_equal(fchown(descriptor, 12345, 12345), 0);
	followed_opened(&runtime_perf_map, path, descriptor);
	append(descriptor, "1000 40 one\n");
	assert_int_equal(told.added, 0);
	close(descriptor);
}

/* ---- jitdump --------------------------------------------------------------------------------- */

static void put(int descriptor, uint64_t value, size_t width)
{
	assert_int_equal(write(descriptor, &value, width), width);
}

static void put_load(int descriptor, const char *name, uint64_t time, size_t code_size)
{
	uint8_t *code = calloc(1, code_size);

	put(descriptor, 0, 4), put(descriptor, 16 + 40 + strlen(name) + 1 + code_size, 4);
	put(descriptor, time, 8), put(descriptor, 1, 4), put(descriptor, 2, 4);
	put(descriptor, 0x7000, 8), put(descriptor, 0x7000, 8), put(descriptor, code_size, 8);
	put(descriptor, 3, 8);
	assert_int_equal(write(descriptor, name, strlen(name) + 1), strlen(name) + 1);
	assert_int_equal(write(descriptor, code, code_size), code_size);
	free(code);
}

static int open_dump(uint64_t flags)
{
	int descriptor;

	own_path("jit-", ".dump");
	descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_true(descriptor >= 0);
	followed_opened(&runtime_jitdump, path, descriptor);
	followed_work();
	put(descriptor, 0x4a695444, 4), put(descriptor, 1, 4), put(descriptor, 40, 4);
	put(descriptor, 62, 4), put(descriptor, 0, 4), put(descriptor, getpid(), 4);
	put(descriptor, 1, 8), put(descriptor, flags, 8);
	followed_work();
	return descriptor;
}

static void a_dump_grows(void **state)
{
	int descriptor = open_dump(0);

	(void)state;
	assert_int_equal(told.added, 0);
	put_load(descriptor, "evalexpr_0_1", 77, 4);
	followed_work();
	assert_int_equal(told.added, 1);
	assert_string_equal(told.name, "evalexpr_0_1");
	assert_int_equal(told.last.start, 0x7000);
	assert_int_equal(told.last.size, 4);
	assert_int_equal(told.last.time_ns, 77);
	/* code of more than a window, and many records of some */
	put_load(descriptor, "large", 78, 5 * FOLLOWED_WINDOW / 2);
	for (int i = 0; i < 300; i++)
		put_load(descriptor, "one of many", 79, 1000);
	followed_work();
	assert_int_equal(told.added, 302);
	put(descriptor, 1, 4), put(descriptor, 64, 4), put(descriptor, 80, 8);
	put(descriptor, 1, 4), put(descriptor, 2, 4), put(descriptor, 0x9000, 8);
	put(descriptor, 0x7000, 8), put(descriptor, 0x9000, 8), put(descriptor, 4, 8);
	followed_work();
	assert_int_equal(told.moved, 0);
	put(descriptor, 3, 8);
	followed_work();
	assert_int_equal(told.moved, 1);
	close(descriptor);
}

static void a_dumps_times(void **state)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	int descriptor = open_dump(1);

	(void)state;
	put_load(descriptor, "by the processor's counter", 5, 4);
	followed_work();
	assert_true(told.last.time_ns >= before);
	close(descriptor);
	unlink(path);
	descriptor = open_dump(0);
	put_load(descriptor, "of the future", UINT64_MAX - 1, 4);
	followed_work();
	assert_true(told.last.time_ns >= before && told.last.time_ns < UINT64_MAX - 1);
	close(descriptor);
}

static void a_damaged_dump_is_given_up(void **state)
{
	int descriptor = open_dump(0);

	(void)state;
	put_load(descriptor, "good", 1, 4);
	put(descriptor, 0, 4), put(descriptor, 3, 4), put(descriptor, 1, 8);
	put_load(descriptor, "behind", 1, 4);
	followed_work();
	followed_work();
	assert_int_equal(told.added, 1);
	assert_string_equal(told.name, "good");
	close(descriptor);
	unlink(path);
	/* no dump at all */
	descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	followed_opened(&runtime_jitdump, path, descriptor);
	append(descriptor, "this is a text and not a dump, of more than forty bytes");
	assert_int_equal(told.added, 1);
	close(descriptor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, begin, end),
		cmocka_unit_test_setup_teardown(a_map_grows, begin, end),
		cmocka_unit_test_setup_teardown(a_map_begins_anew, begin, end),
		cmocka_unit_test_setup_teardown(endless_lines_are_passed_over, begin, end),
		cmocka_unit_test_setup_teardown(other_files_are_not_read, begin, end),
		cmocka_unit_test_setup_teardown(others_files_are_not_read, begin, end),
		cmocka_unit_test_setup_teardown(a_dump_grows, begin, end),
		cmocka_unit_test_setup_teardown(a_dumps_times, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_dump_is_given_up, begin, end),
	};
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
