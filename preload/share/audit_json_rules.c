/* SPDX-License-Identifier: MIT */
/* audit_json_rules.c - what exports say of the whole process, by key or label. Threads: any. */
#include "preload/share/audit_json.h"
#include "preload/share/audit_texts.h"
#include "preload/share/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Keys of facts of the process, in the exports of today (firefox.c, html_data.c, speedscope.c,
 * cmd/report_json.c) and in what people add to a file by hand; and what stands for none of them.
 */
static const struct fact {
	const char *key, *none[3]; /* besides "", 0 and null */
} facts[] = {
	{ "pid", { NULL } },
	{ "tid", { NULL } },
	{ "program", { NULL } },
	{ "processName", { "host", "profile", NULL } },
	{ "product", { "guestprof: profile", NULL } },
	{ "time_unix_ns", { NULL } },
	{ "time_ms", { NULL } },
	{ "startTime", { NULL } },
	{ "clock", { NULL } },
	{ "clock_why", { NULL } },
	{ "engines", { NULL } },
	{ "engine", { NULL } },
	{ "filter", { NULL } },
	{ "own_cpu_ns", { NULL } },
	{ "process_cpu_ns", { NULL } },
	{ "signals", { NULL } },
	{ "delivery_ns", { NULL } },
	{ "cost_ppm", { NULL } },
	{ "budget_ppm", { NULL } },
	{ "thread_name", { NULL } },
	{ "thread_id", { NULL } },
	{ "thread", { NULL } },
	{ "descriptor", { NULL } },
	{ "host", { NULL } }, /* a number of samples in "states": see is_count() */
	{ "hostname", { NULL } },
	{ "comment", { NULL } },
	{ "comments", { NULL } },
	{ "command", { NULL } },
	{ "arguments", { NULL } },
	{ "environment", { NULL } },
	/* Firefox's "Profile info" */
	{ "Clock", { NULL } },
	{ "Why not a better clock", { NULL } },
	{ "Rate", { NULL } },
	{ "Engine", { NULL } },
	{ "Program", { NULL } },
	{ "Own CPU time in microseconds", { NULL } },
	{ "Own CPU time", { NULL } },
};

/* Counters that a shared file has (shared_encode.c). */
static const char *const counters[] = { "samples", "lost_memory", "truncated", "unnamed" };

static const struct fact *find_fact(const char *key)
{
	for (size_t i = 0; key != NULL && i < ARRAY_SIZE(facts); i++) {
		if (strcmp(facts[i].key, key) == 0)
			return &facts[i];
	}
	return NULL;
}

/* Is the last but one name of the path WHERE, or the one before an index, PARENT? */
static bool is_in(const char *where, const char *parent)
{
	size_t length = strlen(parent);
	const char *end = strrchr(where, '.');

	if (end == NULL || (size_t)(end - where) < length ||
	    strncmp(end - length, parent, length) != 0)
		return false;
	return end - length == where || end[-(ptrdiff_t)length - 1] == '.' ||
	       end[-(ptrdiff_t)length - 1] == ']';
}

/* `0.3`: number of a track, of process 0 (firefox_threads.c). */
static bool is_track(const char *key, const char *text)
{
	if (strcmp(key, "pid") != 0 && strcmp(key, "tid") != 0)
		return false;
	return strncmp(text, "0.", 2) == 0 && strspn(text + 2, "0123456789") == strlen(text + 2);
}

static bool is_none(const struct fact *fact, const char *text)
{
	if (text[0] == '\0' || strspn(text, "0.") == strlen(text) || is_track(fact->key, text))
		return true;
	for (size_t i = 0; fact->none[i] != NULL; i++) {
		if (strcmp(fact->none[i], text) == 0)
			return true;
	}
	return false;
}

static void check_fact(struct audit *audit, const char *where, const char *key, const char *label,
		       const char *text)
{
	const struct fact *fact = find_fact(key);

	if (fact == NULL && key != NULL && strcmp(key, "value") == 0)
		fact = find_fact(label);
	/* "startTime" is also a column of markers, which are checked as a whole. */
	if (fact == NULL || is_none(fact, text) || is_in(where, "states") ||
	    strstr(where, "markers.") != NULL || strstr(where, "threadCPUDelta") != NULL)
		return;
	audit_found(audit, where, "a fact of the process: \"%.200s\"", text);
}

void audit_json_key(struct audit *audit, const char *where, const char *key)
{
	if (is_in(where, "counters")) {
		for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
			if (strcmp(counters[i], key) == 0)
				return;
		}
		audit_found(audit, where, "a counter of the whole process");
	} else if (is_in(where, "labels")) {
		if (!selection_keeps(audit->selection, key))
			audit_found(audit, where, "a label that was not to be kept");
	} else if (audit->texts != NULL) {
		audit_text(audit, where, key);
	}
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), size = strlen(suffix);

	return length >= size && strcmp(text + length - size, suffix) == 0;
}

void audit_json_text(struct audit *audit, const char *where, const char *key, const char *label,
		     const char *text)
{
	const struct selection *selection = audit->selection;

	check_fact(audit, where, key, label, text);
	/* Where the reader put the file is the reader's own. */
	if (key != NULL && strcmp(key, "path") == 0 && strchr(text, '/') != NULL)
		audit_found(audit, where, "a path: \"%.200s\"", text);
	if (is_in(where, "labels") && selection->by == SELECTION_LABEL &&
	    strcmp(key, selection->key) == 0 && strcmp(text, selection->value) != 0)
		audit_found(audit, where, "another's label: \"%.200s\"", text);
	if (key != NULL && strcmp(key, "module") == 0 && has_suffix(where, ".module") &&
	    strstr(where, "groups") != NULL && !audit_is_module(audit, text))
		audit_found(audit, where, "another module: \"%.200s\"", text);
	audit_text(audit, where, text);
}

/* Nanoseconds in TEXT, which is in units of SCALE; false: there is a finer part, or too much. */
static bool to_ns(const char *text, uint64_t scale, uint64_t *ns)
{
	char *end;

	errno = 0;
	*ns = strtoull(text, &end, 10);
	if (errno != 0 || *ns > UINT64_MAX / scale)
		return false;
	*ns *= scale;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0");
	return *end == '\0';
}

void audit_json_number(struct audit *audit, const char *where, const char *key, const char *label,
		       const char *text)
{
	uint64_t ns, number;
	char *end;

	check_fact(audit, where, key, label, text);
	if (key != NULL && strcmp(key, "length") == 0 && is_in(where, "markers") &&
	    strcmp(text, "0") != 0)
		audit_found(audit, where, "marks of single calls or lives: %.40s", text);
	if (key != NULL && strcmp(key, "duration_ns") == 0 &&
	    (!to_ns(text, 1, &ns) || ns % SHARED_TICK_NS != 0))
		audit_found(audit, where, "a time that is not rounded: %.40s", text);
	if (key != NULL && strcmp(key, "processShutdownTime") == 0 &&
	    (!to_ns(text, 1000 * 1000, &ns) || ns % SHARED_TICK_NS != 0))
		audit_found(audit, where, "a time that is not rounded: %.40s", text);
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno == 0 && *end == '\0' && text[0] != '-')
		audit_number(audit, where, number);
}
