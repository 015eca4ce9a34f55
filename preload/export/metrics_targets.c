/* SPDX-License-Identifier: MIT */
/* metrics_targets.c - Prometheus' http_sd: what can be scraped here. Threads: one at a time. */
#include "preload/export/json.h"
#include "preload/export/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void begin_target(struct json *json, const char *address,
			 const struct census_process *process, const char *kind)
{
	json_begin_object(json, NULL);
	json_begin_array(json, "targets");
	json_text(json, NULL, address);
	json_end_array(json);
	json_begin_object(json, "labels");
	/* __meta_ labels are there for relabelling, and gone after. */
	json_text(json, "__meta_guestprof_target", kind);
	json_text(json, "service_name", process->program[0] != '\0' ? process->program : "unknown");
	json_text(json, "process", process->key);
	json_text(json, "__param_process", process->key);
}

static void end_target(struct json *json)
{
	json_end_object(json);
	json_end_object(json);
}

static void put_group(struct json *json, const char *address, const struct census_process *process,
		      const struct census_group *group)
{
	char name[METRICS_KEY_SIZE];

	begin_target(json, address, process, "group");
	json_text(json, "wasm_module", group->module);
	json_text(json, "__param_group", group->module);
	for (size_t i = 0; i < group->label_count; i++) {
		metrics_key(name, group->labels[i].key);
		if (!metrics_is_taken(group->labels, i, name))
			json_text(json, name, group->labels[i].value);
	}
	end_target(json);
}

static int compare_listed(const void *a, const void *b)
{
	const struct census_part *left = a, *right = b;

	if (left->listed_ns != right->listed_ns)
		return left->listed_ns > right->listed_ns ? -1 : 1;
	return left->group < right->group ? -1 : left->group > right->group;
}

/* Groups as they were listed last; what has no name cannot be asked for. */
static int put_groups(struct json *json, const struct census *census, const char *address,
		      const struct census_process *process, uint64_t now_ns)
{
	struct census_part *parts = calloc(process->part_count + 1, sizeof(*parts));
	size_t count = 0, told = 0;

	if (parts == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < process->part_count; i++) {
		if (census_is_there(process->parts[i].listed_ns, now_ns))
			parts[count++] = process->parts[i];
	}
	qsort(parts, count, sizeof(*parts), compare_listed);
	for (size_t i = 0; i < count && told < CENSUS_TARGETS_MAX; i++) {
		const struct census_group *group = &census->groups[parts[i].group];

		if (group->module[0] == '\0')
			continue;
		put_group(json, address, process, group);
		told++;
	}
	free(parts);
	return 0;
}

int metrics_write_targets(const struct census *census, const char *address, uint64_t now_ns,
			  struct output *output)
{
	struct json json = { .output = output };
	int error = 0;

	json_begin_array(&json, NULL);
	for (size_t i = 0; error == 0 && i < census->process_count; i++) {
		const struct census_process *process = &census->processes[i];

		if (!census_is_there(process->last_ns, now_ns))
			continue;
		begin_target(&json, address, process, "process");
		end_target(&json);
		error = put_groups(&json, census, address, process, now_ns);
	}
	json_end_array(&json);
	return json.failed ? -ENOMEM : error;
}
