/* SPDX-License-Identifier: MIT */
/* report_warnings.c - what limits a recording, in words, and what to do about it. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* In millionths: of losses, unnamed and truncated samples that are worth a line; of delivered. */
enum { LOST_PPM = 1000, BAD_PPM = 10000, DELIVERED_PPM = 900000 };
/* With fewer the 95 % interval of a share of 50 % is 10 points wide. */
enum { ENOUGH_SAMPLES = 400 };

struct list {
	const struct report *report;
	struct report_warning *rows;
	size_t count;
};

static void add(struct list *list, const char *id, const char *cure, const char *format, ...)
	PRINTF_LIKE(4, 5);

static void add(struct list *list, const char *id, const char *cure, const char *format, ...)
{
	struct report_warning *row;
	va_list args;

	if (list->count == REPORT_WARNINGS_MAX)
		return;
	row = &list->rows[list->count++];
	row->id = id;
	row->cure = cure;
	va_start(args, format);
	vsnprintf(row->text, sizeof(row->text), format, args);
	va_end(args);
}

static uint64_t counter(const struct totals *totals, const char *name)
{
	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strcmp(totals->stats[i].name, name) == 0)
			return totals->stats[i].value;
	}
	return 0;
}

/* ---- losses, and other counters of the host ---------------------------------------------------
 */

#define MORE_MEMORY "GUESTPROF_MEMORY=256M guestprof record -- CMD"
#define SLOWER "guestprof record -F 100 -- CMD"

/* %s: the count. LEAST_PPM of all samples; 0: any. */
static const struct rule {
	const char *counter, *text, *cure;
	uint32_t least_ppm;
} rules[] = {
	{ "lost_ring_full", "samples lost: %s; a thread's ring was full",
	  MORE_MEMORY ", or fewer samples: " SLOWER, LOST_PPM },
	{ "lost_no_ring", "samples lost: %s; no ring was free for their thread", MORE_MEMORY,
	  LOST_PPM },
	{ "lost_nested", "samples lost: %s; the clock ticked inside our own handler", SLOWER,
	  LOST_PPM },
	{ "lost_no_thread", "samples lost: %s; their thread was not known yet, or no more", SLOWER,
	  LOST_PPM },
	{ "lost_stack", "samples lost: %s; their stack could not be read",
	  "guestprof record --stacks guest -- CMD", LOST_PPM },
	{ "lost_memory", "samples lost: %s; GUESTPROF_MEMORY is used up", MORE_MEMORY, LOST_PPM },
	{ "lost_write", "samples lost: %s; the recording could not be written",
	  "guestprof record -o /ANOTHER/DISK/FILE.pb.gz -- CMD", LOST_PPM },
	{ "lost_fork", "samples lost: %s; they were taken just before a fork", SLOWER, LOST_PPM },
	{ "no_guest_found", "stacks left out: %s; no guest frame was found on them",
	  "GUESTPROF_UNWINDER=own guestprof record -- CMD", BAD_PPM },
	{ "modules_refused",
	  "modules refused: %s; their engine has guest debugging on, or there were too many",
	  "set Config::guest_debug(false); then guestprof record", 0 },
	{ "modules_broken", "modules not understood: %s; their bytes or image were damaged",
	  "guestprof id FILE.wasm says what is wrong with a file", 0 },
	{ "unlisted", "samples not shown: %s; their modules are not in GUESTPROF_MODULES",
	  "env -u GUESTPROF_MODULES guestprof record -- CMD", 0 },
	{ "clock_failed", "threads not sampled: %s; no clock could be made for them",
	  "ulimit -i and ulimit -n bound signals and descriptors: raise them, then guestprof "
	  "record",
	  0 },
	{ "waits_refused", "looks at waiting threads refused by the kernel: %s",
	  "the host is not dumpable (PR_SET_DUMPABLE is 0): run it without that, or as root", 0 },
	{ "parked_too_many", "parked calls not timed: %s; there were too many at once", MORE_MEMORY,
	  0 },
	{ "entries_too_deep", "entries into a guest nested too deep to tell their instance: %s",
	  "guestprof report --by module counts them too", 0 },
	{ "real_missing", "calls of the engine without a real function to go to: %s",
	  "LD_DEBUG=bindings guestprof record -- CMD shows which library they were bound to", 0 },
};

static void warn_of_counters(struct list *list)
{
	const struct totals *totals = list->report->totals;
	uint64_t all = totals->weight.samples + totals->lost;
	char count[SAY_COUNT_SIZE], text[256];

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		uint64_t value = counter(totals, rules[i].counter);
		const char *number = strstr(rules[i].text, "%s");

		if (value == 0 || proportion_ppm(value, all) < rules[i].least_ppm)
			continue;
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(number - rules[i].text),
			 rules[i].text, say_count(count, value), number + 2);
		if (rules[i].least_ppm != 0)
			add(list, rules[i].counter, rules[i].cure, "%.1f %%: %s",
			    (double)proportion_ppm(value, all) / 10000, text);
		else
			add(list, rules[i].counter, rules[i].cure, "%s", text);
	}
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* Half of the 95 % interval of a share of one half. */
static uint64_t half_width_ppm(uint64_t samples)
{
	uint64_t low, high;

	proportion_interval(500000, samples, &low, &high);
	return (high - low) / 2;
}

static void warn_of_budget(struct list *list)
{
	const struct recording *recording = list->report->recording;
	uint64_t most = 1;

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];

		for (size_t r = 0; r < process->rate_count; r++)
			most = process->rates[r].to > most ? process->rates[r].to : most;
	}
	if (most > 1)
		add(list, "budget",
		    "GUESTPROF_BUDGET=5 guestprof record -- CMD, or fewer samples from the start: "
		    "guestprof record -F 50 -- CMD",
		    "sampling cost more than GUESTPROF_BUDGET allows: at times there were %" PRIu64
		    " times fewer samples, each of which counts for as many. Sums are right, "
		    "shares less certain",
		    most);
}

static void warn_of_clock(struct list *list)
{
	const struct recording *first = list->report->recording;
	const struct totals *totals = list->report->totals;
	uint64_t merged = counter(totals, "overruns"), ticks = totals->signals + merged;

	if (first->clock_why[0] != '\0')
		add(list, "clock_fallback",
		    "sysctl kernel.perf_event_paranoid=2, and in a container allow "
		    "perf_event_open; "
		    "else guestprof record -F 250 -- CMD",
		    "the clock is a %.60s, which ticks 250 times a second at most: %.120s",
		    first->clock, first->clock_why);
	if (ticks != 0 && proportion_ppm(totals->signals, ticks) < DELIVERED_PPM)
		add(list, "low_rate", "guestprof record -F 250 -- CMD asks for what it can deliver",
		    "%.0f %% of the clock's ticks were delivered, the others merged into them: "
		    "sums are right, stacks are fewer",
		    (double)proportion_ppm(totals->signals, ticks) / 10000);
	/* A thread blocks all signals while libc starts it, so that some did means nothing. */
	if (counter(totals, "threads_blocking") > counter(totals, "threads") / 2 + 1)
		add(list, "threads_blocking",
		    "guestprof record --wall -- CMD looks at such threads while they wait",
		    "%" PRIu64 " threads blocked our signal, and were not sampled while they did",
		    counter(totals, "threads_blocking"));
	if (totals->weight.samples != 0 && totals->weight.samples < ENOUGH_SAMPLES)
		add(list, "few_samples", "guestprof record -F 1000 -- CMD, or let it run longer",
		    "%" PRIu64 " samples are few: a share of 50 %% is uncertain by %.0f points",
		    totals->weight.samples, (double)half_width_ppm(totals->weight.samples) / 1e4);
}

/* ---- what samples show ----------------------------------------------------------------------- */

/* Share of self weight of those that IS_MEANT says. */
static uint64_t self_ppm(const struct totals *totals,
			 bool (*is_meant)(const struct totals_function *))
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < totals->function_count; i++) {
		if (is_meant(&totals->functions[i]))
			sum += totals_measure(totals, &totals->functions[i].self);
	}
	return proportion_ppm(sum, totals_measure(totals, &totals->weight));
}

static bool is_jit(const struct totals_function *function)
{
	return function->kind == FRAME_JIT;
}

static bool is_interpreter(const struct totals_function *function)
{
	return function->kind == FRAME_INTERPRETER;
}

static bool is_numbered(const struct totals_function *function)
{
	return strstr(function->name, "!wasm-function[") != NULL;
}

static bool has_lines(const struct totals *totals)
{
	for (uint32_t i = 0; i < totals->function_count; i++) {
		if (totals->functions[i].line > 0 && totals->functions[i].file[0] != '\0')
			return true;
	}
	return false;
}

static void warn_of_names(struct list *list)
{
	const struct totals *totals = list->report->totals;
	uint64_t samples = totals->weight.samples;
	uint64_t unnamed = proportion_ppm(totals->unnamed, samples);
	uint64_t truncated = proportion_ppm(totals->truncated, samples);
	uint64_t numbered = self_ppm(totals, is_numbered), jit = self_ppm(totals, is_jit);
	uint64_t interpreter = self_ppm(totals, is_interpreter);

	if (numbered >= BAD_PPM)
		add(list, "no_names",
		    "guestprof symbolize --wasm FILE.debug.wasm -o NAMED.pb.gz FILE",
		    "%.1f %% is in functions that have numbers only: their modules carry no names",
		    (double)numbered / 10000);
	else if (unnamed >= BAD_PPM)
		add(list, "unnamed",
		    "guestprof symbolize --wasm FILE.debug.wasm -o NAMED.pb.gz FILE",
		    "%.1f %% of the samples end in code without a name", (double)unnamed / 10000);
	if (interpreter != 0)
		add(list, "interpreted",
		    "let the engine compile for this CPU (its JIT or AOT, no pulley target); then "
		    "guestprof record",
		    "%.1f %% is in an interpreter, whose guests leave no frames on the stack: "
		    "(interpreter) is the time of an instance from entry to exit, whichever its "
		    "function",
		    (double)interpreter / 10000);
	if (jit >= BAD_PPM)
		add(list, "jit", "guestprof record --stacks full -- CMD shows who calls it",
		    "%.1f %% is in generated code that no engine described", (double)jit / 10000);
	if (truncated >= BAD_PPM)
		add(list, "truncated",
		    "guestprof record --stacks guest -- CMD needs the least of a stack",
		    "%.1f %% of the stacks were cut: their callers are missing",
		    (double)truncated / 10000);
	if (list->report->has_lines && samples != 0 && !has_lines(totals))
		add(list, "no_lines", "guestprof report --lines --wasm FILE.debug.wasm FILE",
		    "no source lines: no module carries debug information");
}

size_t report_warnings(const struct report *report, struct report_warning rows[REPORT_WARNINGS_MAX])
{
	struct list list = { .report = report, .rows = rows };

	if (report->recording->is_ours)
		warn_of_counters(&list);
	warn_of_clock(&list);
	warn_of_budget(&list);
	warn_of_names(&list);
	return list.count;
}

void report_warn(const struct report *report, FILE *out)
{
	struct report_warning list[REPORT_WARNINGS_MAX];
	size_t count = report_warnings(report, list);

	if (count != 0)
		report_title(report, out, count == 1 ? "WARNING" : "WARNINGS");
	for (size_t i = 0; i < count; i++) {
		report_wrap(out, list[i].text, 2);
		report_wrap(out, list[i].cure, 6);
	}
}
