/* SPDX-License-Identifier: MIT */
/* symbolize.c - `guestprof symbolize`: a recording with names, lines and inlined callers from wasm
 * files. */
#include "preload/cmd/command.h"
#include "preload/cmd/newest.h"
#include "preload/cmd/progress.h"
#include "preload/cmd/say.h"
#include "preload/cmd/symbolize/relined.h"
#include "preload/cmd/symbolize/sourcelines.h"
#include "preload/cmd/writing.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct sourcelines sourcelines;
	char *file, *out; /* owned */
};

/* FILE's name with .lines.pb.gz for .pb or .pb.gz, in the working directory (caller frees). */
static char *default_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash != NULL ? slash + 1 : file;
	int length = (int)strlen(base);
	char *name;

	if (length >= 3 && strcmp(base + length - 3, ".gz") == 0)
		length -= 3;
	if (length >= 3 && strncmp(base + length - 3, ".pb", 3) == 0)
		length -= 3;
	return asprintf(&name, "%.*s.lines.pb.gz", length, base) < 0 ? NULL : name;
}

/* False after having said what is wrong. */
static bool check_options(struct options *options, char **files, int count)
{
	if (count > 1)
		say_line("symbolize: one FILE at a time");
	else if (count == 1 && strcmp(files[0], "-") == 0)
		say_line("symbolize: it reads FILE twice, so it cannot be standard input");
	else
		options->file = count == 1 ? strdup(files[0]) : newest_recording();
	if (options->file == NULL && count == 0)
		say_line("symbolize: no FILE named, and no *.pb or *.pb.gz in this directory");
	if (options->file != NULL && options->out == NULL)
		options->out = default_name(options->file);
	return options->file != NULL && options->out != NULL;
}

static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "output", required_argument, NULL, 'o' },
		SOURCELINES_OPTIONS,
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
		if (option == '?')
			return false;
		if (option == 'o') {
			free(options->out);
			options->out = strdup(optarg);
		} else if (!sourcelines_option(&options->sourcelines, option, optarg)) {
			return false;
		}
	}
	return check_options(options, argv + optind, argc - optind);
}

static int write_lined(const void *context, struct output *output)
{
	return relined_write(context, output);
}

static int write_recording(const struct options *options, const struct lined *lined)
{
	size_t length = strlen(options->out);
	bool compress = length > 3 && strcmp(options->out + length - 3, ".gz") == 0;

	return writing_file(options->out, compress, write_lined, lined);
}

static int symbolize(const struct options *options, struct recording *recording)
{
	struct sourcelines_result result;
	struct lined lined;
	bool is_done;
	int error;

	progress_begin("finding lines", 0);
	error = sourcelines_apply(&options->sourcelines, recording, &lined, &result);
	progress_end();
	is_done = error == 0 && result.modules != 0 && result.refused == 0;
	if (is_done)
		error = write_recording(options, &lined);
	lined_free(&lined);
	if (error != 0)
		say_line("%s: %s", options->out, strerror(-error));
	else if (is_done)
		say_line("wrote %s", options->out);
	else
		say_line("nothing was written%s",
			 result.refused != 0 || options->sourcelines.files.count != 0
				 ? ""
				 : ": no lines in the recording or in the files that the host "
				   "opened; --wasm names others");
	return error == 0 && is_done ? COMMAND_OK : COMMAND_BAD;
}

int symbolize_command(int argc, char **argv)
{
	struct options options = { .sourcelines.uses_paths = true };
	struct recording *recording = NULL;
	int status = COMMAND_BAD;
	char *why = NULL;

	if (read_options(&options, argc, argv)) {
		progress_begin("reading", 0);
		recording = recording_read(options.file, &why);
		progress_end();
		if (recording == NULL) {
			say_line("%s", why != NULL ? why : "out of memory");
		} else if (recording->sample_count == 0) {
			say_line("%s: no samples in it, nothing was written", options.file);
			status = COMMAND_NO_SAMPLES;
		} else {
			status = symbolize(&options, recording);
		}
	}
	free(why);
	recording_free(recording);
	sourcelines_free(&options.sourcelines);
	free(options.file);
	free(options.out);
	return status;
}
