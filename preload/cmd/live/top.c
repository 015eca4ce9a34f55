/* SPDX-License-Identifier: MIT */
/*
 * top.c - `guestprof top`: who used the CPU in the last second, again and again. Threads: any.
 *
 * The process sends what it counted since the time before as a recording; that is summed up here as
 * any other, so both tables are those of the report.
 */
#include "preload/cmd/command.h"
#include "preload/cmd/live/live.h"
#include "preload/cmd/live/screen.h"
#include "preload/cmd/live/status.h"
#include "preload/cmd/report/proportion.h"
#include "preload/cmd/report/report_text.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_MS = 1000, IDLE_TURNS = 20 };

struct top {
	const struct process *process;
	struct dialogue *dialogue;
	uint64_t chunk, covered_ns; /* the next one; how long the last answer covers */
	bool is_terminal;
	unsigned int idle; /* turns without news */
	bool has_stopped;
	struct recording *recording; /* of the last answer */
	struct totals *totals;
};

/* ---- what is new ----------------------------------------------------------------------------- */

static int read_answer(struct top *top)
{
	struct recording *recording;
	uint8_t *bytes;
	size_t size;
	char *why = NULL;

	if (dialogue_read_all(top->dialogue, &bytes, &size) != 0)
		return -EIO;
	recording = recording_parse("the answer", bytes, size, &why);
	free(bytes);
	if (recording == NULL) {
		say_line("top: %s", why != NULL ? why : "out of memory");
		free(why);
		return -EIO;
	}
	totals_free(top->totals);
	recording_free(top->recording);
	top->recording = recording;
	top->totals = totals_of(recording);
	return top->totals != NULL ? 0 : -ENOMEM;
}

/* 0: something new; -EAGAIN: not yet; else it is over. */
static int refresh(struct top *top)
{
	struct protocol_text request;
	int error;

	protocol_begin(&request, "top");
	if (top->chunk != 0)
		protocol_add_number(&request, "chunk", top->chunk);
	error = dialogue_ask(top->dialogue, &request);
	if (error != 0)
		return error;
	if (dialogue_is_error(top->dialogue, PROTOCOL_NOTHING))
		return -EAGAIN;
	if (!dialogue_is_ok(top->dialogue))
		return -EPROTO;
	if (dialogue_number(top->dialogue, "covered_ns") == 0) {
		uint8_t *bytes;
		size_t size;

		if (dialogue_read_all(top->dialogue, &bytes, &size) == 0)
			free(bytes);
		/* Not even the first one has ended: it is the next. */
		top->chunk = dialogue_number(top->dialogue, "chunk");
		return -EAGAIN;
	}
	top->chunk = dialogue_number(top->dialogue, "chunk");
	top->covered_ns = dialogue_number(top->dialogue, "covered_ns");
	return read_answer(top);
}

/* ---- shown ----------------------------------------------------------------------------------- */

static void put_head(const struct top *top, FILE *page)
{
	char title[TARGETS_TITLE_SIZE], samples[SAY_COUNT_SIZE];
	pid_t pid = top->process->pid;

	snprintf(title, sizeof(title), "%.64s[%llu]", top->recording->program,
		 (unsigned long long)(pid != 0 ? (uint64_t)pid : top->recording->pid));
	report_cell(page, title, REPORT_COLUMNS, true);
	fprintf(page, "  %s samples in %.1f s\n", say_count(samples, top->totals->weight.samples),
		(double)top->covered_ns / 1e9);
}

/* A table of the report at PAGE's end, LINES of it at most. */
static void put_table(const struct report *report, FILE *page, size_t lines,
		      void (*table)(const struct report *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return;
	table(report, out);
	if (fclose(out) == 0)
		screen_add(page, text, lines);
	free(text);
}

/* 0, or negative errno: the terminal is gone. */
static int show_screen(const struct top *top)
{
	size_t lines = screen_lines(), half = lines / 2 > 2 ? lines / 2 : 2;
	struct report report = {
		.recording = top->recording,
		.totals = top->totals,
		.by = REPORT_BY_GROUP,
		.by_name = "group",
		.function_rows = UINT32_MAX,
		.group_rows = UINT32_MAX,
		.has_colours = report_wants_colours(),
	};
	char *text = NULL;
	size_t size;
	FILE *page = open_memstream(&text, &size);
	int error = -ENOMEM;

	if (page == NULL)
		return error;
	put_head(top, page);
	put_table(&report, page, half, report_groups);
	put_table(&report, page, lines, report_functions);
	if (fclose(page) == 0)
		error = screen_draw(text);
	free(text);
	return error;
}

/* One line for each group: what a program, or a log, can use. */
static int show_lines(const struct top *top)
{
	const struct totals *totals = top->totals;
	struct timespec now;
	char time[STATUS_TIME_SIZE], share[REPORT_SHARE_SIZE];

	clock_gettime(CLOCK_REALTIME, &now);
	status_time(time, (uint64_t)now.tv_sec * 1000000000u);
	if (totals->group_count == 0)
		printf("%s no samples\n", time);
	for (uint32_t i = 0; i < totals->group_count; i++) {
		const struct totals_row *row = &totals->groups[totals->group_order[i]];

		printf("%s ", time);
		report_cell(stdout, row->module, 23, false);
		printf(" %6.2f cores %8s %6llu samples ",
		       top->covered_ns != 0 ? (double)row->weight.cpu_ns / (double)top->covered_ns
					    : 0.0,
		       report_share(share, proportion_ppm(totals_measure(totals, &row->weight),
							  totals_measure(totals, &totals->weight))),
		       (unsigned long long)row->weight.samples);
		report_cell(stdout,
			    row->hottest != TOTALS_NONE ? totals->functions[row->hottest].name
							: "-",
			    40, true);
		putchar('\n');
	}
	return fflush(stdout) == 0 ? 0 : -errno;
}

static void pause_for(uint64_t milliseconds)
{
	const struct timespec time = { .tv_sec = (time_t)(milliseconds / 1000),
				       .tv_nsec = (long)(milliseconds % 1000) * 1000000 };

	nanosleep(&time, NULL);
}

/* Nothing came for five seconds: is there anything to come? */
static bool has_stopped(struct top *top)
{
	struct protocol_text request;

	if (++top->idle % IDLE_TURNS != 0)
		return false;
	protocol_begin(&request, "status");
	top->has_stopped = dialogue_ask(top->dialogue, &request) == 0 &&
			   strcmp(dialogue_text(top->dialogue, "state"), "rests") == 0;
	return top->has_stopped;
}

/* COUNT times; 0: until the process or the user ends it. */
static int watch(struct top *top, uint64_t count)
{
	int error = 0;

	/* The chunk that ends first may have begun before we came. */
	for (uint64_t shown = 0; count == 0 || shown < count;) {
		error = refresh(top);
		if (error == 0) {
			error = top->is_terminal ? show_screen(top) : show_lines(top);
			if (error != 0)
				break;
			shown++;
		} else if (error != -EAGAIN || has_stopped(top)) {
			break;
		}
		if (count == 0 || shown < count)
			pause_for(error == 0 ? PERIOD_MS : PERIOD_MS / 4);
	}
	return error == -EAGAIN ? 0 : error;
}

static int run(const struct process *process, uint64_t count)
{
	static struct dialogue dialogue;
	struct top top = {
		.process = process,
		.dialogue = &dialogue,
		.is_terminal = isatty(STDOUT_FILENO) == 1,
	};
	char title[TARGETS_TITLE_SIZE];
	int status = targets_reach(process, &dialogue), error;

	if (status != COMMAND_OK)
		return status;
	targets_title(process, &dialogue, title);
	if (strcmp(dialogue_text(&dialogue, "state"), "rests") == 0) {
		say_line("%s does not record: guestprof start", title);
		dialogue_close(&dialogue);
		return COMMAND_NO_SAMPLES;
	}
	screen_open(top.is_terminal);
	if (top.is_terminal) {
		report_cell(stdout, title, REPORT_COLUMNS, true);
		fputs(": nothing yet\n", stdout);
		fflush(stdout);
	}
	error = watch(&top, count);
	screen_close();
	if (top.has_stopped)
		say_line("%s does not record any more", title);
	if (error == -ECONNRESET || error == -EPIPE)
		say_line("%s has ended", title);
	else if (error != 0)
		status = targets_complain(&dialogue, title, error == -EPROTO ? 0 : error);
	totals_free(top.totals);
	recording_free(top.recording);
	dialogue_close(&dialogue);
	return status;
}

/* -n COUNT. */
static bool read_count(const char *text, uint64_t *count)
{
	char *end;

	*count = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && *count != 0)
		return true;
	say_line("top: -n takes a number, not %s", text);
	return false;
}

int top_command(int argc, char **argv)
{
	static const struct option names[] = { { "dir", required_argument, NULL, 'd' }, { 0 } };
	struct processes processes = { 0 };
	const char *directory = NULL;
	uint64_t count = 0;
	int option, status;

	while ((option = getopt_long(argc, argv, "n:", names, NULL)) != -1) {
		if (option == '?' || (option == 'n' && !read_count(optarg, &count)))
			return COMMAND_BAD;
		directory = option == 'd' ? optarg : directory;
	}
	status = targets_find(&processes, directory, argv + optind, (size_t)(argc - optind));
	if (status == COMMAND_OK && processes.count == 0) {
		say_line("top: no process is preloaded here: %s", targets_how_to_preload);
		status = COMMAND_UNREACHABLE;
	} else if (status == COMMAND_OK && processes.count > 1) {
		say_line("top: which? guestprof list names %zu processes", processes.count);
		status = COMMAND_BAD;
	}
	if (status == COMMAND_OK)
		status = run(&processes.rows[0], count);
	processes_free(&processes);
	return status;
}
