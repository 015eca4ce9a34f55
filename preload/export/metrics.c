/* SPDX-License-Identifier: MIT */
/* metrics.c - Prometheus' text format. Threads: one at a time. */
#include "preload/export/metrics.h"

#include "preload/read/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void metrics_key(char out[METRICS_KEY_SIZE], const char *key)
{
	static const char prefix[] = "label_";
	size_t at = sizeof(prefix) - 1;

	memcpy(out, prefix, at);
	for (; *key != '\0' && at < METRICS_KEY_SIZE - 1; key++) {
		bool fits = (*key >= 'a' && *key <= 'z') || (*key >= 'A' && *key <= 'Z') ||
			    (*key >= '0' && *key <= '9');

		out[at++] = fits ? *key : '_';
	}
	out[at] = '\0';
}

/* Escaped for people first, as everywhere: then only these two are left that the format escapes. */
static int put_value(struct output *output, const char *value)
{
	char *text = escape_new(value, ESCAPE_VISIBLE);

	if (text == NULL)
		return -ENOMEM;
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '\\' || *at == '"')
			output_text(output, "\\");
		output_bytes(output, at, 1);
	}
	free(text);
	return 0;
}

static int put_label(struct output *output, const char *key, const char *value)
{
	int error;

	output_text(output, key);
	output_text(output, "=\"");
	error = put_value(output, value);
	output_text(output, "\"");
	return error;
}

bool metrics_is_taken(const struct recording_label *labels, size_t count, const char *name)
{
	char other[METRICS_KEY_SIZE];

	for (size_t i = 0; i < count; i++) {
		metrics_key(other, labels[i].key);
		if (strcmp(other, name) == 0)
			return true;
	}
	return false;
}

static int put_group_labels(struct output *output, const struct census_group *group,
			    const char *state)
{
	char name[METRICS_KEY_SIZE];
	int error;

	output_text(output, "{");
	error = put_label(output, "wasm_module",
			  group->module[0] != '\0' ? group->module : "(unnamed)");
	for (size_t i = 0; error == 0 && i < group->label_count; i++) {
		metrics_key(name, group->labels[i].key);
		if (metrics_is_taken(group->labels, i, name))
			continue;
		output_text(output, ",");
		error = put_label(output, name, group->labels[i].value);
	}
	if (state != NULL && error == 0) {
		output_text(output, ",");
		error = put_label(output, "state", state);
	}
	output_text(output, "}");
	return error;
}

/* ---- values ---------------------------------------------------------------------------------- */

enum unit { UNIT_NUMBER, UNIT_SECONDS };

static void put_number(struct output *output, uint64_t value, enum unit unit)
{
	if (unit == UNIT_SECONDS)
		output_format(output, " %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000,
			      value % 1000000000);
	else
		output_format(output, " %" PRIu64 "\n", value);
}

static void put_head(struct output *output, const char *name, const char *type, const char *help)
{
	output_format(output, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static uint64_t cpu_of(const struct feed_counters *counters)
{
	return counters->cpu_ns;
}

static uint64_t wall_of(const struct feed_counters *counters)
{
	return counters->wall_ns;
}

static uint64_t instances_of(const struct feed_counters *counters)
{
	return counters->instances_created;
}

/* Counters of a group. VALUE: NULL where each state has a line. */
static const struct family {
	const char *name, *help;
	uint64_t (*value)(const struct feed_counters *counters);
	enum unit unit;
} families[] = {
	{ "guestprof_cpu_seconds_total", "CPU time of a group's guests, as sampled.", cpu_of,
	  UNIT_SECONDS },
	{ "guestprof_wait_seconds_total", "Time that a group's guests waited.", wall_of,
	  UNIT_SECONDS },
	{ "guestprof_instances_created_total", "Instances of a group that were made.", instances_of,
	  UNIT_NUMBER },
	{ "guestprof_samples_total", "Samples of a group, by what the thread did.", NULL,
	  UNIT_NUMBER },
};

static int put_row(struct output *output, const struct family *family,
		   const struct census_group *group)
{
	int error = 0;

	if (family->value != NULL) {
		output_text(output, family->name);
		error = put_group_labels(output, group, NULL);
		put_number(output, family->value(&group->counters), family->unit);
		return error;
	}
	for (size_t i = 0; error == 0 && i < STATE_COUNT; i++) {
		output_text(output, family->name);
		error = put_group_labels(output, group, chunk_state_name((enum wasm_state)i));
		put_number(output, group->counters.samples_by_state[i], family->unit);
	}
	return error;
}

static int put_family(struct output *output, const struct census *census,
		      const struct family *family)
{
	const struct census_group other = { .module = "(other)", .counters = census->other };
	int error = 0;

	put_head(output, family->name, "counter", family->help);
	for (size_t i = 0; error == 0 && i < census->group_count; i++) {
		if (census->groups[i].is_shown)
			error = put_row(output, family, &census->groups[i]);
	}
	return error == 0 ? put_row(output, family, &other) : error;
}

/* ---- processes and server -------------------------------------------------------------------- */

static int put_lost(struct output *output, const struct census *census)
{
	static const char prefix[] = "lost_";
	int error = 0;

	put_head(output, "guestprof_lost_samples_total", "counter",
		 "Samples that could not be kept, by reason.");
	for (size_t i = 0; error == 0 && i < census->stat_count; i++) {
		const struct census_stat *stat = &census->stats[i];

		if (strncmp(stat->name, prefix, strlen(prefix)) != 0)
			continue;
		output_text(output, "guestprof_lost_samples_total{");
		error = put_label(output, "reason", stat->name + strlen(prefix));
		output_text(output, "}");
		put_number(output, stat->value, UNIT_NUMBER);
	}
	return error;
}

static void put_gauge(struct output *output, const char *name, const char *type, const char *help,
		      uint64_t value)
{
	put_head(output, name, type, help);
	output_text(output, name);
	put_number(output, value, UNIT_NUMBER);
}

int metrics_write(const struct census *census, const struct metrics_server *server, uint64_t now_ns,
		  struct output *output)
{
	uint64_t processes = 0;
	int error = 0;

	for (size_t i = 0; i < census->process_count; i++)
		processes += census_is_there(census->processes[i].last_ns, now_ns);
	for (size_t i = 0; error == 0 && i < ARRAY_SIZE(families); i++)
		error = put_family(output, census, &families[i]);
	if (error == 0)
		error = put_lost(output, census);
	put_gauge(output, "guestprof_processes", "gauge",
		  "Processes that were seen in the last 15 minutes.", processes);
	put_gauge(output, "guestprof_serve_waiting", "gauge", "Requests that wait for a profile.",
		  server->waiting);
	put_gauge(output, "guestprof_serve_profiles_total", "counter", "Profiles that were sent.",
		  server->answered);
	put_gauge(output, "guestprof_serve_refused_total", "counter",
		  "Requests for a profile that were refused: too many at once.", server->refused);
	put_gauge(output, "guestprof_serve_dropped_samples_total", "counter",
		  "Rows of samples that there was no room for.", server->dropped);
	return error;
}
