/* SPDX-License-Identifier: MIT */
/*
 * cache_test.c - entries of the cache: found, damaged, too many, and folders that are not ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/base/config.h"
#include "preload/load/cache.h"
#include "symtab/symtab.h"

enum { SIZE = 300 << 10 };

static char folder[64], cache[80];
static uint8_t wasm[SIZE];

/* A module with one big custom section: NUMBER tells it from others. */
static void make_wasm(uint32_t number)
{
	static const uint8_t start[] = {
		0, 'a', 's', 'm', 1, 0, 0, 0, 0, 0xff, 0xff, 0x11, 1, 'x'
	};

	memset(wasm, 0, sizeof(wasm));
	memcpy(wasm, start, sizeof(start));
	memcpy(wasm + 100, &number, sizeof(number));
}

static void complain(void *context, const char *line)
{
	(void)context;
	fail_msg("%s", line);
}

static void configure(const char *value)
{
	static struct config configs[32]; /* their texts are never freed */
	static size_t count;
	struct config *config = &configs[count++];
	char text[200];
	char *environment[] = { text, NULL };

	snprintf(text, sizeof(text), "GUESTPROF_CACHE=%s", value);
	config_read(config, environment, complain, NULL);
	config_set_current(config);
}

/* Parses binary NUMBER as our thread does; whether it was not in the cache. */
static bool parse(uint32_t number)
{
	struct wasmbin *bin;
	bool is_new;

	make_wasm(number);
	bin = cache_parse(wasm, sizeof(wasm), &is_new);
	assert_non_null(bin);
	if (is_new)
		cache_keep(bin);
	wasmbin_unref(bin);
	return is_new;
}

/* Number of files in the cache, the last one's path in LAST. */
static int count_files(char last[400])
{
	DIR *stream = opendir(cache);
	struct dirent *item;
	int count = 0;

	while (stream != NULL && (item = readdir(stream)) != NULL) {
		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
			continue;
		count++;
		snprintf(last, 400, "%s/%s", cache, item->d_name);
	}
	if (stream != NULL)
		closedir(stream);
	return count;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/guestprof-cache-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	configure(cache);
	return 0;
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void is_found_again(void **state)
{
	struct stat status;
	char path[400];

	(void)state;
	assert_true(parse(1));
	assert_false(parse(1));
	assert_true(parse(2));
	assert_false(parse(1));
	assert_int_equal(count_files(path), 2);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(stat(cache, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
}

static void small_and_unasked_are_not_kept(void **state)
{
	char path[400];
	bool is_new;
	struct wasmbin *bin;

	(void)state;
	make_wasm(1);
	bin = cache_parse(wasm, 1000, &is_new);
	assert_false(is_new);
	wasmbin_unref(bin);
	configure("");
	assert_false(parse(1));
	assert_int_equal(count_files(path), 0);
}

static void a_damaged_entry_is_made_anew(void **state)
{
	char path[400];
	int fd;

	(void)state;
	assert_true(parse(1));
	assert_int_equal(count_files(path), 1);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "damage", 6, 70), 6);
	close(fd);
	assert_true(parse(1));
	assert_false(parse(1));
	assert_int_equal(truncate(path, 50), 0);
	assert_true(parse(1));
	assert_int_equal(truncate(path, 0), 0);
	assert_true(parse(1));
	assert_false(parse(1));
}

static void the_least_used_go(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[400], limited[100];

	(void)state;
	assert_true(parse(1));
	assert_int_equal(count_files(path), 1);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_true(parse(2));
	assert_false(parse(1)); /* used now: the other is older */
	snprintf(limited, sizeof(limited), "%s,1k", cache);
	configure(limited);
	for (uint32_t i = 3; i < 20; i++)
		parse(i);
	assert_in_range(count_files(path), 1, 8);
	assert_false(parse(19));
	configure(cache);
	assert_true(parse(2));
}

static void what_killed_processes_left_goes(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[400];

	(void)state;
	assert_true(parse(1));
	snprintf(path, sizeof(path), "%s/.%064d.123", cache, 0);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_true(parse(2));
	assert_int_equal(count_files(path), 3); /* it may be at work */
	snprintf(path, sizeof(path), "%s/.%064d.123", cache, 0);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_true(parse(3));
	assert_int_equal(count_files(path), 3);
}

static void folders_of_others_are_not_used(void **state)
{
	char other[120], path[400];

	(void)state;
	assert_int_equal(mkdir(cache, 0700), 0);
	assert_int_equal(chmod(cache, 0777), 0);
	assert_false(parse(1));
	assert_int_equal(count_files(path), 0);
	assert_int_equal(chmod(cache, 0700), 0);
	snprintf(other, sizeof(other), "%s/link", folder);
	assert_int_equal(symlink(cache, other), 0);
	configure(other);
	assert_false(parse(1));
	assert_int_equal(count_files(path), 0);
	configure("/no/such/folder/anywhere");
	assert_false(parse(1));
}

/* An entry that leads elsewhere is not followed, neither to read nor to write. */
static void links_are_not_followed(void **state)
{
	char path[400], target[100];

	(void)state;
	assert_true(parse(1));
	assert_int_equal(count_files(path), 1);
	snprintf(target, sizeof(target), "%s/target", folder);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_true(parse(1));
	assert_false(parse(1));
	assert_int_equal(unlink(target), 0);
	assert_false(parse(1)); /* the link was replaced */
}

static void processes_share_it(void **state)
{
	char path[400];
	int status;

	(void)state;
	for (int child = 0; child < 4; child++) {
		if (fork() != 0)
			continue;
		for (uint32_t i = 0; i < 200; i++)
			parse(i % 10);
		_exit(0);
	}
	for (int child = 0; child < 4; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (uint32_t i = 0; i < 10; i++)
		assert_false(parse(i));
	assert_int_equal(count_files(path), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_found_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(small_and_unasked_are_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_entry_is_made_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_least_used_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_killed_processes_left_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(folders_of_others_are_not_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_are_not_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_share_it, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
