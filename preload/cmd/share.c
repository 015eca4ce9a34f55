/* SPDX-License-Identifier: MIT */
/* share.c - `guestprof share`: a file that is safe to hand to a tenant. */
#include "preload/cmd/command.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/say.h"
#include "preload/cmd/selecting.h"
#include "preload/cmd/writing.h"
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

static bool take_option(void *context, int option)
{
	struct options *options = context;

	switch (option) {
	case 'o':
		options->out = optarg;
		return true;
	case OPTION_NO_TIME:
		options->shared.has_time = false;
		return true;
	case OPTION_WITH_DEBUG:
		options->shared.has_debug = true;
		return true;
	default:
		return selecting_option(&options->selecting, option, optarg);
	}
}

/* False after having said what is wrong. */
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
	static const struct reading_syntax syntax = { "o:", names, take_option };

	if (!reading_read_options(&options->reading, argc, argv, &syntax, options))
		return false;
	if (options->out == NULL) {
		say_line("share: -o FILE says where to write");
		return false;
	}
	return selecting_check(&options->selecting);
}

static int write_shared(const void *context, struct output *output)
{
	struct pb_writer bytes = { 0 };
	int error;

	shared_encode(context, &bytes);
	error = bytes.error;
	if (error == 0)
		output_bytes(output, bytes.bytes, bytes.size);
	pb_free(&bytes);
	return error;
}

static int write_file(const char *path, const struct shared *shared)
{
	size_t length = strlen(path);
	bool compress = length > 3 && strcmp(path + length - 3, ".gz") == 0;

	return writing_file(path, compress, write_shared, shared);
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
