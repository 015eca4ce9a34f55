/* SPDX-License-Identifier: MIT */
/* report_options.c - reads the options of the report. Threads: one at a time. */
#include "preload/cmd/report/report_options.h"

#include "preload/cmd/say.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FUNCTION_ROWS = 20, DEFAULT_GROUP_ROWS = 40 };

static const struct way {
	const char *name; /* ends in `:` when a key follows */
	enum report_by by;
	enum totals_by parts;
	bool by_line;
} ways[] = {
	{ "group", REPORT_BY_GROUP, TOTALS_BY_NOTHING, false },
	{ "module", REPORT_BY_PART, TOTALS_BY_MODULE, false },
	{ "label:", REPORT_BY_PART, TOTALS_BY_LABEL, false },
	{ "instance", REPORT_BY_INSTANCE, TOTALS_BY_NOTHING, false },
	{ "thread", REPORT_BY_PART, TOTALS_BY_THREAD, false },
	{ "function", REPORT_BY_FUNCTION, TOTALS_BY_NOTHING, false },
	{ "line", REPORT_BY_FUNCTION, TOTALS_BY_NOTHING, true },
};

static bool is_way(const struct way *way, const char *text)
{
	size_t length = strlen(way->name);

	if (way->name[length - 1] != ':')
		return strcmp(way->name, text) == 0;
	return strncmp(way->name, text, length) == 0 && text[length] != '\0';
}

static bool choose_way(struct report_options *options, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!is_way(&ways[i], text))
			continue;
		options->report.by = ways[i].by;
		options->report.by_name = text;
		options->parts = ways[i].parts;
		if (ways[i].parts == TOTALS_BY_LABEL)
			options->label_key = strchr(text, ':') + 1;
		options->report.has_lines |= ways[i].by_line;
		return true;
	}
	say_line("report: --by takes group, module, label:KEY, instance, thread, function or line, "
		 "not %s",
		 text);
	return false;
}

static bool read_rows(struct report_options *options, const char *text)
{
	char *end;

	errno = 0;
	options->report.function_rows = strtoul(text, &end, 10);
	options->report.group_rows = options->report.function_rows;
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
		return true;
	say_line("report: -n takes a number, not %s", text);
	return false;
}

static bool take_option(void *context, int option)
{
	struct report_options *options = context;

	switch (option) {
	case 'j':
		options->is_json = true;
		return true;
	case 'n':
		return read_rows(options, optarg);
	case 'b':
		return choose_way(options, optarg);
	case 'l':
		options->report.has_lines = true;
		return true;
	case 't':
		options->report.has_tree = true;
		return true;
	default:
		options->by_total = true;
		return true;
	}
}

static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is_utf8 =
		locale != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale != (locale_t)0)
		freelocale(locale);
	return is_utf8;
}

static void set_defaults(struct report_options *options)
{
	*options = (struct report_options){
		.reading = { .command = "report" },
		.report = {
			.by_name = "group",
			.function_rows = SIZE_MAX,
			.group_rows = SIZE_MAX,
			.has_colours = report_wants_colours(),
			.has_boxes = locale_is_utf8(),
		},
	};
}

bool report_options_read(struct report_options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "by", required_argument, NULL, 'b' },
		{ "lines", no_argument, NULL, 'l' },
		{ "tree", no_argument, NULL, 't' },
		{ "cum", no_argument, NULL, 'c' },
		{ "rows", required_argument, NULL, 'n' },
		READING_OPTIONS,
		{ 0 },
	};
	static const struct reading_syntax syntax = { "n:", names, take_option };

	set_defaults(options);
	if (!reading_read_options(&options->reading, argc, argv, &syntax, options))
		return false;
	if (!options->is_json && options->report.function_rows == SIZE_MAX) {
		options->report.function_rows = DEFAULT_FUNCTION_ROWS;
		options->report.group_rows = DEFAULT_GROUP_ROWS;
	}
	return true;
}
