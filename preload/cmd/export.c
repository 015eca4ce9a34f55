/* SPDX-License-Identifier: MIT */
/* export.c - `guestprof export`: one recording in the format of another tool. */
#include "preload/cmd/command.h"
#include "preload/cmd/reading.h"
#include "preload/cmd/say.h"
#include "preload/cmd/writing.h"
#include "preload/export/firefox.h"
#include "preload/export/folded.h"
#include "preload/export/html.h"
#include "preload/export/pprof.h"
#include "preload/export/speedscope.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
	const char *format, *out;
	const char *sources; /* folder whose files the html page shows */
	size_t group_max;    /* pprof's groups; 0: as many as it finds right */
	bool by_instance, by_wall;
	struct reading_options reading;
};

/* Every instance has its track there, and so have waits. */
static int write_firefox(const struct recording *recording, const struct options *options,
			 struct output *output)
{
	uint64_t merged_ns = 0;
	int error = firefox_write(recording, FIREFOX_SIZE_MAX, output, &merged_ns);

	(void)options;
	if (error == 0 && merged_ns != 0)
		say_line("over %u MB of JSON, which browsers do not open: equal stacks within "
			 "%" PRIu64 " s are one sample",
			 (unsigned int)(FIREFOX_SIZE_MAX / 1000000), merged_ns / 1000000000);
	return error;
}

static int write_speedscope(const struct recording *recording, const struct options *options,
			    struct output *output)
{
	bool is_merged = false;
	int error =
		speedscope_write(recording,
				 &(struct speedscope_options){ .by_instance = options->by_instance,
							       .by_wall = options->by_wall,
							       .size_max = SPEEDSCOPE_SIZE_MAX },
				 output, &is_merged);

	if (error == 0 && is_merged)
		say_line("over %u MB of JSON, which browsers do not open: equal stacks are one "
			 "sample,"
			 " so the time order is lost",
			 (unsigned int)(SPEEDSCOPE_SIZE_MAX / 1000000));
	return error;
}

static int write_folded(const struct recording *recording, const struct options *options,
			struct output *output)
{
	return folded_write(recording, options->by_instance, options->by_wall, output);
}

static int write_html(const struct recording *recording, const struct options *options,
		      struct output *output)
{
	struct html_options page = { .sources = options->sources };
	int error = html_write(recording, &page, output);

	if (error == 0)
		writing_tell_sources(&page);
	return error;
}

static int write_pprof(const struct recording *recording, const struct options *options,
		       struct output *output)
{
	return pprof_write(recording,
			   &(struct pprof_options){ .by_instance = options->by_instance,
						    .group_max = options->group_max },
			   output);
}

static const struct format {
	const char *name;
	const char *extension; /* of the file it is written to; NULL: standard output */
	const char *next;      /* what to do with the file */
	int (*write)(const struct recording *recording, const struct options *options,
		     struct output *output);
} formats[] = {
	{ "firefox", ".json.gz", "open it at https://profiler.firefox.com", write_firefox },
	{ "speedscope", ".speedscope.json", "open it at https://www.speedscope.app",
	  write_speedscope },
	{ "html", ".html", "open it in a browser", write_html },
	{ "pprof", ".pprof.pb.gz", "go tool pprof, Pyroscope and Parca read it", write_pprof },
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

	/* standard input, or several files */
	if (access(file, F_OK) != 0)
		length = (int)strlen(base = "profile");
	if (ends_with(base, ".gz"))
		length -= 3;
	if (length >= 3 && strncmp(base + length - 3, ".pb", 3) == 0)
		length -= 3;
	return asprintf(&name, "%.*s%s", length, base, extension) < 0 ? NULL : name;
}

static char *choose_name(const struct options *options, const struct format *format,
			 const char *file)
{
	if (options->out != NULL)
		return strdup(options->out);
	if (format->extension == NULL || stdout_is_redirected())
		return strdup("-");
	return default_name(file, format->extension);
}

struct writing {
	const struct options *options;
	const struct format *format;
	const struct recording *recording;
};

static int write_format(const void *context, struct output *output)
{
	const struct writing *writing = context;

	return writing->format->write(writing->recording, writing->options, output);
}

static int write_output(const struct options *options, const struct format *format,
			const struct recording *recording)
{
	char *name = choose_name(options, format, recording->path);
	bool is_stdout = name != NULL && strcmp(name, "-") == 0;
	bool compress =
		name != NULL &&
		ends_with(is_stdout && format->extension != NULL ? format->extension : name, ".gz");
	const struct writing writing = { options, format, recording };
	int error = name != NULL ? writing_file(name, compress, write_format, &writing) : -ENOMEM;

	if (error != 0)
		say_line("%s: %s", name != NULL ? name : "export", strerror(-error));
	else if (!is_stdout)
		say_line("wrote %s; %s", name, format->next);
	free(name);
	return error == 0 ? COMMAND_OK : COMMAND_BAD;
}

static bool has_waits(const struct recording *recording)
{
	for (size_t i = 0; i < recording->sample_count; i++) {
		if (recording->samples[i].wall_ns != 0)
			return true;
	}
	return false;
}

static int export_recording(const struct options *options, const struct format *format,
			    const struct recording *recording)
{
	if (recording->sample_count != 0 && options->by_wall && !has_waits(recording)) {
		say_line("%s: no waiting in it, which guestprof record --wall measures; nothing "
			 "was written",
			 recording->path);
		return COMMAND_NO_SAMPLES;
	}
	if (recording->sample_count != 0)
		return write_output(options, format, recording);
	say_line("%s: no samples in it%s%s, nothing was written", recording->path,
		 recording->filter[0] != '\0' ? " with " : "", recording->filter);
	return COMMAND_NO_SAMPLES;
}

static bool take_number(const char *text, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* Sets *FLAG when the argument of --OPTION is WORD. */
static bool take_word(bool *flag, const char *option, const char *word)
{
	*flag = strcmp(optarg, word) == 0;
	if (!*flag)
		say_line("export: --%s takes %s, not %s", option, word, optarg);
	return *flag;
}

static bool take_option(void *context, int option)
{
	struct options *options = context;

	switch (option) {
	case 't':
		options->format = optarg;
		return true;
	case 'o':
		options->out = optarg;
		return true;
	case 's':
		options->sources = optarg;
		return true;
	case 'b':
		return take_word(&options->by_instance, "by", "instance");
	case 'v':
		return take_word(&options->by_wall, "value", "wall");
	default:
		if (take_number(optarg, &options->group_max))
			return true;
		say_line("export: --groups takes a number from 1 on, not %s", optarg);
		return false;
	}
}

static const struct option names[] = {
	{ "to", required_argument, NULL, 't' },
	{ "output", required_argument, NULL, 'o' },
	{ "by", required_argument, NULL, 'b' },
	{ "value", required_argument, NULL, 'v' },
	{ "sources", required_argument, NULL, 's' },
	{ "groups", required_argument, NULL, 'g' },
	READING_OPTIONS,
	{ 0 },
};
static const struct reading_syntax syntax = { "t:o:", names, take_option };

static const struct format *choose_format(const char *name)
{
	const struct format *format = find_format(name);

	if (format == NULL)
		say_line("export: --to takes firefox, speedscope, html, pprof or folded%s%s",
			 name != NULL ? ", not " : "", name != NULL ? name : "");
	return format;
}

int export_command(int argc, char **argv)
{
	struct options options = { .reading = { .command = "export" } };
	const struct format *format = NULL;
	struct recording *recording = NULL;
	int status = COMMAND_BAD;

	if (reading_read_options(&options.reading, argc, argv, &syntax, &options))
		format = choose_format(options.format);
	if (format != NULL && options.sources != NULL && format->write != write_html) {
		say_line("export: --sources goes with --to html");
		format = NULL;
	}
	if (format != NULL)
		recording = reading_open(&options.reading, argv + optind, (size_t)(argc - optind));
	if (recording != NULL)
		status = export_recording(&options, format, recording);
	recording_free(recording);
	reading_free(&options.reading);
	return status;
}
