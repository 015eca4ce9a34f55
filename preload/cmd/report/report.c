/* SPDX-License-Identifier: MIT */
/* report.c - `guestprof report`: reads recordings, sums them up, shows the sums. */
#include "preload/cmd/report/report.h"

#include "preload/cmd/command.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/report/report_options.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static struct totals *sum_up(const struct report_options *options,
			     const struct recording *recording)
{
	struct totals *totals = totals_new();
	int error;

	if (totals == NULL)
		return NULL;
	totals->by_line = options->report.has_lines;
	totals->by_total = options->by_total;
	totals->by = options->parts;
	totals->label_key = options->label_key;
	progress_begin("adding up", 0);
	error = totals_add(totals, recording);
	if (error == 0)
		error = totals_finish(totals);
	progress_end();
	if (error == 0)
		return totals;
	totals_free(totals);
	return NULL;
}

static int show(const struct report_options *options)
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

static int report_recording(struct report_options *options, const struct recording *recording)
{
	struct totals *totals = sum_up(options, recording);
	int error = totals == NULL ? -ENOMEM : 0, status = COMMAND_BAD;

	options->report.recording = recording;
	options->report.totals = totals;
	if (error == 0)
		error = show(options);
	if (error != 0)
		say_line("report: %s", strerror(-error));
	else
		status = has_samples(totals) ? COMMAND_OK : COMMAND_NO_SAMPLES;
	totals_free(totals);
	return status;
}

int report_command(int argc, char **argv)
{
	struct report_options options;
	struct recording *recording = NULL;
	int status = COMMAND_BAD;

	if (report_options_read(&options, argc, argv))
		recording = reading_open(&options.reading, argv + optind, (size_t)(argc - optind));
	if (recording != NULL)
		status = report_recording(&options, recording);
	recording_free(recording);
	reading_free(&options.reading);
	return status;
}
