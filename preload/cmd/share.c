/* SPDX-License-Identifier: MIT */
/* share.c - `guestprof share`: a file that is safe to hand to a tenant. */
#include "preload/cmd/command.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/say.h"
#include "preload/cmd/selecting.h"
#include "preload/export/output.h"
#include "preload/share/shared.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct selecting selecting;
	struct reading_options reading;
	struct shared_options shared;
	const char *out;
};

enum { OPTION_NO_TIME = 'z' + 1, OPTION_WITH_DEBUG };

/* False after having said what is wrong. */
static bool take_option(struct options *options, int option, char *argument)
{
	switch (option) {
	case 'o':
		options->out = argument;
		return true;
	case OPTION_NO_TIME:
		options->shared.has_time = false;
		return true;
	case OPTION_WITH_DEBUG:
		options->shared.has_debug = true;
		return true;
	case SOURCELINES_WASM:
	case SOURCELINES_MAP:
		return reading_option(&options->reading, option, argument);
	default:
		return selecting_option(&options->selecting, option, argument);
	}
}

static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		SELECTING_OPTIONS,
		{ "output", required_argument, NULL, 'o' },
		{ "no-time", no_argument, NULL, OPTION_NO_TIME },
		{ "with-debug", no_argument, NULL, OPTION_WITH_DEBUG },
		SOURCELINES_OPTIONS,
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
		if (!take_option(options, option, optarg))
			return false;
	}
	if (options->out == NULL) {
		say_line("share: -o FILE says where to write");
		return false;
	}
	return selecting_check(&options->selecting);
}

static int write_file(const char *path, const struct shared *shared)
{
	size_t length = strlen(path);
	struct pb_writer bytes = { 0 };
	struct output *output;
	int error, close_error;

	shared_encode(shared, &bytes);
	error = bytes.error;
	output = error == 0 ? output_open(path, length > 3 && strcmp(path + length - 3, ".gz") == 0)
			    : NULL;
	if (output == NULL) {
		pb_free(&bytes);
		return error != 0 ? error : -errno;
	}
	output_bytes(output, bytes.bytes, bytes.size);
	close_error = output_close(output, error == 0);
	pb_free(&bytes);
	return close_error;
}

static int say_what_there_is(const struct options *options, const struct recording *recording)
{
	char text[512];

	say_line("share: no sample in it is %s; nothing was written",
		 selecting_describe(&options->selecting, text, sizeof(text)));
	selecting_say_choices(&options->selecting, recording);
	return COMMAND_NO_SAMPLES;
}

static int share(const struct options *options, const struct recording *recording)
{
	char samples[SAY_COUNT_SIZE], modules[SAY_COUNT_SIZE];
	struct shared shared;
	int error, status = COMMAND_OK;

	error = shared_build(&shared, recording, &options->selecting.selection, &options->shared);
	if (error == 0 && shared.sample_count == 0)
		status = say_what_there_is(options, recording);
	else if (error == 0)
		error = write_file(options->out, &shared);
	if (error != 0) {
		say_line("%s: %s", options->out, strerror(-error));
		status = COMMAND_BAD;
	} else if (status == COMMAND_OK && strcmp(options->out, "-") != 0) {
		say_line("wrote %s: %s samples of %s module%s; nothing else is in it", options->out,
			 say_count(samples, shared.samples),
			 say_count(modules, shared.module_count),
			 shared.module_count == 1 ? "" : "s");
	}
	shared_free(&shared);
	return status;
}

int share_command(int argc, char **argv)
{
	struct options options = { .reading.command = "share",
				   .selecting.command = "share",
				   .shared.has_time = true };
	struct recording *recording = NULL;
	int status = COMMAND_BAD;

	if (read_options(&options, argc, argv))
		recording = reading_open(&options.reading, argv + optind, (size_t)(argc - optind));
	if (recording != NULL && !recording->is_ours)
		say_line("%s: not a recording of guestprof, which is what share can tell apart",
			 recording->path);
	else if (recording != NULL)
		status = share(&options, recording);
	recording_free(recording);
	reading_free(&options.reading);
	selecting_free(&options.selecting);
	return status;
}
