/* SPDX-License-Identifier: MIT */
/* report_head.c - the head of the report: what was recorded, how well, at what cost. Threads: any.
 */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"
#include "preload/read/rates.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* A line each; of more it is only said how many. */
enum { PROCESSES_MAX = 8, CHANGES_MAX = 8 };

/* Cut to the width, and escaped. */
static void put_line(FILE *out, const char *text)
{
	report_cell(out, text, REPORT_COLUMNS, true);
	fputc('\n', out);
}

static void describe_time(char *text, size_t size, uint64_t time_unix_ns)
{
	time_t seconds = (time_t)(time_unix_ns / 1000000000);
	struct tm parts;

	text[0] = '\0';
	if (time_unix_ns != 0 && gmtime_r(&seconds, &parts) != NULL)
		strftime(text, size, "  %Y-%m-%d %H:%M:%S UTC", &parts);
}

static void put_process(const struct recording_process *process, FILE *out)
{
	char line[512], when[64];
	size_t used;

	describe_time(when, sizeof(when), process->time_unix_ns);
	if (process->program[0] != '\0')
		snprintf(line, sizeof(line), "%.100s[%" PRIu64 "]%s, %.2f s", process->program,
			 process->pid, when, (double)process->duration_ns / 1e9);
	else
		snprintf(line, sizeof(line), "%.200s%s, %.2f s", process->path, when,
			 (double)process->duration_ns / 1e9);
	for (size_t i = 0; i < process->engine_count; i++) {
		used = strlen(line);
		snprintf(line + used, sizeof(line) - used, ", %.60s", process->engines[i]);
	}
	put_line(out, line);
	if (process->is_torn) {
		snprintf(line, sizeof(line),
			 "  torn: whole up to byte %" PRIu64 "; what follows is left out",
			 process->torn_at);
		put_line(out, line);
	}
	if (process->is_ours && !process->has_ended)
		put_line(out, "  not ended: the process was killed or still runs; its last second "
			      "may be missing");
}

static void put_processes(const struct recording *recording, FILE *out)
{
	size_t count = recording->process_count;

	for (size_t i = 0; i < count && i < PROCESSES_MAX; i++)
		put_process(&recording->processes[i], out);
	if (count > PROCESSES_MAX)
		fprintf(out, "and %zu more processes\n", count - PROCESSES_MAX);
}

static void put_filter(const struct recording *recording, FILE *out)
{
	char line[512];

	if (recording->filter[0] == '\0')
		return;
	snprintf(line, sizeof(line), "  only      %.400s", recording->filter);
	put_line(out, line);
}

static void put_clock(const struct recording *recording, FILE *out)
{
	char line[512];
	size_t used;

	snprintf(line, sizeof(line), "  clock     %.60s",
		 recording->clock[0] != '\0'	? recording->clock
		 : recording->process_count > 1 ? "several"
						: "unknown");
	used = strlen(line);
	if (recording->clock_why[0] != '\0')
		snprintf(line + used, sizeof(line) - used, " (%.120s)", recording->clock_why);
	used = strlen(line);
	if (recording->stacks[0] != '\0')
		snprintf(line + used, sizeof(line) - used, "; stacks: %.20s", recording->stacks);
	put_line(out, line);
}

/* Asked for and delivered: the kernel's tick, or a late signal, may give less. */
static void put_rate(const struct recording *recording, const struct totals *totals, FILE *out)
{
	uint64_t merged = 0;
	char line[256];
	size_t used;

	snprintf(line, sizeof(line), "  rate      %" PRIu64 " Hz asked for",
		 recording->requested_hz);
	used = strlen(line);
	if (totals->signals != 0 && totals->process_cpu_ns != 0)
		snprintf(line + used, sizeof(line) - used,
			 ", %.1f Hz of the process's CPU time delivered",
			 (double)totals->signals * 1e9 / (double)totals->process_cpu_ns);
	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strcmp(totals->stats[i].name, "overruns") == 0)
			merged = totals->stats[i].value;
	}
	used = strlen(line);
	if (merged != 0)
		snprintf(line + used, sizeof(line) - used, ", %" PRIu64 " ticks merged", merged);
	put_line(out, line);
}

/* When the budget changed the rate. */
static void put_changes(const struct recording *recording, FILE *out)
{
	char line[RATES_LINE_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];
		bool is_one_of_many = recording->process_count > 1;

		if (is_one_of_many && process->rate_count != 0 && count < CHANGES_MAX) {
			fprintf(out, "            ");
			report_cell(out, process->program, REPORT_COLUMNS - 40, true);
			fprintf(out, "[%" PRIu64 "]:\n", process->pid);
		}
		for (size_t r = 0; r < process->rate_count; r++) {
			if (count++ < CHANGES_MAX)
				report_wrap(out, rates_describe(line, process, &process->rates[r]),
					    12);
		}
	}
	if (count > CHANGES_MAX)
		fprintf(out, "            and %zu more changes of the rate\n", count - CHANGES_MAX);
}

static void put_samples(const struct totals *totals, FILE *out)
{
	char line[256], samples[SAY_COUNT_SIZE];
	char unnamed[REPORT_SHARE_SIZE], truncated[REPORT_SHARE_SIZE];

	snprintf(
		line, sizeof(line),
		"  samples   %s in %.2f s of CPU time, unnamed %s, truncated %s",
		say_count(samples, totals->weight.samples), (double)totals->weight.cpu_ns / 1e9,
		report_share(unnamed, proportion_ppm(totals->unnamed, totals->weight.samples)),
		report_share(truncated, proportion_ppm(totals->truncated, totals->weight.samples)));
	put_line(out, line);
}

/* Nothing where the host itself says which instance it enters: then all of it is exact. */
static void put_certainty(const struct totals *totals, FILE *out)
{
	char line[256], exact[REPORT_SHARE_SIZE], likely[REPORT_SHARE_SIZE],
		rest[REPORT_SHARE_SIZE];
	uint64_t counts[TOTALS_CERTAINTIES] = { 0 }, all = 0;

	for (uint32_t i = 0; i < totals->group_count; i++)
		for (int k = 0; k < TOTALS_CERTAINTIES; k++)
			counts[k] += totals->groups[i].samples_by_certainty[k];
	for (int k = 0; k < TOTALS_CERTAINTIES; k++)
		all += counts[k];
	if (all == counts[TOTALS_EXACT])
		return;
	snprintf(line, sizeof(line), "  instance  exact %s, likely %s, module only %s",
		 report_share(exact, proportion_ppm(counts[TOTALS_EXACT], all)),
		 report_share(likely, proportion_ppm(counts[TOTALS_LIKELY], all)),
		 report_share(rest, proportion_ppm(counts[TOTALS_MODULE_ONLY], all)));
	put_line(out, line);
}

static void put_losses(const struct totals *totals, FILE *out)
{
	char line[512], lost[SAY_COUNT_SIZE], share[REPORT_SHARE_SIZE];
	const char *separator = ": ";

	snprintf(line, sizeof(line), "  lost      %s (%s)", say_count(lost, totals->lost),
		 report_share(share,
			      proportion_ppm(totals->lost, totals->lost + totals->weight.samples)));
	for (uint32_t i = 0; i < totals->stat_count; i++) {
		size_t used = strlen(line);

		if (strncmp(totals->stats[i].name, "lost_", 5) != 0 || totals->stats[i].value == 0)
			continue;
		snprintf(line + used, sizeof(line) - used, "%s%.30s %" PRIu64, separator,
			 totals->stats[i].name + 5, totals->stats[i].value);
		separator = ", ";
	}
	put_line(out, line);
}

/* Of one signal, over all processes that know it; 0: none does. */
static uint64_t delivery_ns(const struct recording *recording)
{
	uint64_t sum = 0, count = 0;

	for (size_t i = 0; i < recording->process_count; i++) {
		/* No signal takes a second: what is more than that is nonsense. */
		if (recording->processes[i].delivery_ns - 1 >= 1000000000)
			continue;
		sum += recording->processes[i].delivery_ns;
		count++;
	}
	return count != 0 ? sum / count : 0;
}

static void put_cost(const struct recording *recording, const struct totals *totals, FILE *out)
{
	uint64_t signal_ns = delivery_ns(recording);
	char line[256], share[REPORT_SHARE_SIZE];
	size_t used;

	if (totals->process_cpu_ns == 0)
		return;
	snprintf(line, sizeof(line), "  own cost  %s of the process's CPU time (%.3f s of %.2f s)",
		 report_share(share, proportion_ppm(totals->own_cpu_ns, totals->process_cpu_ns)),
		 (double)totals->own_cpu_ns / 1e9, (double)totals->process_cpu_ns / 1e9);
	used = strlen(line);
	if (signal_ns != 0)
		snprintf(line + used, sizeof(line) - used, "; some %s more for the kernel's part",
			 report_share(share, proportion_ppm(totals->signals * signal_ns,
							    totals->process_cpu_ns)));
	put_line(out, line);
}

static void put_waits(const struct totals *totals, FILE *out)
{
	char line[256], looks[SAY_COUNT_SIZE];
	uint64_t count = 0, refused = 0;

	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strcmp(totals->stats[i].name, "waits") == 0)
			count = totals->stats[i].value;
		if (strcmp(totals->stats[i].name, "waits_refused") == 0)
			refused = totals->stats[i].value;
	}
	if (totals->weight.wall_ns == 0 && count == 0 && refused == 0)
		return;
	snprintf(line, sizeof(line), "  waiting   %.2f s; threads were seen waiting in %s looks",
		 (double)totals->weight.wall_ns / 1e9, say_count(looks, count));
	put_line(out, line);
	if (refused != 0)
		put_line(out,
			 "            refused by the kernel (PR_SET_DUMPABLE is 0): not all waits "
			 "are seen");
}

void report_head(const struct report *report, FILE *out)
{
	const struct recording *recording = report->recording;

	put_processes(recording, out);
	put_filter(recording, out);
	if (recording->is_ours) {
		put_clock(recording, out);
		put_rate(recording, report->totals, out);
		put_changes(recording, out);
	}
	put_samples(report->totals, out);
	put_certainty(report->totals, out);
	put_waits(report->totals, out);
	if (recording->is_ours)
		put_losses(report->totals, out);
	put_cost(recording, report->totals, out);
}
