/* SPDX-License-Identifier: MIT */
/* control.c - `guestprof start`, `stop` and `dump`. Threads: any. */
#include "preload/cmd/command.h"
#include "preload/cmd/live/live.h"
#include "preload/cmd/live/received.h"
#include "preload/cmd/live/targets.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *command; /* "start" */
	const char *directory, *output;
	struct live_wish wish;
	uint64_t last_ns;
};

static bool take_option(struct options *options, int option)
{
	switch (option) {
	case 'D':
		options->directory = optarg;
		return true;
	case 'd':
		return live_duration(options->command, "--duration", optarg,
				     &options->wish.duration_ns);
	case 'F':
		return live_hz(options->command, "--hz", optarg, &options->wish.hz);
	case 's':
		return live_stacks(options->command, optarg, &options->wish.stacks);
	case 'l':
		return live_duration(options->command, "--last", optarg, &options->last_ns);
	case 'o':
		options->output = optarg;
		return true;
	default:
		return false;
	}
}

/* Adds the processes that are meant; with none named, the only one that there is. */
static int read_command(struct options *options, struct processes *processes, const char *letters,
			const struct option *names, int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (!take_option(options, option))
			return COMMAND_BAD;
	}
	status =
		targets_find(processes, options->directory, argv + optind, (size_t)(argc - optind));
	if (status != COMMAND_OK)
		return status;
	if (processes->count == 0) {
		say_line("%s: no process is preloaded here: %s", options->command,
			 targets_how_to_preload);
		return COMMAND_UNREACHABLE;
	}
	if (processes->count > 1 && optind == argc && options->directory == NULL) {
		say_line("%s: which? guestprof list names %zu processes", options->command,
			 processes->count);
		return COMMAND_BAD;
	}
	return COMMAND_OK;
}

/* Does it for each; the worst status. */
static int each(const struct options *options, const struct processes *processes,
		int (*act)(const struct options *, const struct process *, struct dialogue *))
{
	static struct dialogue dialogue;
	int worst = COMMAND_OK;

	for (size_t i = 0; i < processes->count; i++) {
		int status = targets_reach(&processes->rows[i], &dialogue);

		if (status == COMMAND_OK) {
			status = act(options, &processes->rows[i], &dialogue);
			dialogue_close(&dialogue);
		}
		worst = status > worst ? status : worst;
	}
	return worst;
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int start_one(const struct options *options, const struct process *process,
		     struct dialogue *dialogue)
{
	char title[TARGETS_TITLE_SIZE];
	int error;

	targets_title(process, dialogue, title);
	error = live_start(dialogue, &options->wish);
	if (error == 0 && dialogue_is_error(dialogue, PROTOCOL_ALREADY)) {
		live_say_who(dialogue, title);
		return COMMAND_BAD;
	}
	if (error != 0 || !dialogue_is_ok(dialogue))
		return targets_complain(dialogue, title, error);
	if (strcmp(dialogue_text(dialogue, "state"), "waits") == 0)
		say_line("%s will record from its first guest on", title);
	else
		say_line("%s records at %llu Hz", title,
			 (unsigned long long)dialogue_number(dialogue, "hz"));
	return COMMAND_OK;
}

int start_command(int argc, char **argv)
{
	static const struct option names[] = {
		{ "dir", required_argument, NULL, 'D' },
		{ "duration", required_argument, NULL, 'd' },
		{ "hz", required_argument, NULL, 'F' },
		{ "stacks", required_argument, NULL, 's' },
		{ 0 },
	};
	struct options options = { .command = "start" };
	struct processes processes = { 0 };
	int status = read_command(&options, &processes, "d:F:", names, argc, argv);

	if (status == COMMAND_OK)
		status = each(&options, &processes, start_one);
	processes_free(&processes);
	return status;
}

static int stop_one(const struct options *options, const struct process *process,
		    struct dialogue *dialogue)
{
	struct protocol_text request;
	char title[TARGETS_TITLE_SIZE];
	int error;

	(void)options;
	targets_title(process, dialogue, title);
	protocol_begin(&request, "stop");
	error = dialogue_ask(dialogue, &request);
	if (error == 0 && dialogue_is_error(dialogue, PROTOCOL_NOT_RUNNING)) {
		say_line("%s was not recording", title);
		return COMMAND_OK;
	}
	if (error != 0 || !dialogue_is_ok(dialogue))
		return targets_complain(dialogue, title, error);
	if (dialogue_text(dialogue, "output")[0] != '\0')
		say_line("%s -> %s", title, dialogue_text(dialogue, "output"));
	else
		say_line("%s rests; guestprof dump gets what it recorded", title);
	return COMMAND_OK;
}

int stop_command(int argc, char **argv)
{
	static const struct option names[] = { { "dir", required_argument, NULL, 'D' }, { 0 } };
	struct options options = { .command = "stop" };
	struct processes processes = { 0 };
	int status = read_command(&options, &processes, "", names, argc, argv);

	if (status == COMMAND_OK)
		status = each(&options, &processes, stop_one);
	processes_free(&processes);
	return status;
}

/* ---- dump ------------------------------------------------------------------------------------ */

static int save(const struct options *options, struct dialogue *dialogue, const char *title,
		const char *path)
{
	uint64_t covered_ns = dialogue_number(dialogue, "covered_ns");

	if (received_save(dialogue, path) != 0)
		return COMMAND_BAD;
	if (options->last_ns != 0 && covered_ns + 2000000000 < options->last_ns)
		say_line("%s: %.0f s are all that is kept", title, (double)covered_ns / 1e9);
	if (strcmp(path, "-") != 0)
		say_line("%s -> %s", title, path);
	return COMMAND_OK;
}

static int dump_one(const struct options *options, const struct process *process,
		    struct dialogue *dialogue)
{
	char title[TARGETS_TITLE_SIZE];
	char *name = NULL;
	int error, status;

	targets_title(process, dialogue, title);
	if (options->output == NULL)
		name = received_name(dialogue_text(dialogue, "program"),
				     dialogue_number(dialogue, "pid"));
	error = live_dump(dialogue, options->last_ns);
	if (error == 0 && dialogue_is_error(dialogue, PROTOCOL_NOTHING)) {
		say_line("%s: nothing has been recorded", title);
		status = COMMAND_NO_SAMPLES;
	} else if (error != 0 || !dialogue_is_ok(dialogue)) {
		status = targets_complain(dialogue, title, error);
	} else if (options->output == NULL && name == NULL) {
		say_line("dump: no free name here: use -o");
		status = COMMAND_BAD;
	} else {
		status = save(options, dialogue, title, name != NULL ? name : options->output);
	}
	free(name);
	return status;
}

int dump_command(int argc, char **argv)
{
	static const struct option names[] = {
		{ "dir", required_argument, NULL, 'D' },
		{ "last", required_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	struct options options = { .command = "dump" };
	struct processes processes = { 0 };
	int status = read_command(&options, &processes, "o:", names, argc, argv);

	if (status == COMMAND_OK && processes.count > 1 && options.output != NULL) {
		say_line("dump: %zu processes, and one file to write", processes.count);
		status = COMMAND_BAD;
	}
	if (status == COMMAND_OK)
		status = each(&options, &processes, dump_one);
	processes_free(&processes);
	return status;
}
