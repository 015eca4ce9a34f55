/* SPDX-License-Identifier: MIT */
/* labels_test.c - names and labels that the user gives, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/profile/label_rules.h"

/* A module is what these three answer. */
struct module {
	const char *name, *path;
	struct identity identity;
};

const char *module_name(const struct module *module)
{
	return module->name;
}

const char *module_path(const struct module *module)
{
	return module->path;
}

const struct identity *module_identity_all(const struct module *module)
{
	return &module->identity;
}

static char log_name[] = "/tmp/guestprof-labels-XXXXXX";

/* The lines logged since the last call; the caller frees them. */
static char *logged(void)
{
	char *text = calloc(1, 8192);
	FILE *file = fopen(log_name, "r");

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, 8191, file) < 8191);
	fclose(file);
	assert_int_equal(truncate(log_name, 0), 0);
	return text;
}

static void expect_logged(const char *part)
{
	char *text = logged();

	if (part == NULL ? *text != '\0' : strstr(text, part) == NULL)
		fail_msg("logged: %s; expected: %s", text, part != NULL ? part : "nothing");
	free(text);
}

static int set_up(void **state)
{
	int fd = mkstemp(log_name);

	(void)state;
	close(fd);
	log_configure(LOG_INFO, log_name);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(log_name);
}

/* ---- rules ------------------------------------------------------------------------------------
 */

static void reads_rules(void **state)
{
	struct label_rules rules;

	(void)state;
	label_rules_read(&rules, "tenant=path:/t/([^/]+)/;tier=name:^gold|free$;odd=name:a\\;b");
	expect_logged(NULL);
	assert_int_equal(rules.count, 3);
	assert_string_equal(rules.rows[0].key, "tenant");
	assert_false(rules.rows[0].is_of_name);
	assert_true(rules.rows[1].is_of_name);
	assert_int_equal(regexec(&rules.rows[2].regex, "a;b", 0, NULL, 0), 0);
	label_rules_free(&rules);
	label_rules_read(&rules, NULL);
	assert_int_equal(rules.count, 0);
	label_rules_read(&rules, ";;");
	expect_logged(NULL);
	assert_int_equal(rules.count, 0);
}

static void leaves_bad_rules_out(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "nothing", "no good key" },
		{ "=path:x", "no good key" },
		{ "a b=path:x", "no good key" },
		{ "time=path:x", "no good key" },
		{ "wasm_module=name:x", "no good key" },
		{ "a=file:x", "neither path: nor name:" },
		{ "a=path:", "no good regular expression" },
		{ "a=path:(", "no good regular expression" },
	};
	char *text = calloc(1, 4000);
	struct label_rules rules;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char both[64];

		snprintf(both, sizeof(both), "%s;good=path:x", cases[i].text);
		label_rules_read(&rules, both);
		expect_logged(cases[i].why);
		assert_int_equal(rules.count, 1);
		label_rules_free(&rules);
	}
	memset(text, 'x', 3000);
	label_rules_read(&rules, text);
	expect_logged("it is too long");
	for (i = 0, *text = '\0'; i < LABEL_RULES_MAX + 1; i++)
		strcat(text, "k=path:x;");
	label_rules_read(&rules, text);
	expect_logged("there are too many");
	assert_int_equal(rules.count, LABEL_RULES_MAX);
	label_rules_free(&rules);
	free(text);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static void read_lines(struct namelist *lines, const char *text, size_t size)
{
	char name[] = "/tmp/guestprof-names-XXXXXX";
	int fd = mkstemp(name);

	assert_int_equal(write(fd, text, size), size);
	close(fd);
	label_lines_read(lines, name);
	unlink(name);
}

static const struct identity app = { .wasm = "0123456789abcdef", .build_id = "feedbeef55" };

static void reads_a_names_file(void **state)
{
	static const char text[] =
		"# comment\n\n"
		"01234567 app tenant=acme \"owner=Jane Doe\"\t x=\"a b\" # more\n"
		"FEEDBEEF -  tenant=other\r\n"
		"ffffffffffff \"two words\"";
	const struct namelist_row *line;
	struct namelist lines;

	(void)state;
	read_lines(&lines, text, strlen(text));
	expect_logged(NULL);
	assert_int_equal(lines.count, 3);
	line = namelist_find(&lines, &app);
	assert_non_null(line);
	assert_string_equal(line->name, "app");
	assert_int_equal(line->label_count, 3);
	assert_string_equal(line->labels[1].key, "owner");
	assert_string_equal(line->labels[1].value, "Jane Doe");
	assert_string_equal(line->labels[2].value, "a b");
	assert_string_equal(lines.rows[1].identity, "feedbeef");
	assert_null(lines.rows[1].name);
	assert_string_equal(lines.rows[2].name, "two words");
	assert_null(namelist_find(&lines, &(struct identity){ .wasm = "1234567" }));
	namelist_free(&lines);
}

static void leaves_bad_lines_out(void **state)
{
	static const char text[] = "0123456 short\n"
				   "0123456g digits\n"
				   "01234567\n"
				   "01234567 app nothing\n"
				   "01234567 app time=now\n"
				   "\0\xff\n"
				   "01234567 good a=b\n";
	struct namelist lines;
	char *long_text = malloc(5 << 20);

	(void)state;
	read_lines(&lines, text, sizeof(text) - 1);
	expect_logged(":1: not understood");
	assert_int_equal(lines.count, 1);
	assert_string_equal(lines.rows[0].name, "good");
	namelist_free(&lines);
	memset(long_text, 'a', 5 << 20);
	read_lines(&lines, long_text, 1 << 20);
	expect_logged(":1: not understood");
	assert_int_equal(lines.count, 0);
	read_lines(&lines, long_text, 5 << 20);
	expect_logged("File too large");
	label_lines_read(&lines, "/nowhere/names");
	expect_logged("No such file");
	label_lines_read(&lines, "/tmp");
	expect_logged("Is a directory");
	assert_int_equal(lines.count, 0);
	free(long_text);
}

/* ---- both -------------------------------------------------------------------------------------
 */

static const char *value_of(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->rows[i].key, key) == 0)
			return labels->rows[i].value;
	return NULL;
}

static void labels_modules(void **state)
{
	struct module acme = { .name = "resize", .path = "/t/acme/resize.cwasm", .identity = app };
	struct module plain = { .name = "gold-fish", .path = "" };
	char name[] = "/tmp/guestprof-names-XXXXXX";
	struct config config = { .label =
					 "tenant=path:/t/([^/]+)/;tenant=name:fish;tier=name:^gold",
				 .names = name };
	struct labels labels;
	int fd = mkstemp(name);

	(void)state;
	assert_int_equal(write(fd, "feedbeef thumbs tier=silver\n", 28), 28);
	close(fd);
	labels_of(&(struct config){ .label = NULL }, &acme, &labels);
	assert_int_equal(labels.count, 0);
	labels_of(&config, &acme, &labels);
	assert_string_equal(labels.name, "thumbs");
	assert_int_equal(labels.count, 2);
	assert_string_equal(labels.rows[0].key, "tenant");
	assert_string_equal(labels.rows[0].value, "acme");
	assert_string_equal(value_of(&labels, "tier"), "silver");
	unlink(name); /* it was read */
	labels_of(&config, &plain, &labels);
	assert_null(labels.name);
	assert_string_equal(value_of(&labels, "tenant"), "fish");
	assert_string_equal(value_of(&labels, "tier"), "gold");
	expect_logged(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_rules),	      cmocka_unit_test(leaves_bad_rules_out),
		cmocka_unit_test(reads_a_names_file), cmocka_unit_test(leaves_bad_lines_out),
		cmocka_unit_test(labels_modules),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
