/* SPDX-License-Identifier: MIT */
/* report.c - `guestprof report`: reads recordings, sums them up, shows the sums. */
#include "preload/cmd/report.h"

#include "preload/cmd/command.h"
#include "preload/cmd/newest.h"
#include "preload/cmd/say.h"
#include "preload/cmd/sourcelines.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_FUNCTION_ROWS = 20 };

struct options {
	bool is_json;
	struct sourcelines sourcelines;
	struct report report;
};

static bool read_count(const char *text, size_t *count)
{
	char *end;

	errno = 0;
	*count = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool take_option(struct options *options, int option)
{
	if (option == 'j') {
		options->is_json = true;
		return true;
	}
	if (option == 'n') {
		if (read_count(optarg, &options->report.function_rows))
			return true;
		say_line("report: -n takes a number, not %s", optarg);
	} else if (option == 'b') {
		options->report.by_instance = strcmp(optarg, "instance") == 0;
		if (options->report.by_instance || strcmp(optarg, "group") == 0)
			return true;
		say_line("report: --by takes group or instance, not %s", optarg);
	} else if (option == 'l') {
		options->report.has_lines = true;
		return true;
	} else if (option >= SOURCELINES_WASM) {
		return sourcelines_option(&options->sourcelines, option, optarg);
	}
	return false;
}

/* False after having said what is wrong. */
static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "by", required_argument, NULL, 'b' },
		{ "lines", no_argument, NULL, 'l' },
		SOURCELINES_OPTIONS,
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "n:", names, NULL)) != -1) {
		if (!take_option(options, option))
			return false;
	}
	return true;
}

static int add_file(struct report *report, const struct sourcelines *sourcelines, const char *path)
{
	char *why = NULL;
	struct recording *recording = recording_read(path, &why);
	int error;

	if (recording == NULL) {
		say_line("%s", why != NULL ? why : "out of memory");
		free(why);
		return -EINVAL;
	}
	report->recordings[report->recording_count++] = recording;
	error = sourcelines_use(sourcelines, recording);
	if (error == 0)
		error = totals_add(report->totals, recording);
	if (error != 0)
		say_line("%s: %s", path, strerror(-error));
	return error;
}

static int read_files(struct report *report, const struct sourcelines *sourcelines, char **paths,
		      size_t count)
{
	int error = 0;

	report->recordings = calloc(count, sizeof(struct recording *));
	report->totals = totals_new();
	if (report->recordings == NULL || report->totals == NULL) {
		say_line("report: out of memory");
		return -ENOMEM;
	}
	report->totals->by_line = report->has_lines;
	for (size_t i = 0; error == 0 && i < count; i++)
		error = add_file(report, sourcelines, paths[i]);
	if (error == 0)
		error = totals_finish(report->totals);
	return error;
}

static int show(const struct options *options)
{
	struct output *output;
	int error, close_error;

	if (!options->is_json) {
		report_text(&options->report, stdout);
		return fflush(stdout) == 0 ? 0 : -errno;
	}
	output = output_open("-", false);
	if (output == NULL)
		return -errno;
	error = report_json(&options->report, output);
	close_error = output_close(output, error == 0);
	return error != 0 ? error : close_error;
}

static bool has_samples(const struct totals *totals)
{
	return totals->weight.samples != 0 || totals->weight.wall_ns != 0;
}

static int report_files(struct options *options, char **paths, size_t count)
{
	int status = COMMAND_BAD, error;

	if (read_files(&options->report, &options->sourcelines, paths, count) == 0) {
		error = show(options);
		if (error != 0)
			say_line("report: %s", strerror(-error));
		else
			status = has_samples(options->report.totals) ? COMMAND_OK
								     : COMMAND_NO_SAMPLES;
	}
	for (size_t i = 0; i < options->report.recording_count; i++)
		recording_free(options->report.recordings[i]);
	free(options->report.recordings);
	totals_free(options->report.totals);
	sourcelines_free(&options->sourcelines);
	return status;
}

/* no-color.org: present and not empty, whatever its value. */
static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL && value[0] != '\0';
}

int report_command(int argc, char **argv)
{
	struct options options = { .report = { .function_rows = SIZE_MAX } };
	char *newest;
	int status;

	if (!read_options(&options, argc, argv))
		return COMMAND_BAD;
	if (!options.is_json && options.report.function_rows == SIZE_MAX)
		options.report.function_rows = DEFAULT_FUNCTION_ROWS;
	options.report.has_colours = isatty(STDOUT_FILENO) && !is_set("NO_COLOR");
	if (optind < argc)
		return report_files(&options, argv + optind, (size_t)(argc - optind));
	newest = newest_recording();
	if (newest == NULL) {
		say_line("report: no FILE named, and no *.pb or *.pb.gz in this directory; "
			 "guestprof "
			 "record -- CMD makes one");
		return COMMAND_BAD;
	}
	status = report_files(&options, &newest, 1);
	free(newest);
	return status;
}
