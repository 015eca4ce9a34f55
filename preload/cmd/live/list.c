/* SPDX-License-Identifier: MIT */
/* list.c - `guestprof list`: processes that guestprof is in, one line each. Threads: any. */
#include "preload/cmd/command.h"
#include "preload/cmd/live/status.h"
#include "preload/cmd/live/targets.h"
#include "preload/cmd/report/report_text.h"
#include "preload/cmd/say.h"
#include "preload/cmd/schema.h"

#include <errno.h>
#include <getopt.h>

/* 100 columns, and the socket's path behind them. */
enum { PROGRAM_COLUMNS = 20, STATE_COLUMNS = 18, BY_COLUMNS = 28 };

/*
 * The status of PROCESS, if it has a socket that answers; nothing is said when not. A socket that
 * is another's, it has not: PROCESS, a copy, then has none.
 */
static bool reach(struct process *process, struct dialogue *dialogue)
{
	struct protocol_text request;

	if (process->socket == NULL || dialogue_open(dialogue, process->socket) != 0)
		return false;
	protocol_begin(&request, "status");
	if (!targets_is_it(process, dialogue))
		process->socket = NULL;
	else if (dialogue_ask(dialogue, &request) == 0 && dialogue_is_ok(dialogue))
		return true;
	dialogue_close(dialogue);
	return false;
}

/* A file that a killed process left: only who knows its pid can tell more of it. */
static bool is_leftover(const struct process *process, bool is_reached)
{
	return !is_reached && process->pid == 0;
}

static void show_row(const struct process *process, const struct dialogue *dialogue)
{
	uint64_t pid = (uint64_t)process->pid;

	if (pid == 0)
		pid = dialogue_number(dialogue, "pid");
	printf("%8llu ", (unsigned long long)pid);
	report_cell(stdout, dialogue != NULL ? dialogue_text(dialogue, "program") : process->name,
		    PROGRAM_COLUMNS, false);
	putchar(' ');
	if (dialogue == NULL) {
		printf("%s\n", process->socket != NULL ? "does not answer" : "no socket");
		return;
	}
	report_cell(stdout, status_state(dialogue), STATE_COLUMNS, false);
	printf(" %5llu ", (unsigned long long)dialogue_number(dialogue, "hz"));
	report_cell(stdout, dialogue_text(dialogue, "by"), BY_COLUMNS, false);
	putchar(' ');
	report_cell(stdout, process->socket, SIZE_MAX, true);
	putchar('\n');
}

static int show_text(const struct processes *processes)
{
	static struct dialogue dialogue;
	size_t shown = 0;

	for (size_t i = 0; i < processes->count; i++) {
		struct process process = processes->rows[i];
		bool is_reached = reach(&process, &dialogue);

		if (is_leftover(&process, is_reached))
			continue;
		if (shown++ == 0)
			printf("%8s %-*s %-*s %5s %-*s %s\n", "PID", PROGRAM_COLUMNS, "PROGRAM",
			       STATE_COLUMNS, "STATE", "HZ", BY_COLUMNS, "STARTED BY", "SOCKET");
		show_row(&process, is_reached ? &dialogue : NULL);
		if (is_reached)
			dialogue_close(&dialogue);
	}
	if (shown == 0)
		say_line("no process is preloaded here: %s", targets_how_to_preload);
	return fflush(stdout) == 0 ? COMMAND_OK : COMMAND_BAD;
}

static int show_json(const struct processes *processes)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };
	static struct dialogue dialogue;

	if (output == NULL)
		return COMMAND_BAD;
	schema_begin(&json, "list");
	json_begin_array(&json, "processes");
	for (size_t i = 0; i < processes->count; i++) {
		struct process process = processes->rows[i];
		bool is_reached = reach(&process, &dialogue);

		if (is_leftover(&process, is_reached))
			continue;
		json_begin_object(&json, NULL);
		status_write(&json, &process, is_reached ? &dialogue : NULL);
		json_end_object(&json);
		if (is_reached)
			dialogue_close(&dialogue);
	}
	json_end_array(&json);
	json_end_object(&json);
	output_text(output, "\n");
	return output_close(output, !json.failed) == 0 ? COMMAND_OK : COMMAND_BAD;
}

int list_command(int argc, char **argv)
{
	static const struct option names[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct processes processes = { 0 };
	bool is_json = false;
	int option, status = COMMAND_OK;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == '?')
			return COMMAND_BAD;
		is_json = is_json || option == 'j';
		if (option == 'd')
			status = targets_find(&processes, optarg, NULL, 0);
		if (status != COMMAND_OK)
			break;
	}
	/* Besides those in directories: all that can be found. */
	if (status == COMMAND_OK)
		status = targets_find(&processes, NULL, argv + optind, (size_t)(argc - optind));
	if (status != COMMAND_BAD)
		status = is_json ? show_json(&processes) : show_text(&processes);
	processes_free(&processes);
	return status;
}
