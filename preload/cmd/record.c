/* SPDX-License-Identifier: MIT */
/*
 * record.c - `guestprof record`: sets the environment, runs the command, tells what came of it.
 *
 * The recordings are made by the library in each process that has a guest, under names that
 * follow a pattern; which ones they are is known from GUESTPROF_LIST, to which each adds a line.
 */
#include "preload/cmd/command.h"
#include "preload/cmd/library.h"
#include "preload/cmd/live/record_live.h"
#include "preload/cmd/recorded.h"
#include "preload/cmd/run.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

struct options {
	char *output; /* owned, absolute; NULL: the pattern decides */
	char **command;
	const char *target; /* -p; NULL: COMMAND is run */
	struct live_wish live;
	bool has_wall;
};

static int bad_value(const char *option, const char *values, const char *value)
{
	say_line("record: %s takes %s, not %s", option, values, value);
	return -EINVAL;
}

static int take_hz(struct options *options, const char *text)
{
	if (!live_hz("record", "-F", text, &options->live.hz))
		return -EINVAL;
	return setenv("GUESTPROF_HZ", text, 1);
}

static int take_stacks(struct options *options, const char *text)
{
	if (!live_stacks("record", text, &options->live.stacks))
		return -EINVAL;
	return setenv("GUESTPROF_STACKS", text, 1);
}

/* The command may change its directory before the library reads the name. */
static int take_output(struct options *options, const char *text)
{
	char *here = text[0] != '/' ? getcwd(NULL, 0) : NULL;
	int length = 0;

	free(options->output);
	options->output = NULL;
	if (text[0] == '\0')
		return bad_value("-o", "a file name", "\"\"");
	if (text[0] == '/')
		options->output = strdup(text);
	else if (here != NULL)
		length = asprintf(&options->output, "%s/%s", here, text);
	free(here);
	if (length < 0)
		options->output = NULL;
	if (options->output == NULL)
		say_line("record: %s: %m", text);
	return options->output != NULL ? 0 : -ENOMEM;
}

static int take_option(struct options *options, int option)
{
	switch (option) {
	case 'o':
		return take_output(options, optarg);
	case 'F':
		return take_hz(options, optarg);
	case 's':
		return take_stacks(options, optarg);
	case 'p':
		options->target = optarg;
		return 0;
	case 'd':
		return live_duration("record", "-d", optarg, &options->live.duration_ns) ? 0
											 : -EINVAL;
	case 'w':
		options->has_wall = true;
		return setenv("GUESTPROF_WALL", "1", 1);
	default:
		return -EINVAL;
	}
}

/* Lines are worth the copy of a module's debug information, when somebody looks at one recording.
 */
static void embed_debug(void)
{
	if (setenv("GUESTPROF_DEBUG", "embed", 0) != 0)
		say_line("record: GUESTPROF_DEBUG: %m");
}

/* With -p: no command, and what the process can be told. */
static int check_target(const struct options *options, int words)
{
	if (words > 0)
		say_line("record: -p PID, or a command, not both");
	else if (options->live.duration_ns == 0)
		say_line("record: -p needs -d, a duration: -d 30s");
	else if (options->has_wall)
		say_line("record: --wall must be there when the process starts: GUESTPROF_WALL=1");
	else
		return 0;
	return -EINVAL;
}

static int read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "stacks", required_argument, NULL, 's' },
		{ "wall", no_argument, NULL, 'w' },
		{ "pid", required_argument, NULL, 'p' },
		{ "duration", required_argument, NULL, 'd' },
		{ 0 },
	};
	int option;

	optind = 1;
	/* "+": options end at the command's name; what follows is the command's. */
	while ((option = getopt_long(argc, argv, "+o:F:p:d:", names, NULL)) != -1) {
		if (take_option(options, option) != 0)
			return -EINVAL;
	}
	options->command = argv + optind;
	if (options->target != NULL)
		return check_target(options, argc - optind);
	if (options->live.duration_ns != 0) {
		say_line("record: -d goes with -p; CMD ends when it ends");
		return -EINVAL;
	}
	if (optind < argc)
		return 0;
	say_line("record: no command to run: guestprof record -- CMD [ARGS]");
	return -EINVAL;
}

static int remove_file(const char *name)
{
	struct stat about;

	if (lstat(name, &about) != 0 || !S_ISREG(about.st_mode) || unlink(name) == 0)
		return 0;
	say_line("record: %s: %m", name);
	return -EACCES;
}

/* Removes what an earlier run left under the name, finished or not; only files, never devices. */
static int remove_earlier(const char *output)
{
	/* `.tmp` is from a process that was killed while it compressed. */
	static const char *const running[] = { "", ".pb", ".tmp", ".pb.tmp" };
	size_t length = strlen(output);
	bool has_gz = length > 3 && strcmp(output + length - 3, ".gz") == 0;
	int error = remove_file(output);

	for (size_t i = 0; error == 0 && has_gz && i < ARRAY_SIZE(running); i++) {
		char *name;

		if (asprintf(&name, "%.*s%s", (int)length - 3, output, running[i]) < 0)
			return -ENOMEM;
		error = remove_file(name);
		free(name);
	}
	return error;
}

static int set_output(const struct options *options)
{
	if (options->output == NULL) {
		/* An outer record's own: this run's files have names of their own. */
		unsetenv("GUESTPROF_EXACT_OUTPUT");
		return 0;
	}
	if (setenv("GUESTPROF_OUTPUT", options->output, 1) != 0 ||
	    setenv("GUESTPROF_EXACT_OUTPUT", "1", 1) != 0)
		return -ENOMEM;
	return remove_earlier(options->output);
}

static int set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;
	int error;

	/* ld.so(8): the list is separated by spaces or colons, and there is no way to quote one. */
	if (strpbrk(library, ": ") != NULL) {
		say_line("%s: LD_PRELOAD takes no path with a space or colon", library);
		return -EINVAL;
	}
	if (others == NULL || others[0] == '\0')
		return setenv("LD_PRELOAD", library, 1);
	if (asprintf(&all, "%s:%s", library, others) < 0)
		return -ENOMEM;
	error = setenv("LD_PRELOAD", all, 1);
	free(all);
	return error;
}

/* Makes the list file; its name (caller frees and unlinks), or NULL. */
static char *make_list(void)
{
	const char *directory = getenv("TMPDIR");
	char *name;
	int fd;

	if (directory == NULL || directory[0] != '/')
		directory = "/tmp";
	if (asprintf(&name, "%s/guestprof-list-XXXXXX", directory) < 0)
		return NULL;
	fd = mkstemp(name); /* 0600 */
	if (fd < 0) {
		say_line("record: %s: %m", name);
		free(name);
		return NULL;
	}
	close(fd);
	return name;
}

static void run_and_tell(const struct options *options, const char *list, struct run *run)
{
	run_command(run, options->command, environ);
	if (run->has_run)
		recorded_tell(list, options->output, options->command[0]);
}

/* Its exit statuses are those of the other commands: nothing is run. */
static int record_target(struct options *options)
{
	int status = record_live(options->target, &options->live, options->output);

	free(options->output);
	return status;
}

int record_command(int argc, char **argv)
{
	struct options options = { 0 };
	struct run run = { .exit_status = RUN_FAILED };
	char *library = NULL, *list = NULL;
	int error = read_options(&options, argc, argv);

	if (options.target != NULL)
		return error == 0 ? record_target(&options) : COMMAND_BAD;
	if (error == 0)
		library = library_path();
	embed_debug();
	if (library != NULL && set_preload(library) == 0 && set_output(&options) == 0)
		list = make_list();
	if (list != NULL && setenv("GUESTPROF_LIST", list, 1) == 0)
		run_and_tell(&options, list, &run);
	if (list != NULL)
		unlink(list);
	free(list);
	free(library);
	free(options.output);
	run_exit_alike(&run);
}
