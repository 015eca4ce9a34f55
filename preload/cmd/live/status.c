/* SPDX-License-Identifier: MIT */
/* status.c - `guestprof status`. Threads: any. */
#include "preload/cmd/live/status.h"

#include "preload/cmd/command.h"
#include "preload/cmd/live/targets.h"
#include "preload/cmd/report/report_text.h"
#include "preload/cmd/say.h"
#include "preload/cmd/schema.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000u

const char *status_state(const struct dialogue *dialogue)
{
	const char *state = dialogue_text(dialogue, "state");

	if (strcmp(state, "runs") == 0)
		return "records";
	return strcmp(state, "waits") == 0 ? "waits for a guest" : "rests";
}

const char *status_time(char text[STATUS_TIME_SIZE], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(text, STATUS_TIME_SIZE, "%Y-%m-%d %H:%M:%S UTC", &parts);
	return text;
}

/* ---- for programs ---------------------------------------------------------------------------- */

/* A library of an earlier version does not tell. */
static void write_told(struct json *json, const struct dialogue *dialogue, const char *key)
{
	if (dialogue_text(dialogue, key)[0] != '\0')
		schema_number(json, key, dialogue_number(dialogue, key));
	else
		json_null(json, key);
}

static void write_known(struct json *json, const struct dialogue *dialogue)
{
	static const char *const texts[] = { "state", "stacks", "clock", "by", "output" };
	static const char *const numbers[] = { "samples", "lost", "modules", "instances",
					       "kept_ns" };
	static const char *const costs[] = { "hz_divisor", "cost_ppm", "budget_ppm",
					     "delivery_ns" };

	json_bool(json, "has_guest", dialogue_number(dialogue, "has_guest") != 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		schema_text(json, texts[i], dialogue_text(dialogue, texts[i]));
	schema_number(json, "hz", dialogue_number(dialogue, "hz"));
	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		write_told(json, dialogue, costs[i]);
	schema_known(json, "since_unix_ns", dialogue_number(dialogue, "since_unix_ns"));
	schema_known(json, "duration_ns", dialogue_number(dialogue, "duration_ns"));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		schema_number(json, numbers[i], dialogue_number(dialogue, numbers[i]));
	schema_text(json, "library", dialogue_text(dialogue, "library"));
}

static void write_unknown(struct json *json)
{
	static const char *const keys[] = {
		"has_guest",  "state",	  "stacks",	   "clock",	  "by",
		"output",     "hz",	  "since_unix_ns", "duration_ns", "samples",
		"lost",	      "modules",  "instances",	   "kept_ns",	  "library",
		"hz_divisor", "cost_ppm", "budget_ppm",	   "delivery_ns",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_null(json, keys[i]);
}

void status_write(struct json *json, const struct process *process, const struct dialogue *dialogue)
{
	uint64_t pid = (uint64_t)process->pid;

	if (pid == 0 && dialogue != NULL)
		pid = dialogue_number(dialogue, "pid");
	schema_known(json, "pid", pid);
	schema_text(json, "program",
		    dialogue != NULL ? dialogue_text(dialogue, "program") : process->name);
	schema_text(json, "socket", process->socket);
	if (dialogue != NULL)
		write_known(json, dialogue);
	else
		write_unknown(json);
}

static int show_json(const struct processes *processes)
{
	struct output *output = output_open("-", false);
	struct json json = { .output = output };
	static struct dialogue dialogue;
	int status = COMMAND_OK;

	if (output == NULL)
		return COMMAND_BAD;
	schema_begin(&json, "status");
	json_begin_array(&json, "processes");
	for (size_t i = 0; i < processes->count; i++) {
		int reached = targets_reach(&processes->rows[i], &dialogue);

		json_begin_object(&json, NULL);
		status_write(&json, &processes->rows[i], reached == COMMAND_OK ? &dialogue : NULL);
		json_end_object(&json);
		if (reached == COMMAND_OK)
			dialogue_close(&dialogue);
		else
			status = reached;
	}
	json_end_array(&json);
	json_end_object(&json);
	output_text(output, "\n");
	return output_close(output, !json.failed) == 0 ? status : COMMAND_BAD;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void show_head(const struct process *process, const struct dialogue *dialogue)
{
	uint64_t since = dialogue_number(dialogue, "since_unix_ns");
	char title[TARGETS_TITLE_SIZE], time[STATUS_TIME_SIZE];

	report_cell(stdout, targets_title(process, dialogue, title), REPORT_COLUMNS, true);
	printf("  %s", status_state(dialogue));
	if (since != 0) {
		printf(" since %s, started by ", status_time(time, since));
		report_cell(stdout, dialogue_text(dialogue, "by"), REPORT_COLUMNS, true);
	}
	putchar('\n');
}

/* The rate of now, and what it costs. */
static void show_rate(const struct dialogue *dialogue)
{
	uint64_t hz = dialogue_number(dialogue, "hz");
	uint64_t divisor = dialogue_number(dialogue, "hz_divisor");
	uint64_t budget_ppm = dialogue_number(dialogue, "budget_ppm");
	const char *clock = dialogue_text(dialogue, "clock");

	printf("  rate      ");
	if (divisor > 1)
		printf("%.4g of ", (double)hz / (double)divisor);
	printf("%llu Hz%s", (unsigned long long)hz, clock[0] != '\0' ? ", " : "");
	report_cell(stdout, clock, REPORT_COLUMNS, true);
	fputs("; stacks: ", stdout);
	report_cell(stdout, dialogue_text(dialogue, "stacks"), REPORT_COLUMNS, true);
	if (dialogue_text(dialogue, "cost_ppm")[0] == '\0')
		return;
	printf("\n  own cost  %.2g %% of the process's CPU time lately, each signal %.1f us of it",
	       (double)dialogue_number(dialogue, "cost_ppm") / 1e4,
	       (double)dialogue_number(dialogue, "delivery_ns") / 1e3);
	if (budget_ppm != 0)
		printf("; GUESTPROF_BUDGET=%.4g", (double)budget_ppm / 1e4);
}

static void show_one(const struct process *process, const struct dialogue *dialogue)
{
	char samples[SAY_COUNT_SIZE], lost[SAY_COUNT_SIZE];
	const char *output = dialogue_text(dialogue, "output");

	show_head(process, dialogue);
	show_rate(dialogue);
	printf("\n  samples   %s, %s lost; %llu modules, %llu instances\n",
	       say_count(samples, dialogue_number(dialogue, "samples")),
	       say_count(lost, dialogue_number(dialogue, "lost")),
	       (unsigned long long)dialogue_number(dialogue, "modules"),
	       (unsigned long long)dialogue_number(dialogue, "instances"));
	fputs("  file      ", stdout);
	report_cell(stdout, output[0] != '\0' ? output : "none yet", SIZE_MAX, true);
	printf("\n  in memory the last %.0f s: guestprof dump --last\n",
	       (double)dialogue_number(dialogue, "kept_ns") / SECOND_NS);
}

static int show_text(const struct processes *processes)
{
	static struct dialogue dialogue;
	int status = COMMAND_OK;

	for (size_t i = 0; i < processes->count; i++) {
		int reached = targets_reach(&processes->rows[i], &dialogue);

		if (reached != COMMAND_OK) {
			status = reached;
			continue;
		}
		show_one(&processes->rows[i], &dialogue);
		dialogue_close(&dialogue);
	}
	return fflush(stdout) == 0 ? status : COMMAND_BAD;
}

int status_command(int argc, char **argv)
{
	static const struct option names[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct processes processes = { 0 };
	const char *directory = NULL;
	bool is_json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == '?')
			return COMMAND_BAD;
		is_json = is_json || option == 'j';
		directory = option == 'd' ? optarg : directory;
	}
	status = targets_find(&processes, directory, argv + optind, (size_t)(argc - optind));
	if (status == COMMAND_OK && processes.count == 0 && !is_json)
		say_line("no process is preloaded here: %s", targets_how_to_preload);
	if (status != COMMAND_BAD && (processes.count != 0 || is_json)) {
		int shown = is_json ? show_json(&processes) : show_text(&processes);

		status = shown != COMMAND_OK ? shown : status;
	}
	processes_free(&processes);
	return status;
}
