/* SPDX-License-Identifier: MIT */
/*
 * reading.h - what every command that reads recordings does first: files, directories and globs
 * become one recording, with source lines, merged, filtered.
 */
#ifndef PRELOAD_CMD_READING_H
#define PRELOAD_CMD_READING_H

#include "preload/cmd/symbolize/sourcelines.h"
#include "preload/read/filter.h"
#include "preload/read/reader.h"

#include <getopt.h>

/* What the options said. Zeroed memory, but for COMMAND, is nothing. */
struct reading_options {
	const char *command; /* the subcommand's name, for messages */
	struct sourcelines sourcelines;
	const char *names; /* a names file, see naming.h; NULL */
	struct filter_wish wish;
};

/* The options, for getopt_long(); their values are above those of characters. */
enum {
	READING_INCLUDE = 1100,
	READING_EXCLUDE,
	READING_FOCUS,
	READING_MODULE,
	READING_LABEL,
	READING_INSTANCE,
	READING_THREAD,
	READING_TIME,
	READING_VIEW,
	READING_NAMES,
};
/* clang-format off */
#define READING_OPTIONS \
	{ "include", required_argument, NULL, READING_INCLUDE }, \
	{ "exclude", required_argument, NULL, READING_EXCLUDE }, \
	{ "focus", required_argument, NULL, READING_FOCUS }, \
	{ "module", required_argument, NULL, READING_MODULE }, \
	{ "label", required_argument, NULL, READING_LABEL }, \
	{ "instance", required_argument, NULL, READING_INSTANCE }, \
	{ "thread", required_argument, NULL, READING_THREAD }, \
	{ "time", required_argument, NULL, READING_TIME }, \
	{ "view", required_argument, NULL, READING_VIEW }, \
	{ "names", required_argument, NULL, READING_NAMES }, \
	SOURCELINES_OPTIONS
/* clang-format on */

/* What they mean, for --help. */
#define READING_HELP                                                                            \
	"FILTERS, all of which must hold: --include RE, --exclude RE (samples with, without a " \
	"frame "                                                                                \
	"like that),\n--focus RE (stacks begin at the outermost one), --module NAME, --label "  \
	"KEY[=RE], --instance NAME,\n--thread NAME|ID, --time FROM:TO (seconds), --view "       \
	"guest|hostcalls|full.\n"

/* How a command is called: LETTERS and NAMES as of getopt_long(), with READING_OPTIONS or some of
 * them. */
struct reading_syntax {
	const char *letters;
	const struct option *names;
	/* An option of the command's own, with `optarg`. False after having said what is wrong. */
	bool (*take)(void *context, int option);
};

/*
 * Takes all options; their arguments are borrowed, and the first FILE is argv[optind]. False after
 * having said what is wrong.
 */
bool reading_read_options(struct reading_options *options, int argc, char **argv,
			  const struct reading_syntax *syntax, void *context);
void reading_free(struct reading_options *options);

/*
 * The recording that PATHS are (recording_free()): files, directories (all *.pb and *.pb.gz in
 * them), globs, "-" for standard input; none: the newest here. What cannot be read is told, one
 * line each, and left out if anything else can. NULL after having said why: the exit status is
 * COMMAND_BAD. Says what it does on standard error, if that is a terminal, when it takes a second.
 */
struct recording *reading_open(const struct reading_options *options, char **paths, size_t count);

#endif /* PRELOAD_CMD_READING_H */
