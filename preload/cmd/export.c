/* SPDX-License-Identifier: MIT */
/* export.c - `guestprof export`: one recording in the format of another tool. */
#include "preload/cmd/command.h"
#include "preload/cmd/newest.h"
#include "preload/cmd/say.h"
#include "preload/cmd/sourcelines.h"
#include "preload/encode/firefox.h"
#include "preload/encode/folded.h"
#include "preload/encode/reader.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
	const char *format, *out;
	char *file; /* owned */
	bool by_instance, by_wall;
	struct sourcelines sourcelines;
};

/* Every instance has its track there, and so have waits. */
static int write_firefox(const struct recording *recording, const struct options *options,
			 struct output *output)
{
	(void)options;
	return firefox_write(recording, output);
}

static int write_folded(const struct recording *recording, const struct options *options,
			struct output *output)
{
	return folded_write(recording, options->by_instance, options->by_wall, output);
}

static const struct format {
	const char *name;
	const char *extension; /* of the file it is written to; NULL: standard output */
	const char *next;      /* what to do with the file */
	int (*write)(const struct recording *recording, const struct options *options,
		     struct output *output);
} formats[] = {
	{ "firefox", ".json.gz", "open it at https://profiler.firefox.com", write_firefox },
	{ "folded", NULL, "flamegraph.pl, inferno-flamegraph and speedscope read it",
	  write_folded },
};

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; name != NULL && i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Something that takes data: not a terminal, and not /dev/null. */
static bool stdout_is_redirected(void)
{
	struct stat about;

	return fstat(STDOUT_FILENO, &about) == 0 &&
	       (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

/* In the working directory: FILE's base name with another extension (caller frees). */
static char *default_name(const char *file, const char *extension)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash != NULL ? slash + 1 : file;
	int length = (int)strlen(base);
	char *name;

	if (strcmp(base, "-") == 0)
		length = (int)strlen(base = "profile");
	if (ends_with(base, ".gz"))
		length -= 3;
	if (length >= 3 && strncmp(base + length - 3, ".pb", 3) == 0)
		length -= 3;
	return asprintf(&name, "%.*s%s", length, base, extension) < 0 ? NULL : name;
}

static char *choose_name(const struct options *options, const struct format *format)
{
	if (options->out != NULL)
		return strdup(options->out);
	if (format->extension == NULL || stdout_is_redirected())
		return strdup("-");
	return default_name(options->file, format->extension);
}

static int write_output(const struct options *options, const struct format *format,
			const struct recording *recording)
{
	char *name = choose_name(options, format);
	bool is_stdout = name != NULL && strcmp(name, "-") == 0;
	bool compress =
		name != NULL && (is_stdout ? format->extension != NULL : ends_with(name, ".gz"));
	struct output *output = name != NULL ? output_open(name, compress) : NULL;
	int error = output == NULL ? -errno : format->write(recording, options, output);
	int close_error = output == NULL ? 0 : output_close(output, error == 0);

	if (error == 0)
		error = close_error;
	if (error != 0)
		say_line("%s: %s", name != NULL ? name : "export", strerror(-error));
	else if (!is_stdout)
		say_line("wrote %s; %s", name, format->next);
	free(name);
	return error == 0 ? COMMAND_OK : COMMAND_BAD;
}

static int export_file(const struct options *options, const struct format *format)
{
	char *why = NULL;
	struct recording *recording = recording_read(options->file, &why);
	int status;

	if (recording == NULL) {
		say_line("%s", why != NULL ? why : "out of memory");
		free(why);
		return COMMAND_BAD;
	}
	if (recording->sample_count == 0) {
		say_line("%s: no samples in it, nothing was written", options->file);
		status = COMMAND_NO_SAMPLES;
	} else {
		status = sourcelines_use(&options->sourcelines, recording) == 0
				 ? write_output(options, format, recording)
				 : COMMAND_BAD;
	}
	recording_free(recording);
	return status;
}

/* False after having said what is wrong. */
static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "to", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' },
		{ "by", required_argument, NULL, 'b' },
		{ "value", required_argument, NULL, 'v' },
		SOURCELINES_OPTIONS,
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "t:o:", names, NULL)) != -1) {
		if (option == 't') {
			options->format = optarg;
		} else if (option == 'o') {
			options->out = optarg;
		} else if (option == 'b' && strcmp(optarg, "instance") == 0) {
			options->by_instance = true;
		} else if (option == 'v' && strcmp(optarg, "wall") == 0) {
			options->by_wall = true;
		} else if (option >= SOURCELINES_WASM) {
			if (!sourcelines_option(&options->sourcelines, option, optarg))
				return false;
		} else {
			if (option == 'b')
				say_line("export: --by takes instance, not %s", optarg);
			if (option == 'v')
				say_line("export: --value takes wall, not %s", optarg);
			return false;
		}
	}
	if (argc - optind > 1) {
		say_line("export: one FILE at a time");
		return false;
	}
	options->file = optind < argc ? strdup(argv[optind]) : newest_recording();
	if (options->file == NULL)
		say_line("export: no FILE named, and no *.pb or *.pb.gz in this directory");
	return options->file != NULL;
}

int export_command(int argc, char **argv)
{
	struct options options = { 0 };
	const struct format *format;
	int status = COMMAND_BAD;

	if (read_options(&options, argc, argv)) {
		format = find_format(options.format);
		if (format == NULL)
			say_line("export: --to takes firefox or folded%s%s",
				 options.format != NULL ? ", not " : "",
				 options.format != NULL ? options.format : "");
		else
			status = export_file(&options, format);
	}
	sourcelines_free(&options.sourcelines);
	free(options.file);
	return status;
}
