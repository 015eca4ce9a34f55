/* SPDX-License-Identifier: MIT */
/* html_sources_test.c - source files in the html page: which, how much of them, never others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/html_sources.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* "" : refused. */
static const struct {
	const char *name, *path;
} paths[] = {
	{ "src/main.rs", "src/main.rs" },
	{ "./src//main.rs", "src/main.rs" },
	{ "/src/main.rs", "src/main.rs" },
	{ "/folder/src/main.rs", "src/main.rs" },
	{ "/folder2/main.rs", "folder2/main.rs" },
	{ "src/../lib/x.rs", "lib/x.rs" },
	{ "/folder/../secret", "" },
	{ "../secret", "" },
	{ "src/../../secret", "" },
	{ "..", "" },
	{ ".", "" },
	{ "/", "" },
	{ "", "" },
	{ "a/..", "" },
	{ "...", "..." },
	{ "..x/y", "..x/y" },
	{ "src/main.rs/", "src/main.rs" },
};

static void names_become_paths_below_the_folder(void **state)
{
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		bool is_path = html_sources_path(paths[i].name, "/folder", path, sizeof(path));

		if (is_path != (paths[i].path[0] != '\0'))
			fail_msg("%s: %d", paths[i].name, is_path);
		if (is_path)
			assert_string_equal(path, paths[i].path);
	}
	assert_false(html_sources_path("seven/is/too/long", "/folder", path, 8));
	assert_true(html_sources_path("seven77", "/folder", path, 9));
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

/* A tree whose functions have the COUNT FILES. */
static void name_files(struct html_tree *tree, const char *const *files, uint32_t count)
{
	*tree = (struct html_tree){ 0 };
	names_id(&tree->texts, "");
	tree->functions = calloc(count, sizeof(*tree->functions));
	for (uint32_t i = 0; i < count; i++)
		tree->functions[tree->function_count++].file = names_id(&tree->texts, files[i]);
}

static int make_folder(void **state)
{
	static char big[HTML_SOURCES_FILE_MAX + 1];

	if (scratch_enter(state) != 0)
		return -1;
	memset(big, 'x', sizeof(big));
	mkdir("folder", 0700);
	mkdir("folder/src", 0700);
	write_file("secret", "secret\n", 7);
	write_file("folder/src/main.rs", "fn main() {\n}\n", 14);
	write_file("folder/binary", "a\0b", 3);
	write_file("folder/big", big, sizeof(big));
	write_file("folder/full", big, sizeof(big) - 1);
	return symlink("../secret", "folder/link") | symlink("..", "folder/up") |
	       symlink("src/main.rs", "folder/inside") | mkfifo("folder/pipe", 0600);
}

static void takes_only_what_is_in_the_folder(void **state)
{
	static const char *const files[] = { "src/main.rs",   "../secret", "link",  "up/secret",
					     "binary",	      "big",	   "pipe",  "src",
					     "not/there",     "inside",	   "full",  "src/main.rs",
					     "/proc/version", "",	   "folder" };
	struct html_sources sources = { 0 };
	struct html_tree tree;

	(void)state;
	name_files(&tree, files, ARRAY_SIZE(files));
	assert_int_equal(html_sources_read(&sources, "folder", &tree), 0);
	assert_int_equal(sources.named, 13);
	assert_int_equal(sources.count, 3);
	assert_string_equal(tree.texts.texts[sources.list[0].file], "src/main.rs");
	assert_string_equal(sources.list[0].content, "fn main() {\n}\n");
	assert_string_equal(tree.texts.texts[sources.list[1].file], "inside");
	assert_string_equal(tree.texts.texts[sources.list[2].file], "full");
	html_sources_free(&sources);
	html_tree_free(&tree);
}

/* What older kernels get: nothing through a link, whether it stays inside or not. */
static void walks_where_openat2_is_missing(void **state)
{
	static const char *const refused[] = { "../secret", "src/../../secret", "..",  "",
					       "/secret",   "src//main.rs",	"src/" };
	int folder = open("folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[4] = "", name[NAME_MAX + 2] = "";
	int fd, spare;

	(void)state;
	assert_true(folder >= 0);
	spare = dup(folder);
	fd = html_sources_walk(folder, "src/main.rs");
	assert_int_equal(read(fd, text, 2), 2);
	assert_string_equal(text, "fn");
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(html_sources_walk(folder, refused[i]), -EXDEV);
	assert_int_equal(html_sources_walk(folder, memset(name, 'x', NAME_MAX + 1)), -EXDEV);
	assert_int_equal(html_sources_walk(folder, "link"), -ELOOP);
	assert_int_equal(html_sources_walk(folder, "inside"), -ELOOP);
	assert_int_equal(html_sources_walk(folder, "up/secret"), -ENOTDIR);
	assert_int_equal(html_sources_walk(folder, "big/x"), -ENOTDIR);
	assert_int_equal(html_sources_walk(folder, "src/none"), -ENOENT);
	/* Nothing stayed open: the next descriptor is the one after SPARE, as it was. */
	fd = dup(folder);
	assert_int_equal(fd, spare + 1);
	close(fd);
	close(spare);
	close(folder);
}

static void takes_paths_that_begin_with_the_folder(void **state)
{
	char *absolute = realpath("folder/src/main.rs", NULL);
	struct html_sources sources = { 0 };
	struct html_tree tree;

	(void)state;
	name_files(&tree, (const char *const[]){ absolute }, 1);
	assert_int_equal(html_sources_read(&sources, "./folder/", &tree), 0);
	assert_int_equal(sources.count, 1);
	html_sources_free(&sources);
	html_tree_free(&tree);
	free(absolute);
}

/* 17 files of the largest size: the sum is bounded too. */
static void bounds_the_sum(void **state)
{
	struct html_sources sources = { 0 };
	const char *files[17];
	char names[17][32];
	struct html_tree tree;

	(void)state;
	for (int i = 0; i < 17; i++) {
		snprintf(names[i], sizeof(names[i]), "copy%d", i);
		files[i] = names[i];
		assert_int_equal(link("folder/full", "folder/copy"), 0);
		assert_int_equal(chdir("folder"), 0);
		assert_int_equal(rename("copy", names[i]), 0);
		assert_int_equal(chdir(".."), 0);
	}
	name_files(&tree, files, 17);
	assert_int_equal(html_sources_read(&sources, "folder", &tree), 0);
	assert_int_equal(sources.count, 16);
	assert_int_equal(sources.size, HTML_SOURCES_ALL_MAX);
	html_sources_free(&sources);
	html_tree_free(&tree);
}

static void says_that_there_is_no_folder(void **state)
{
	struct html_sources sources = { 0 };
	struct html_tree tree;

	(void)state;
	name_files(&tree, (const char *const[]){ "x" }, 1);
	assert_int_equal(html_sources_read(&sources, "nowhere", &tree), -ENOENT);
	assert_int_equal(html_sources_read(&sources, "secret", &tree), -ENOTDIR);
	html_sources_free(&sources);
	html_tree_free(&tree);
}

/* Tabs to the next eighth column; what hides or reorders text is shown by number. */
static void writes_lines_as_they_are_to_be_seen(void **state)
{
	char content[] = "a\tb\r\n\n\"</script>\\\n\342\200\256x";
	struct html_source one = { 3, content };
	struct html_sources sources = { .list = &one, .count = 1 };
	struct json json = { .output = output_open("sources.json", false), .is_in_html = true };
	char *text;

	(void)state;
	json_begin_object(&json, NULL);
	html_sources_write(&sources, &json);
	json_end_object(&json);
	assert_false(json.failed);
	assert_int_equal(output_close(json.output, true), 0);
	text = slurp("sources.json");
	assert_string_equal(text, "{\"sources\":[{\"file\":3,\"lines\":[\"a       b\",\"\","
				  "\"\\\"\\u003c/script>\\\\\",\"\\\\u{202e}x\"]}]}");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_paths_below_the_folder),
		cmocka_unit_test(takes_only_what_is_in_the_folder),
		cmocka_unit_test(walks_where_openat2_is_missing),
		cmocka_unit_test(takes_paths_that_begin_with_the_folder),
		cmocka_unit_test(bounds_the_sum),
		cmocka_unit_test(says_that_there_is_no_folder),
		cmocka_unit_test(writes_lines_as_they_are_to_be_seen),
	};

	return cmocka_run_group_tests(tests, make_folder, scratch_leave);
}
