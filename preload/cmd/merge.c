/* SPDX-License-Identifier: MIT */
/* merge.c - `guestprof merge`: several recordings, or a part of one, as one recording. */
#include "preload/cmd/command.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/say.h"
#include "preload/cmd/writing.h"
#include "preload/export/pprof.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

struct options {
	const char *out;
	struct reading_options reading;
};

static bool take_option(void *context, int option)
{
	struct options *options = context;

	(void)option; /* -o is the only one */
	options->out = optarg;
	return true;
}

/* False after having said what is wrong. */
static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "output", required_argument, NULL, 'o' },
		READING_OPTIONS,
		{ 0 },
	};
	static const struct reading_syntax syntax = { "o:", names, take_option };

	if (!reading_read_options(&options->reading, argc, argv, &syntax, options))
		return false;
	if (options->out == NULL)
		say_line("merge: -o names the file to write");
	return options->out != NULL;
}

static bool ends_with_gz(const char *name)
{
	size_t length = strlen(name);

	return strcmp(name, "-") == 0 || (length > 3 && strcmp(name + length - 3, ".gz") == 0);
}

static int write_merged(const void *context, struct output *output)
{
	return pprof_write_recording(context, output);
}

static int write_recording(const char *name, const struct recording *recording)
{
	char samples[SAY_COUNT_SIZE];
	int error = writing_file(name, ends_with_gz(name), write_merged, recording);
	uint64_t count = 0;

	if (error != 0) {
		say_line("%s: %s", name, strerror(-error));
		return COMMAND_BAD;
	}
	for (size_t i = 0; i < recording->sample_count; i++)
		count += recording->samples[i].count;
	if (strcmp(name, "-") != 0)
		say_line("wrote %s: %s samples of %zu process%s", name, say_count(samples, count),
			 recording->process_count, recording->process_count == 1 ? "" : "es");
	return COMMAND_OK;
}

int merge_command(int argc, char **argv)
{
	struct options options = { .reading = { .command = "merge" } };
	struct recording *recording = NULL;
	int status = COMMAND_BAD;

	if (read_options(&options, argc, argv))
		recording = reading_open(&options.reading, argv + optind, (size_t)(argc - optind));
	if (recording != NULL && recording->sample_count == 0) {
		say_line("%s: no samples in it%s%s, nothing was written", recording->path,
			 recording->filter[0] != '\0' ? " with " : "", recording->filter);
		status = COMMAND_NO_SAMPLES;
	} else if (recording != NULL) {
		status = write_recording(options.out, recording);
	}
	recording_free(recording);
	reading_free(&options.reading);
	return status;
}
