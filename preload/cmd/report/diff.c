/* SPDX-License-Identifier: MIT */
/* diff.c - `guestprof diff`: what changed between two recordings, and what is only noise. */
#include "preload/cmd/report/diff.h"

#include "preload/cmd/command.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/report/report.h"
#include "preload/cmd/say.h"
#include "preload/cmd/writing.h"
#include "preload/export/folded.h"
#include "preload/export/html.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_ROWS = 20 };

struct options {
	const struct form *form; /* NULL: text */
	const char *out, *sources;
	double fail_above; /* percentage points; below 0: never */
	size_t rows;
	bool has_rows;
	struct reading_options reading;
};

static int write_folded(const struct diff *diff, const struct options *options,
			struct output *output)
{
	(void)options;
	return folded_write_change(diff->before, diff->after, output);
}

static int write_html(const struct diff *diff, const struct options *options, struct output *output)
{
	struct html_options page = { .sources = options->sources };
	int error = html_write_change(diff->before, diff->after, &page, output);

	if (error == 0)
		writing_tell_sources(&page);
	return error;
}

static int write_json(const struct diff *diff, const struct options *options, struct output *output)
{
	(void)options;
	return diff_json(diff, output);
}

static const struct form {
	const char *name;
	int (*write)(const struct diff *diff, const struct options *options, struct output *output);
} forms[] = {
	{ "json", write_json },
	{ "folded", write_folded },
	{ "html", write_html },
};

/* ---- options --------------------------------------------------------------------------------- */

static bool choose_form(struct options *options, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (strcmp(forms[i].name, name) == 0) {
			options->form = &forms[i];
			return true;
		}
	}
	say_line("diff: --to takes json, folded or html, not %s", name);
	return false;
}

static bool read_percent(struct options *options, const char *text)
{
	char *end;

	options->fail_above = strtod(text, &end);
	if (*end == '%')
		end++;
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && options->fail_above <= 100)
		return true;
	say_line("diff: --fail-above takes percentage points from 0 to 100, not %s", text);
	return false;
}

static bool read_rows(struct options *options, const char *text)
{
	char *end;

	errno = 0;
	options->has_rows = true;
	options->rows = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
		return true;
	say_line("diff: -n takes a number, not %s", text);
	return false;
}

static bool take_option(void *context, int option)
{
	struct options *options = context;

	switch (option) {
	case 'j':
		return choose_form(options, "json");
	case 't':
		return choose_form(options, optarg);
	case 'o':
		options->out = optarg;
		return true;
	case 's':
		options->sources = optarg;
		return true;
	case 'f':
		return read_percent(options, optarg);
	default:
		return read_rows(options, optarg);
	}
}

static const struct option names[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "to", required_argument, NULL, 't' },
	{ "output", required_argument, NULL, 'o' },
	{ "sources", required_argument, NULL, 's' },
	{ "fail-above", required_argument, NULL, 'f' },
	{ "rows", required_argument, NULL, 'n' },
	READING_OPTIONS,
	{ 0 },
};
static const struct reading_syntax syntax = { "t:o:n:", names, take_option };

/* False after having said what is wrong. */
static bool read_options(struct options *options, int argc, char **argv)
{
	if (!reading_read_options(&options->reading, argc, argv, &syntax, options))
		return false;
	if (options->sources != NULL &&
	    (options->form == NULL || options->form->write != write_html))
		say_line("diff: --sources goes with --to html");
	else if (argc - optind != 2)
		say_line("diff: two recordings: guestprof diff BEFORE AFTER");
	else if (options->out != NULL && options->form == NULL)
		say_line("diff: -o goes with --json or --to folded|html");
	else
		return true;
	return false;
}

/* ---- the diff -------------------------------------------------------------------------------- */

static int compare(struct diff *diff)
{
	int error = diff_match(diff->before, diff->after, &diff->match);

	if (error != 0)
		return error;
	diff->before_totals = totals_of(diff->before);
	diff->after_totals = totals_of(diff->after);
	if (diff->before_totals == NULL || diff->after_totals == NULL)
		return -ENOMEM;
	return diff_rows_make(&diff->rows, diff->before_totals, diff->after_totals);
}

struct writing {
	const struct diff *diff;
	const struct options *options;
};

static int write_writing(const void *context, struct output *output)
{
	const struct writing *writing = context;

	return writing->options->form->write(writing->diff, writing->options, output);
}

static int write_form(const struct diff *diff, const struct options *options)
{
	const struct writing writing = { diff, options };
	const char *name = options->out != NULL ? options->out : "-";
	size_t length = strlen(name);
	bool compress = length > 3 && strcmp(name + length - 3, ".gz") == 0;

	return writing_file(name, compress, write_writing, &writing);
}

static int show(const struct diff *diff, const struct options *options)
{
	if (options->form != NULL)
		return write_form(diff, options);
	diff_text(diff, stdout);
	return fflush(stdout) == 0 ? 0 : -errno;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static bool says_grown(const struct diff_list *list, double points)
{
	bool has_grown = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct diff_row *row = &list->rows[i];

		if (!diff_has_changed(row) || (double)row->change_ppm / 10000 <= points)
			continue;
		say_line("diff: %s%s%s grew from %.1f %% to %.1f %%, by more than %g points",
			 row->module, row->name != NULL ? " " : "",
			 row->name != NULL ? row->name : "", (double)row->before.share_ppm / 10000,
			 (double)row->after.share_ppm / 10000, points);
		has_grown = true;
	}
	return has_grown;
}

static int status_of(const struct diff *diff, const struct options *options)
{
	bool has_grown;

	if (options->fail_above < 0)
		return COMMAND_OK;
	has_grown = says_grown(&diff->rows.groups, options->fail_above);
	has_grown |= says_grown(&diff->rows.functions, options->fail_above);
	return has_grown ? COMMAND_FOUND : COMMAND_OK;
}

static bool has_samples(const struct totals *totals, const struct recording *recording)
{
	if (totals->weight.samples != 0)
		return true;
	say_line("diff: %s: no samples in it", recording->path);
	return false;
}

static int diff_recordings(struct diff *diff, const struct options *options)
{
	int error, status = COMMAND_NO_SAMPLES;

	progress_begin("comparing", 0);
	error = compare(diff);
	progress_end();
	if (error == 0 && has_samples(diff->before_totals, diff->before) &&
	    has_samples(diff->after_totals, diff->after)) {
		error = show(diff, options);
		status = status_of(diff, options);
	}
	if (error != 0)
		say_line("diff: %s", strerror(-error));
	totals_free(diff->before_totals);
	totals_free(diff->after_totals);
	diff_match_free(&diff->match);
	diff_rows_free(&diff->rows);
	return error != 0 ? COMMAND_BAD : status;
}

int diff_command(int argc, char **argv)
{
	struct options options = { .fail_above = -1, .reading = { .command = "diff" } };
	struct diff diff = { .has_colours = report_wants_colours() };
	int status = COMMAND_BAD;

	if (read_options(&options, argc, argv)) {
		diff.row_count = options.has_rows	? options.rows
				 : options.form != NULL ? SIZE_MAX
							: DEFAULT_ROWS;
		diff.before = reading_open(&options.reading, argv + optind, 1);
		if (diff.before != NULL)
			diff.after = reading_open(&options.reading, argv + optind + 1, 1);
	}
	if (diff.after != NULL)
		status = diff_recordings(&diff, &options);
	recording_free(diff.before);
	recording_free(diff.after);
	reading_free(&options.reading);
	return status;
}
